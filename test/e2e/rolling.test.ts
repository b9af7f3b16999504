/**
 * A rolling restart of both services under load: two instances of CodeRunService on one store, a sandbox, and
 * fifty runs with long calls and waits. No run is lost, and no call is performed twice.
 */
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { type Channel, createClient, openChannel } from '../../services/shared/grpc/client.ts';
import type { CoreClient } from '../edges/core.ts';
import { Folder, Service } from '../edges/processes.ts';
import { freePorts } from './ports.ts';
import { SteadfastCore } from './steadfast-core.ts';

const runs = 50;

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

test('a rolling restart under fifty runs loses none and performs no call twice', async () => {
  const core = new SteadfastCore(cores, () => 50 + Math.random() * 400);
  const all = Promise.all(Array.from({ length: runs }, (_, number) => core.run(number)));
  const firstWorks = () => core.operations.size >= runs;
  while (!firstWorks()) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const name of ['one', 'sandbox', 'two'] as const) {
    expect(await services[name].stop()).toEqual({ code: 0, signal: null });
    services[name] = await launch[name]();
  }
  const ended = await all;
  core.expectSound(ended);
  // The restarts met runs: some took more attempts than start and decision need.
  expect(ended.some((run) => run.attempts.length > 2)).toBe(true);
}, 120_000);
