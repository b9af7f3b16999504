/**
 * An open session with an MCP server: the client, its transport and what the server offers.
 *
 * Roots are never declared: a server may replace its directories by them. Elicitation is declared only when
 * there is somebody to answer; some servers offer some of their tools only then.
 */
import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Connection } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { boundedFetch } from './bounded-fetch.ts';
import type { ServerConfig } from './config.ts';
import { connectProblem } from './connect-problem.ts';
import { listConnection } from './list.ts';
import { StdioTransport } from './stdio-transport.ts';

/** Answers what a server asks in the middle of a call. */
export interface ClientAnswers {
  /** Answers elicitation/create of the form kind. */
  readonly elicit?: (request: ElicitQuestion, signal: AbortSignal) => Promise<ElicitAnswer>;
}

export interface ElicitQuestion {
  readonly server: string;
  readonly message: string;
  /** JSON Schema of the content: an object of plain fields. */
  readonly requestedSchema: unknown;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]>;
}

export interface OpenOptions {
  readonly answers: ClientAnswers;
  /** From starting or dialling the server to the end of its handshake. */
  readonly timeoutMs: number;
}

export class Session {
  readonly client: Client;
  readonly #name: string;
  readonly #transport: Transport;
  #catalog: Promise<Connection> | undefined;

  private constructor(name: string, client: Client, transport: Transport) {
    this.#name = name;
    this.client = client;
    this.#transport = transport;
  }

  /** Connects. `onEnd` is called once, when the session is over or never came to be. */
  static async open(
    server: ServerConfig,
    { answers, timeoutMs }: OpenOptions,
    signal: AbortSignal,
    onEnd: () => void,
  ): Promise<Session> {
    const transport = openTransport(server);
    const client = new Client(
      { name: 'openbot-code-mode', version: '0.1.0' },
      {
        capabilities: capabilitiesOf(answers),
        inputRequired: { autoFulfill: false },
        // A server over HTTP may speak only the newer protocol. Over standard streams the handshake stays
        // the old one, which new servers speak too: some old ones fall silent at anything else.
        versionNegotiation: { mode: server.transport === 'http' ? 'auto' : 'legacy' },
      },
    );
    const session = new Session(server.name, client, transport);
    session.#watch();
    session.#answer(answers);
    client.onclose = onEnd;
    try {
      await client.connect(transport, { timeout: timeoutMs, signal });
    } catch (cause) {
      await transport.close();
      onEnd();
      signal.throwIfAborted();
      const { stderrTail = '', strayLines = 0 } = transport instanceof StdioTransport ? transport : {};
      throw new Error(connectProblem(server, cause, { timeoutMs, stderr: stderrTail, strayLines }), {
        cause,
      });
    }
    return session;
  }

  /** What the server offers; read again after it said that something changed. */
  catalog(signal: AbortSignal): Promise<Connection> {
    if (this.#catalog === undefined) {
      const reading = listConnection(this.client, this.#name, signal);
      reading.catch(() => {
        if (this.#catalog === reading) this.#catalog = undefined;
      });
      this.#catalog = reading;
    }
    return this.#catalog;
  }

  /** Ends the session, and the process if it has one. Idempotent; never throws. */
  async end(): Promise<void> {
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      // Tells the server to forget the session. It may be gone, or know of no sessions.
      await this.#transport.terminateSession().catch(() => {});
    }
    await this.#transport.close();
  }

  #watch(): void {
    const forget = () => {
      this.#catalog = undefined;
    };
    this.client.setNotificationHandler('notifications/tools/list_changed', forget);
    this.client.setNotificationHandler('notifications/resources/list_changed', forget);
    this.client.setNotificationHandler('notifications/prompts/list_changed', forget);
  }

  #answer({ elicit }: ClientAnswers): void {
    if (elicit === undefined) return;
    this.client.setRequestHandler('elicitation/create', async ({ params }, context) => {
      if (params.mode === 'url') return { action: 'decline' };
      const { message, requestedSchema } = params;
      return { ...(await elicit({ server: this.#name, message, requestedSchema }, context.mcpReq.signal)) };
    });
  }
}

function capabilitiesOf(answers: ClientAnswers): ClientCapabilities {
  return answers.elicit === undefined ? {} : { elicitation: { form: {} } };
}

function openTransport(server: ServerConfig): Transport {
  if (server.transport === 'stdio') return new StdioTransport(server);
  return new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: boundedFetch,
  });
}
