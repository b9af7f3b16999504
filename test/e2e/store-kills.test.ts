/**
 * Kills CodeRunService, its MongoDB, or both, at random moments while runs go on: none is lost, no call is
 * performed twice. KILLS sets how often on each store (default: few).
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CodeRun } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { type Channel, createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { Folder, Service } from '../edges/processes.ts';
import { mongoAvailable } from '../support/mongo.ts';
import { freePorts } from './ports.ts';
import { until } from './proc.ts';
import { SteadfastCore } from './steadfast-core.ts';

type Kind = 'service' | 'server' | 'both';

const { KILLS } = process.env;
const kills = Number(KILLS ?? 3);
const runsAtOnce = 3;
const unendedMax = 9;
const timeoutMs = 120_000 + kills * 20_000;

let folder: Folder;
let sandbox: Service;
let codeRun: Service;
let channel: Channel;
let server: MongoServer | undefined;
let launch: () => Promise<Service>;

async function begin(store: string): Promise<SteadfastCore> {
  const [sandboxPort, port] = await freePorts(2);
  const keys = { CODE_RUN_STORE: store, CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  const started = async (script: string, environment: Record<string, string>) => {
    const service = new Service(script, environment);
    await service.ready();
    return service;
  };
  sandbox = await started('services/sandbox/main.ts', {
    SANDBOX_LISTEN: `127.0.0.1:${sandboxPort}`,
    SANDBOX_DRAIN_MS: '0',
    SANDBOX_LOCK: 'development',
    SANDBOX_LOG_LEVEL: 'error',
  });
  const set = new Service('services/code-run/main.ts', keys, ['settings', 'set', 'enabled=true']);
  expect(await set.ended()).toEqual({ code: 0, signal: null });
  launch = () =>
    started('services/code-run/main.ts', {
      ...keys,
      CODE_RUN_GRPC_ADDRESS: `127.0.0.1:${port}`,
      CODE_RUN_HTTP_ADDRESS: 'off',
      CODE_RUN_SANDBOX_ADDRESS: `127.0.0.1:${sandboxPort}`,
      CODE_RUN_DRAIN_MS: '0',
      CODE_RUN_LOG_LEVEL: 'silent',
    });
  codeRun = await launch();
  channel = openChannel(`127.0.0.1:${port}`, credentials.createInsecure());
  return new SteadfastCore([createClient(CodeRunService, channel)], () => Math.random() * 60);
}

beforeEach(() => {
  folder = new Folder();
});
afterEach(async () => {
  channel?.close();
  await codeRun?.stop();
  await sandbox?.stop();
  await server?.stop();
  server = undefined;
  folder.remove();
});

/** The kinds take turns; each kill meets runs of its own in the middle of their calls, and what others left. */
async function survives(core: SteadfastCore, kinds: readonly Kind[]): Promise<Record<Kind, number>> {
  const killed = { service: 0, server: 0, both: 0 };
  const runs: Promise<CodeRun>[] = [];
  const failures: unknown[] = [];
  let unended = 0;
  const start = () => {
    const run = core.run(runs.length);
    unended += 1;
    run.then(
      () => {
        unended -= 1;
      },
      (error: unknown) => failures.push(error),
    );
    runs.push(run);
  };
  const unlessFailed = (condition: () => boolean) => () => {
    if (failures.length > 0) throw failures[0];
    return condition();
  };
  for (let kill = 0; kill < kills; kill++) {
    const kind = kinds[kill % kinds.length] ?? 'service';
    // A run that lost its service waits for its lease: kills that come faster than runs end would only pile them up.
    await until(unlessFailed(() => unended <= unendedMax));
    const before = core.operations.size;
    for (let n = 0; n < runsAtOnce; n++) start();
    const moment = before + 1 + Math.floor(Math.random() * runsAtOnce * 4);
    await until(unlessFailed(() => core.operations.size >= moment));
    const { pid } = codeRun;
    if (kind !== 'server') codeRun.kill('SIGKILL');
    if (kind !== 'service') await server?.kill();
    if (kind !== 'server') expect(await codeRun.ended()).toEqual({ code: null, signal: 'SIGKILL' });
    if (kind !== 'service') await server?.restart();
    if (kind !== 'server') codeRun = await launch();
    expect(codeRun.pid === pid).toBe(kind === 'server');
    killed[kind] += 1;
  }
  const ended = await Promise.all(runs);
  core.expectSound(ended);
  // A killed attempt left no note of itself, but its number is gone.
  expect(ended.some(({ attempts }) => attempts.some(({ number }) => number > 2))).toBe(true);
  return killed;
}

function tell(store: string, killed: Record<Kind, number>): void {
  writeSync(2, `services on ${store}: killed ${JSON.stringify(killed)}\n`);
}

test(
  'runs on SQLite survive the kill of their service',
  async () => {
    const killed = await survives(await begin(`sqlite:${folder.path}/runs.db`), ['service']);
    expect(killed.service).toBe(kills);
    tell('SQLite', killed);
  },
  timeoutMs,
);

describe.runIf(mongoAvailable('kills of services and their MongoDB'))('on MongoDB', () => {
  test(
    'runs survive the kill of their service, their store, and both',
    async () => {
      const program = mongoProgram();
      if (program === undefined) throw new Error('no server that may be killed: make tools');
      server = await MongoServer.start(program, join(folder.path, 'mongo'));
      const core = await begin(server.url.replace('/?', '/code_mode?'));
      const killed = await survives(core, ['server', 'service', 'both']);
      for (const times of Object.values(killed)) {
        expect(times).toBeGreaterThanOrEqual(Math.floor(kills / 3));
      }
      tell('MongoDB', killed);
    },
    timeoutMs,
  );
});
