/**
 * A rolling restart of both services under load: two instances of CodeRunService on one store, a sandbox, and
 * fifty runs with long calls and waits. No run is lost, and no call is performed twice.
 */
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CodeRun, CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService, type PerformCall } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { type Channel, createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { RpcError } from '../../services/shared/grpc/status.ts';
import {
  type CoreClient,
  completed,
  type Outcome,
  type Played,
  play,
  resume,
  start,
  waiting,
} from '../edges/core.ts';
import { Folder, Service } from '../edges/processes.ts';
import { freePorts } from './ports.ts';

const runs = 50;
const program = `
const note = await apps.notes.read_note({ n: 0 });
const both = await Promise.all([1, 2].map((n) => apps.notes.read_note({ n })));
const sent = await apps.notes.send({ notes: [note, ...both] });
return [note, ...both, sent];`;

let folder: Folder;
let services: { sandbox: Service; one: Service; two: Service };
let launch: { sandbox: () => Promise<Service>; one: () => Promise<Service>; two: () => Promise<Service> };
let channels: Channel[];
let cores: CoreClient[];

beforeEach(async () => {
  folder = new Folder();
  const [sandboxPort, onePort, twoPort] = await freePorts(3);
  const started = async (script: string, environment: Record<string, string>) => {
    const service = new Service(script, {
      ...environment,
      CODE_RUN_LOG_LEVEL: 'warn',
      SANDBOX_LOG_LEVEL: 'warn',
    });
    await service.ready();
    return service;
  };
  const codeRun = (port: number | undefined) =>
    started('services/code-run/main.ts', {
      CODE_RUN_GRPC_ADDRESS: `127.0.0.1:${port}`,
      CODE_RUN_HTTP_ADDRESS: 'off',
      CODE_RUN_SANDBOX_ADDRESS: `127.0.0.1:${sandboxPort}`,
      CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`,
      CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
      CODE_RUN_DRAIN_MS: '100',
    });
  launch = {
    sandbox: () =>
      started('services/sandbox/main.ts', {
        SANDBOX_LISTEN: `127.0.0.1:${sandboxPort}`,
        SANDBOX_DRAIN_MS: '100',
        SANDBOX_LOCK: 'development',
      }),
    one: () => codeRun(onePort),
    two: () => codeRun(twoPort),
  };
  const sandbox = await launch.sandbox();
  const one = await launch.one();
  services = { sandbox, one, two: await launch.two() };
  channels = [onePort, twoPort].map((port) => openChannel(`127.0.0.1:${port}`, credentials.createInsecure()));
  cores = channels.map((channel) => createClient(CodeRunService, channel));
  const set = new Service('services/code-run/main.ts', storeOf(folder), ['settings', 'set', 'enabled=true']);
  expect(await set.ended()).toEqual({ code: 0, signal: null });
});
afterEach(async () => {
  for (const channel of channels) channel.close();
  await Promise.all(Object.values(services).map((service) => service.stop()));
  folder.remove();
});

function storeOf({ path }: Folder): Record<string, string> {
  return { CODE_RUN_STORE: `sqlite:${path}/runs.db`, CODE_RUN_KEYS_FILE: `${path}/keys` };
}

/** A core as it should be: each app operation by its call id, performed once, its outcome kept. */
class Core {
  readonly operations = new Map<string, Promise<string>>();
  /** Calls that the service said were new, by call id: more than one would be performed twice by a plain core. */
  readonly announcedNew = new Map<string, number>();
  readonly decided = new Set<string>();

  answer(call: PerformCall): Outcome | Promise<Outcome> {
    const { callId } = call;
    if (!call.sentBefore) this.announcedNew.set(callId, (this.announcedNew.get(callId) ?? 0) + 1);
    if (call.binding === 'notes.send' && !this.decided.has(callId)) return waiting;
    let operation = this.operations.get(callId);
    if (operation === undefined) {
      operation = new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400, `done ${callId}`));
      this.operations.set(callId, operation);
    }
    return operation.then(completed);
  }

  /** Takes one run to its end, whatever happens to the instances on the way. */
  async run(number: number): Promise<CodeRun> {
    const callId = `call-${number}`;
    let runId: string | undefined;
    for (let turn = number; ; turn++) {
      const client = cores[turn % cores.length];
      if (client === undefined) throw new Error('no client');
      try {
        runId ??= await this.#find(client, callId);
        const first = runId === undefined ? start(program, { session: callId, callId }) : resume(runId);
        const { last } = await this.#play(client, first);
        if (last.case === 'finished' && last.value.run !== undefined) return last.value.run;
        if (last.case === 'waiting') {
          runId = last.value.runId;
          for (const { app } of last.value.requests) if (app !== undefined) this.decided.add(app.callId);
        }
      } catch (error) {
        // Whatever a restart may cause; anything else is a fault.
        const passing = ['UNAVAILABLE', 'CANCELLED', 'ABORTED', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED'];
        if (!(error instanceof RpcError) || !passing.includes(error.code)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  #play(client: CoreClient, first: Parameters<typeof play>[1]): Promise<Played> {
    return play(client, first, (call) => this.answer(call));
  }

  async #find(client: CoreClient, session: string): Promise<string | undefined> {
    const page = await client.listCodeRuns({ session }, { timeoutMs: 5000 });
    const [run] = page.runs;
    // A final one is read by starting it again.
    return run === undefined || run.result !== undefined ? undefined : run.id;
  }
}

test('a rolling restart under fifty runs loses none and performs no call twice', async () => {
  const core = new Core();
  const all = Promise.all(Array.from({ length: runs }, (_, number) => core.run(number)));
  const firstWorks = () => core.operations.size >= runs;
  while (!firstWorks()) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const name of ['one', 'sandbox', 'two'] as const) {
    expect(await services[name].stop()).toEqual({ code: 0, signal: null });
    services[name] = await launch[name]();
  }
  const ended = await all;
  for (const [number, run] of ended.entries()) {
    const expected = [0, 1, 2, 3].map((index) => `done call-${number}:${index}`);
    expect(run.result?.result).toMatchObject({
      case: 'completed',
      value: { valueJson: JSON.stringify(expected) },
    });
    expect(run.status).toBe(CodeRunStatus.COMPLETED);
  }
  expect(core.operations.size).toBe(runs * 4);
  expect([...core.announcedNew.values()].filter((times) => times !== 1)).toEqual([]);
  // The restarts met runs: some took more attempts than start and decision need.
  expect(ended.some((run) => run.attempts.length > 2)).toBe(true);
}, 120_000);
