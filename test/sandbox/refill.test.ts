/** Ready children are there again whatever ended them, without a job that asks, and nobody is told otherwise. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { ForkedChildren } from '../../services/sandbox/pool/forked-children.ts';
import { Pool } from '../../services/sandbox/pool/pool.ts';
import { silentLog } from '../../services/shared/log.ts';
import { Alarms } from './alarms.ts';
import { startTestSandbox, type TestSandbox } from './kit.ts';
import { descendants, firstOf } from './processes.ts';

// Everything is as it is in production but the text that children run, which crashes as often as a file says.
const { crashesFile } = vi.hoisted(() => ({ crashesFile: { path: '' } }));
vi.mock('../../services/sandbox/isolate/bundle.ts', async (original) => {
  const real = await original<typeof import('../../services/sandbox/isolate/bundle.ts')>();
  const crashing = new URL('./crashing-program.ts', import.meta.url).pathname;
  const taken: typeof real.bundle = (entry, options) =>
    entry.endsWith('isolate/main.ts')
      ? real.bundle(crashing, { ...options, define: { CRASHES_FILE: JSON.stringify(crashesFile.path) } })
      : real.bundle(entry, options);
  return { bundle: taken };
});

const crash = (times: number | 'always') => writeFileSync(crashesFile.path, String(times));

let folder: string;
let cleanups: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refill-'));
  crashesFile.path = join(folder, 'crashes');
});
afterEach(async () => {
  for (const cleanup of cleanups) await cleanup();
  cleanups = [];
  rmSync(folder, { recursive: true });
});

async function start(readyTarget: number, children = 'forked'): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({
    SANDBOX_CHILDREN: children,
    SANDBOX_READY_TARGET: String(readyTarget),
    SANDBOX_METRICS_ADDRESS: `unix:${metricsSocket()}`,
  });
  cleanups.push(() => sandbox.stop());
  return sandbox;
}

const metricsSocket = () => join(folder, 'metrics');

/** The value of a metric, as it is served. */
async function metric(name: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get({ socketPath: metricsSocket(), path: '/metrics' }, resolve).on('error', reject);
  const lines = (await text(await promise)).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length));
}

const ready = async (sandbox: TestSandbox) => (await sandbox.client.getStatus({})).capacity?.ready;
const zygoteOf = (sandbox: readonly number[]) =>
  firstOf(sandbox.filter((pid) => descendants(pid).length > 0));

describe.runIf(process.platform === 'linux')('an idle sandbox', () => {
  test.for(['forked', 'started'])(
    'has as many %s children again when all of them are killed',
    async (made) => {
      const sandbox = await start(3, made);
      await expect.poll(() => ready(sandbox)).toBe(3);
      const all = descendants(process.pid);
      const children = made === 'forked' ? descendants(zygoteOf(all)) : all;
      expect(children).toHaveLength(3);
      for (const pid of children) process.kill(pid, 'SIGKILL');
      const others = () => descendants(process.pid).filter((pid) => !all.includes(pid));
      await expect.poll(others, { timeout: 20_000 }).toHaveLength(3);
      await expect.poll(() => ready(sandbox), { timeout: 20_000 }).toBe(3);
      expect(await sandbox.serving()).toBe(true);
    },
  );

  test('has a zygote and children again when the zygote is killed', async () => {
    const sandbox = await start(3);
    await expect.poll(() => ready(sandbox)).toBe(3);
    const all = descendants(process.pid);
    process.kill(zygoteOf(all), 'SIGKILL');
    const others = () => descendants(process.pid).filter((pid) => !all.includes(pid));
    await expect.poll(others, { timeout: 20_000 }).toHaveLength(4);
    await expect.poll(() => ready(sandbox), { timeout: 20_000 }).toBe(3);
    expect((await sandbox.run('return 5;')).value).toBe(5);
  });

  test('says so while no child can be made, and makes them again as soon as it can', async () => {
    const sandbox = await start(2);
    await expect.poll(() => ready(sandbox)).toBe(2);
    expect(await sandbox.serving()).toBe(true);
    crash('always');
    for (const pid of descendants(zygoteOf(descendants(process.pid)))) process.kill(pid, 'SIGKILL');
    await expect.poll(() => sandbox.serving()).toBe(false);
    expect(await ready(sandbox)).toBe(0);
    expect(await metric('sandbox_processes{state="ready"}')).toBe(0);
    expect(await metric('sandbox_child_failures_total{how="not_ready"}')).toBeGreaterThanOrEqual(3);
    await expect(sandbox.run('return 1;')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'no process could be made for the program: the log of the sandbox says why',
    });
    crash(0);
    await expect.poll(() => sandbox.serving(), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => ready(sandbox), { timeout: 20_000 }).toBe(2);
  });

  test('that keeps no child ready finds out by itself that one can be made again', async () => {
    const sandbox = await start(0);
    crash('always');
    await expect(sandbox.run('return 1;')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await sandbox.serving()).toBe(false);
    crash(0);
    await expect.poll(() => sandbox.serving(), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => ready(sandbox)).toBe(0);
  });
});

describe.runIf(process.platform === 'linux')('a child that ends before it is ready', () => {
  test('costs no run', async () => {
    const sandbox = await start(0);
    crash(2);
    expect((await sandbox.run('return "ran";')).value).toBe('ran');
    expect(await sandbox.serving()).toBe(true);
  });

  test('is replaced two times, and the job is refused after the third', async () => {
    const sandbox = await start(0);
    crash(3);
    await expect(sandbox.run('return 1;')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect((await sandbox.run('return "ran";')).value).toBe('ran');
  });
});

test.runIf(process.platform === 'linux')('pauses between tries grow up to a limit', async () => {
  const realm = (await buildRealmText()).text;
  const program = await ChildProgram.bundle({ jit: false });
  const source = await ForkedChildren.listen(program, { realm, jit: false, logOnly: false });
  const alarms = new Alarms();
  const firstSetting = { memoryMb: 64, timeoutMs: 5000 };
  const options = { runningMax: 1, queuedMax: 0, readyTarget: 1, firstSetting, allowUnlocked: false };
  const pool = new Pool(source, options, silentLog, alarms.set);
  cleanups.push(() => pool.close());
  await pool.warm();
  crash('always');
  process.kill(firstOf(descendants(zygoteOf(descendants(process.pid)))), 'SIGKILL');
  const pauses: number[] = [];
  while (pauses.length < 9) {
    await expect.poll(() => alarms.times).toHaveLength(1);
    pauses.push(...alarms.times);
    alarms.ring();
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  expect(pool.failures()).toEqual({ notReady: 8 * 3, endedEarly: 1 });
});
