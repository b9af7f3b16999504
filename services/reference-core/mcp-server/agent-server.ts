/**
 * An MCP server with the two agent tools, so that any MCP client gets Code Mode over all its apps.
 *
 * S1  The tools are those that CodeRunService defines, none while Code Mode is off or there is no app.
 * S2  A run that waits for decisions asks the person by elicitation where the client can; the run holds nothing
 *     meanwhile. Elsewhere, or when the person does not decide, the agent is told that it waits and where to
 *     decide.
 * S3  A request for decisions is answered only for a run that this server left waiting.
 */
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CodeRunStatus } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type { RunWaiting } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { appLimits } from '../../shared/limits.ts';
import type { CodeRunClient, RunObserver } from '../client/attempt.ts';
import type { ReferenceCore, RunEnd } from '../client/core.ts';
import type { Apps } from '../mcp/apps.ts';
import { decisionForm, verdictsOf } from './decision-form.ts';

export interface AgentServerParts {
  readonly client: CodeRunClient;
  /** Its decider asks nobody: waiting runs come back here. */
  readonly core: ReferenceCore;
  readonly apps: Pick<Apps, 'catalog'>;
  /** Subject that runs belong to. */
  readonly owner: string;
  /** Where a person decides when the client cannot ask: a sentence. */
  readonly decideElsewhere: string;
}

const runArguments = z.object({ code: z.string(), reason: z.string().default('') });
const apiArguments = z.object({
  query: z.string().default(''),
  connection: z.string().default(''),
  binding: z.string().default(''),
});

const decisions = 'decisions';

export class AgentServer {
  readonly #parts: AgentServerParts;
  readonly #session = randomUUID();
  /** Runs that wait for decisions, by id. */
  readonly #waiting = new Map<string, RunWaiting>();

  constructor(parts: AgentServerParts) {
    this.#parts = parts;
  }

  /** A server for one client connection. */
  create(): Server {
    const server = new Server(
      { name: 'openbot-code-mode', version: '0.1.0' },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: await this.#tools() }));
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const input = params.arguments ?? {};
      switch (params.name) {
        case 'openbot_code_api':
          return withArguments(apiArguments, input, (query) => this.#describe(query));
        case 'openbot_run_code':
          return withArguments(runArguments, input, (program) => this.#run(program, server, context));
        default:
          return textResult(`There is no tool "${params.name}".`, true);
      }
    });
    return server;
  }

  async #catalog() {
    const { catalog } = await this.#parts.apps.catalog();
    return { ref: { case: 'catalog' as const, value: catalog } };
  }

  async #tools(): Promise<Tool[]> {
    const { tools } = await this.#parts.client.getAgentTools({ catalog: await this.#catalog() });
    return tools.map(({ name, description, inputSchemaJson }) => ({
      name,
      description,
      inputSchema: JSON.parse(inputSchemaJson),
    }));
  }

  async #describe(query: z.infer<typeof apiArguments>): Promise<CallToolResult> {
    const catalog = await this.#catalog();
    const { text } = await this.#parts.client.describeBindings({ catalog, ...query });
    return textResult(text, false);
  }

  async #run(
    { code, reason }: z.infer<typeof runArguments>,
    server: Server,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { signal, inputResponses } = context.mcpReq;
    const state = context.mcpReq.requestState<string>();
    const waiting = state === undefined ? undefined : this.#waiting.get(state);
    if (state !== undefined && waiting === undefined) return textResult('This run waits for nothing.', true);
    return this.#untilEnd(signal, async (observer) => {
      if (waiting === undefined) {
        const id = randomUUID();
        const { owner } = this.#parts;
        const request = { session: this.#session, turn: id, callId: id, owner, code, reason };
        const end = await this.#parts.core.run(request, observer, signal);
        return this.#answer(end, canAsk(server, context));
      }
      this.#waiting.delete(waiting.runId);
      const calls = this.#parts.core.callsOf(waiting);
      const verdicts = verdictsOf(inputResponses?.[decisions], calls);
      if (verdicts === undefined) return this.#waitsElsewhere(waiting);
      this.#parts.core.settle(calls, verdicts);
      const end = await this.#parts.core.resume(waiting.runId, observer, signal);
      return this.#answer(end, canAsk(server, context));
    });
  }

  /** Cancels the run when the client gives its request up. */
  async #untilEnd<T>(signal: AbortSignal, drive: (observer: RunObserver) => Promise<T>): Promise<T> {
    let runId = '';
    try {
      return await drive({
        accepted: (accepted) => {
          runId = accepted.runId;
        },
      });
    } catch (error) {
      if (signal.aborted && runId !== '') await this.#parts.client.cancelCodeRun({ runId }).catch(() => {});
      throw error;
    }
  }

  #answer(end: RunEnd, canElicit: boolean): CallToolResult | InputRequiredResult {
    if (end.tag === 'Finished') {
      return textResult(end.agentText, end.run.status !== CodeRunStatus.COMPLETED);
    }
    const { waiting } = end;
    if (!canElicit) return this.#waitsElsewhere(waiting);
    this.#waiting.set(waiting.runId, waiting);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > appLimits.formsMax && oldest !== undefined) this.#waiting.delete(oldest);
    const form = decisionForm(this.#parts.core.callsOf(waiting));
    return inputRequired({
      inputRequests: { [decisions]: inputRequired.elicit(form) },
      requestState: waiting.runId,
    });
  }

  #waitsElsewhere({ runId, agentText }: RunWaiting): CallToolResult {
    return textResult(`${agentText}\n\nRun ${runId}. ${this.#parts.decideElsewhere}`, false);
  }
}

/** Whether the client can put a form to a person; newer clients say so with each request. */
function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, ClientCapabilities>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return declared?.elicitation !== undefined;
}

/** An agent that gave wrong arguments reads what is wrong with them. */
function withArguments<T>(
  schema: z.ZodType<T>,
  input: unknown,
  use: (input: T) => Promise<CallToolResult | InputRequiredResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return use(parsed.data);
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return Promise.resolve(textResult(`The arguments are wrong. ${problems.join('; ')}`, true));
}

function textResult(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) };
}
