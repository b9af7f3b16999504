/**
 * A catalog made ready: its table at once, what costs more when it is first asked for. Holds no secret and
 * never changes, so it may be shared by runs.
 */
import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { type Catalog, CatalogSchema } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Binding } from '../core/model.ts';
import { type ConnectionFile, connectionFiles } from './files.ts';
import { BindingTable, type BoundCapability, bindCapabilities } from './table.ts';
import { worldDeclarations } from './world.ts';

export class CompiledCatalog {
  /** SHA-256 of the catalog as sent, lower-case hexadecimal. */
  readonly digest: string;
  /** What the catalog takes as sent, in bytes. */
  readonly bytes: number;
  readonly bindings: readonly Binding[];
  readonly table: BindingTable;
  #files: readonly ConnectionFile[] | undefined;

  constructor(catalog: Catalog) {
    const sent = toBinary(CatalogSchema, catalog);
    this.digest = createHash('sha256').update(sent).digest('hex');
    this.bytes = sent.byteLength;
    this.table = new BindingTable(bindCapabilities(catalog));
    this.bindings = this.table.all.map((bound: BoundCapability) => bound.binding);
  }

  /** One declaration file for each connection. */
  get files(): readonly ConnectionFile[] {
    this.#files ??= connectionFiles(this.table.all);
    return this.#files;
  }

  /** Everything a program may use, as one text: what a program is checked against. */
  get declarations(): string {
    return [worldDeclarations, ...this.files.map((file) => file.text)].join('\n');
  }
}

export function compileCatalog(catalog: Catalog): CompiledCatalog {
  return new CompiledCatalog(catalog);
}
