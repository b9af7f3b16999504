/** A real SandboxService on a Unix socket, and programs run through it by its own protocol. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import {
  type DeliverOutcomeSchema,
  type End,
  EndReason,
  type ExecuteRequestSchema,
  type ExecuteResponse,
  type IssuedCall,
  type JobSchema,
  SandboxService,
  type Step,
} from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import {
  type BidiCall,
  type Channel,
  createClient,
  openChannel,
  type ServiceClient,
} from '../../services/shared/grpc/client.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';
import { silentLog } from '../../services/shared/log.ts';

export type Outcome = NonNullable<MessageInitShape<typeof DeliverOutcomeSchema>['outcome']>;
export type Answer = (call: IssuedCall) => Outcome | Promise<Outcome> | undefined;
export type JobInit = MessageInitShape<typeof JobSchema>;
export type Client = ServiceClient<typeof SandboxService>;
type Call = BidiCall<MessageInitShape<typeof ExecuteRequestSchema>, ExecuteResponse>;

export interface TestSandbox {
  readonly client: Client;
  /** What the health service says of SandboxService. */
  serving(): Promise<boolean>;
  run(program: string, options?: RunOptions): Promise<Ran>;
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  readonly outputBytes?: number;
  readonly bindings?: readonly string[];
  readonly answer?: Answer;
  readonly onStep?: (step: Step) => void;
  readonly signal?: AbortSignal;
}

export interface Ran {
  readonly end: End;
  readonly reason: string;
  /** The returned value, parsed. */
  readonly value: unknown;
  readonly steps: readonly Step[];
  readonly calls: readonly IssuedCall[];
  readonly logs: readonly string[];
}

export async function startTestSandbox(env: Record<string, string> = {}): Promise<TestSandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const config = readSandboxConfig({
    environment: { SANDBOX_LISTEN: `unix:${folder}/s`, SANDBOX_DRAIN_MS: '0', ...env },
  });
  const sandbox = await startSandbox(config, silentLog);
  const channel = openChannel(sandbox.address, credentials.createInsecure());
  const client = createClient(SandboxService, channel);
  return {
    client,
    serving: () => isServing(channel, SandboxService.typeName),
    run: (program, options = {}) => run(client, program, options),
    async stop() {
      channel.close();
      await sandbox.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** What the health service says of a service. */
export function isServing(channel: Channel, service: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  channel.makeUnaryRequest(
    '/grpc.health.v1.Health/Check',
    (name: string) => Buffer.from([0x0a, name.length, ...Buffer.from(name)]),
    (bytes: Buffer) => bytes.equals(Buffer.from([0x08, 1])),
    service,
    (error, serving) => (error === null ? resolve(serving === true) : reject(error)),
  );
  return promise;
}

export function jobOf(program: string, options: RunOptions = {}): JobInit {
  return {
    program: Buffer.from(program),
    createdAtMs: 1_792_486_800_000n,
    seed: Buffer.alloc(16, 7),
    limits: {
      timeoutMs: options.timeoutMs ?? 5000,
      memoryMb: options.memoryMb ?? 64,
      outputBytes: options.outputBytes ?? 65_536,
      ...initialCallLimits,
    },
    bindings: (options.bindings ?? ['notes.read', 'notes.write']).map((name) => {
      const [connection = '', capability = ''] = name.split('.');
      return { connection, capability, connectionRaw: connection, capabilityRaw: capability };
    }),
  };
}

/** Runs a program to its end, answering its calls; a call without an answer stays open. */
export async function run(client: Client, program: string, options: RunOptions = {}): Promise<Ran> {
  const call = client.execute(options.signal === undefined ? {} : { signal: options.signal });
  await call.send({ message: { case: 'job', value: jobOf(program, options) } });
  const steps: Step[] = [];
  let end: End | undefined;
  for await (const { message } of call.responses) {
    for (const step of stepsOf(message)) {
      steps.push(step);
      options.onStep?.(step);
      for (const issued of step.calls) void answerCall(call, issued, options.answer ?? echo);
    }
    if (message.case === 'end') end = message.value;
  }
  if (end === undefined) throw new Error('the stream ended without an end');
  return {
    end,
    reason: EndReason[end.reason],
    value: end.valueJson === undefined ? undefined : JSON.parse(Buffer.from(end.valueJson).toString()),
    steps,
    calls: steps.flatMap((step) => step.calls),
    logs: steps.flatMap((step) => step.logs.map((line) => line.text)),
  };
}

export function stepsOf(message: ExecuteResponse['message']): readonly Step[] {
  if (message.case === 'step') return [message.value];
  return message.case === 'steps' ? message.value.steps : [];
}

export const completed = (value: unknown): Outcome => ({
  case: 'completed',
  value: Buffer.from(JSON.stringify(value)),
});

/** Answers a call with its own arguments. */
export const echo: Answer = (call) => ({ case: 'completed', value: call.argumentsJson });

async function answerCall(call: Call, issued: IssuedCall, answer: Answer): Promise<void> {
  const outcome = await answer(issued);
  if (outcome === undefined) return;
  await call.send({ message: { case: 'outcome', value: { index: issued.index, outcome } } });
}
