/** All connected MCP servers of a configuration: one catalog, one place to send calls to. */
import { create } from '@bufbuild/protobuf';
import { type Catalog, CatalogSchema } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import type { Outcome, Source } from '../words.ts';
import { failed } from './call-error.ts';
import type { ServerConfig } from './config.ts';
import { AppConnection, type ConnectionOptions } from './connection.ts';

/** A server that could not be read, and why. */
export interface UnavailableApp {
  readonly name: string;
  readonly error: Error;
}

export interface AppCatalog {
  readonly catalog: Catalog;
  /** Servers that are missing from the catalog. */
  readonly unavailable: readonly UnavailableApp[];
}

/** An app call with its key, as an app gets it. */
export interface SourceCall {
  readonly callId: string;
  readonly source: Source;
  readonly argumentsJson: string;
}

export class Apps {
  readonly #connections: ReadonlyMap<string, AppConnection>;

  /** Names by connection. */
  readonly #readOnlyTools = new Map<string, ReadonlySet<string>>();

  constructor(servers: readonly ServerConfig[], options: ConnectionOptions = {}) {
    this.#connections = new Map(servers.map((server) => [server.name, new AppConnection(server, options)]));
  }

  /** Whether a capability says of itself that it changes nothing, in the catalog that was read last. */
  isReadOnly({ connectionId, kind, name }: Source): boolean {
    return kind !== 'tool' || (this.#readOnlyTools.get(connectionId)?.has(name) ?? false);
  }

  /** What there is now. Connects where needed, all at once; a server that fails loses none of the others. */
  async catalog(): Promise<AppCatalog> {
    const all = [...this.#connections.values()];
    const results = await Promise.allSettled(all.map((connection) => connection.catalog()));
    const unavailable = all.flatMap(({ name }, index) => {
      const result = results[index];
      return result?.status === 'rejected' ? [{ name, error: result.reason as Error }] : [];
    });
    const connections = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    for (const { id, tools } of connections) {
      const readOnly = tools.filter((tool) => tool.hints?.readOnly === true);
      this.#readOnlyTools.set(id, new Set(readOnly.map((tool) => tool.name)));
    }
    return { catalog: create(CatalogSchema, { connections }), unavailable };
  }

  /** Performs one call. Never throws. */
  async perform({ callId, source, argumentsJson }: SourceCall): Promise<Outcome> {
    const connection = this.#connections.get(source.connectionId);
    if (connection === undefined) {
      return failed('NotFound', `the connection "${source.connectionName}" is not there any more`);
    }
    return connection.perform({ kind: source.kind, name: source.name, argumentsJson, operationId: callId });
  }

  /** Ends every session and process. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }
}
