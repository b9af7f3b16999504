/** `code-mode mcp`: an MCP server over standard streams, until the client goes. */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { limits } from '../../shared/limits.ts';
import { ReferenceCore } from '../client/core.ts';
import { Apps } from '../mcp/apps.ts';
import type { ServerConfig } from '../mcp/config.ts';
import { AgentServer } from '../mcp-server/agent-server.ts';
import { type Policy, PolicyDecider } from '../operations/policy.ts';
import { OperationRecord } from '../operations/record.ts';
import type { Service } from './service.ts';
import type { Terminal } from './terminal.ts';

export interface ServeOptions {
  readonly servers: readonly ServerConfig[];
  readonly policy: Policy;
  /** Subject that runs belong to. */
  readonly owner: string;
  /** File of the operation record, or ":memory:". */
  readonly record: string;
  /** The service elsewhere, if there is one: there the command line can decide as well. */
  readonly server: string | undefined;
}

export async function serveAgents(
  service: Service,
  options: ServeOptions,
  streams: { readonly input: Readable; readonly out: Writable },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const apps = new Apps(options.servers);
  using record = new OperationRecord(options.record);
  // Waiting runs are put to the person by elicitation, not in the middle of a run.
  const decider = new PolicyDecider(
    options.policy,
    (source) => apps.isReadOnly(source),
    async () => undefined,
  );
  const { client } = service;
  const core = new ReferenceCore({ client, apps, record, decider });
  const agents = new AgentServer({
    client,
    core,
    apps,
    owner: options.owner,
    decideElsewhere: elsewhere(options.server),
  });
  const transport = new StdioServerTransport(streams.input, streams.out, {
    maxBufferSize: limits.grpcMessageBytesMax,
  });
  const gone = once(streams.input, 'close', { signal }).catch(() => {});
  const serving = serveStdio(() => agents.create(), {
    transport,
    onerror: (error) => terminal.note(`code-mode mcp: ${error.message}`),
  });
  try {
    // The first client should not wait for slow servers; one that is missing is said and tried again later.
    const { unavailable } = await apps.catalog();
    for (const { error } of unavailable) terminal.note(`code-mode mcp: ${error.message}`);
    await gone;
  } finally {
    await serving.close();
    await apps.close();
  }
  signal.throwIfAborted();
}

function elsewhere(server: string | undefined): string {
  return server === undefined
    ? 'No decision was made, and the calls were not made. Run the program again to ask again.'
    : `No decision was made yet. A person can decide with: code-mode runs resume <run> --config <file> --server ${server}`;
}
