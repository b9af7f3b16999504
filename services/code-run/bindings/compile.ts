/**
 * A catalog made ready: its table at once, what costs more when it is first asked for. It never changes, so runs
 * share it; who keeps it bounds how many are kept.
 */
import type { Catalog } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Binding } from '../core/model.ts';
import { type ConnectionFile, connectionFiles } from './files.ts';
import { SearchIndex } from './search.ts';
import { BindingTable, bindCapabilities } from './table.ts';
import { worldDeclarations } from './world.ts';

export class CompiledCatalog {
  readonly table: BindingTable;
  readonly bindings: readonly Binding[];
  #files: readonly ConnectionFile[] | undefined;
  #index: SearchIndex | undefined;

  constructor(catalog: Catalog) {
    this.table = new BindingTable(bindCapabilities(catalog));
    this.bindings = this.table.all.map((bound) => bound.binding);
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

  get index(): SearchIndex {
    this.#index ??= new SearchIndex(this.table.all);
    return this.#index;
  }
}

export function compileCatalog(catalog: Catalog): CompiledCatalog {
  return new CompiledCatalog(catalog);
}
