/**
 * Catalogs by digest: checked and prepared once, then named by later requests.
 *
 * C1  The digest is over the catalog's encoding, so the same catalog has the same digest on every instance.
 * C2  What is kept is bounded in bytes; the least recently used goes first. A caller that names one that is
 *     gone gets NOT_FOUND and puts it again.
 */
import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { type Catalog, CatalogSchema } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { CatalogRef } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { AppError, invalidField } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import { type CompiledCatalog, compileCatalog } from '../bindings/compile.ts';
import { Fields } from './validate.ts';

export interface KeptCatalog {
  /** SHA-256 of the encoding, lower-case hexadecimal. */
  readonly digest: string;
  /** Length of the encoding. */
  readonly bytes: number;
  readonly compiled: CompiledCatalog;
}

export class Catalogs {
  readonly #bytesMax: number;
  /** In order of last use, the least recent first. */
  readonly #entries = new Map<string, KeptCatalog>();
  #bytes = 0;

  constructor(bytesMax: number = limits.catalogsKeptBytesMax) {
    this.#bytesMax = bytesMax;
  }

  put(catalog: Catalog, field: string): KeptCatalog {
    const encoded = toBinary(CatalogSchema, catalog);
    const digest = createHash('sha256').update(encoded).digest('hex');
    const known = this.#use(digest);
    if (known !== undefined) return known;
    checkCatalog(catalog, encoded.length, field);
    const kept = { digest, bytes: encoded.length, compiled: compileCatalog(catalog) };
    checkNames(kept.compiled, field);
    this.#keep(kept);
    return kept;
  }

  /** `field` is the path of the reference in the request: "start.catalog". */
  resolve(reference: CatalogRef | undefined, field: string): CompiledCatalog {
    const ref = reference?.ref;
    if (ref?.case === 'catalog') return this.put(ref.value, `${field}.catalog`).compiled;
    if (ref?.case !== 'digest') throw invalidField(field, 'must be set: a catalog, or the digest of one');
    const known = this.#use(ref.value);
    if (known === undefined) {
      throw new AppError('NOT_FOUND', `${field}.digest: no catalog has this digest: put the catalog again`);
    }
    return known.compiled;
  }

  #use(digest: string): KeptCatalog | undefined {
    const known = this.#entries.get(digest);
    if (known === undefined) return undefined;
    this.#entries.delete(digest);
    this.#entries.set(digest, known);
    return known;
  }

  #keep(kept: KeptCatalog): void {
    this.#entries.set(kept.digest, kept);
    this.#bytes += kept.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === kept.digest) return;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

/** A job holds every name that a program may call. */
function checkNames({ bindings }: CompiledCatalog, field: string): void {
  let bytes = 0;
  for (const { connection, capability, source, rawName } of bindings) {
    const names = [connection, capability, source.connectionName, rawName];
    bytes += Buffer.byteLength(JSON.stringify(names)) + 1;
  }
  if (bytes <= limits.catalogNamesBytesMax) return;
  throw invalidField(
    field,
    `the names in it must take at most ${limits.catalogNamesBytesMax} bytes, take ${bytes}`,
  );
}

function checkCatalog(catalog: Catalog, bytes: number, field: string): void {
  const fields = new Fields();
  if (bytes > limits.catalogBytesMax) {
    fields.wrong(field, `must take at most ${limits.catalogBytesMax} bytes, takes ${bytes}`);
  }
  fields.count(`${field}.connections`, catalog.connections.length, limits.connectionsMax);
  fields.done();
  const ids = new Set<string>();
  let bindings = 0;
  for (const [index, connection] of catalog.connections.entries()) {
    const path = `${field}.connections[${index}]`;
    fields.id(`${path}.id`, connection.id);
    fields.text(`${path}.name`, connection.name, 0, limits.idBytesMax);
    if (ids.has(connection.id)) fields.wrong(`${path}.id`, 'must be unique among the connections');
    ids.add(connection.id);
    const { tools, resources, resourceTemplates, prompts } = connection;
    bindings += tools.length + resources.length + resourceTemplates.length + prompts.length;
    const named = (kind: string, names: readonly string[], part: string) => {
      for (const [at, name] of names.entries()) {
        // An app may leave it empty: that is no reason to refuse the others. It is called `_` then.
        fields.text(`${path}.${kind}[${at}].${part}`, name, 0, limits.capabilityNameBytesMax);
      }
    };
    named(
      'tools',
      tools.map((tool) => tool.name),
      'name',
    );
    named(
      'resources',
      resources.map((resource) => resource.uri),
      'uri',
    );
    named(
      'resources',
      resources.map((resource) => resource.name),
      'name',
    );
    named(
      'resource_templates',
      resourceTemplates.map((template) => template.uriTemplate),
      'uri_template',
    );
    named(
      'resource_templates',
      resourceTemplates.map((template) => template.name),
      'name',
    );
    named(
      'prompts',
      prompts.map((prompt) => prompt.name),
      'name',
    );
  }
  fields.count(field, bindings, limits.bindingsMax);
  fields.done();
}
