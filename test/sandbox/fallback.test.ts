/** Where a prepared process cannot be forked, each child is started, and everybody is told so. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LockLayerState, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { type Channel, createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { type Client, isServing, run } from './kit.ts';
import { descendants, firstOf } from './processes.ts';

const root = join(import.meta.dirname, '../..');
const notForked = join(import.meta.dirname, 'no-fork.ts');

function start(folder: string, environment: Record<string, string> = {}): ChildProcess {
  return spawn(
    process.execPath,
    ['--no-warnings', '--import', notForked, join(root, 'services/sandbox/main.ts')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        SANDBOX_LISTEN: `unix:${folder}/s`,
        SANDBOX_DRAIN_MS: '0',
        SANDBOX_READY_TARGET: '0',
        ...environment,
      },
    },
  );
}

function textOf(process: ChildProcess, from: 'stdout' | 'stderr'): () => string {
  let text = '';
  process[from]?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

/** grpc.health.v1: the name is field 1 of the request, the status field 1 of the answer; 1 is SERVING. */
/** Every fact that there is of it. */
const notReady =
  /^a child was not ready: it ended with SIG\w+ after \d+ ms, \d+ ms of processor time and \d+ KiB$/;

test.runIf(process.platform === 'linux')(
  'without a limit of the stack, which changes where everything lies in memory, children are forked',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'unlimited-'));
    const command = 'ulimit -s unlimited && exec "$0" --no-warnings "$1"';
    const service = spawn('bash', ['-c', command, process.execPath, join(root, 'services/sandbox/main.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        SANDBOX_LISTEN: `unix:${folder}/s`,
        SANDBOX_DRAIN_MS: '0',
        SANDBOX_READY_TARGET: '0',
        SANDBOX_CHILDREN: 'forked',
        SANDBOX_LOG_LEVEL: 'silent',
      },
    });
    try {
      const [line] = await once(createInterface({ input: service.stdout }), 'line');
      expect(JSON.parse(String(line))).toMatchObject({ ready: true, locked: true });
      const channel = openChannel(`unix:${folder}/s`, credentials.createInsecure());
      const client = createClient(SandboxService, channel);
      expect((await client.getStatus({})).layers[0]?.detail).toBe('forked');
      expect((await run(client, 'return "ran";')).value).toBe('ran');
      channel.close();
    } finally {
      service.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    }
  },
);

test.runIf(process.platform === 'linux')(
  'a hard limit below that of a child refuses the start, by name',
  () => {
    const command = 'ulimit -s 4096 && exec "$0" --no-warnings "$1"';
    const args = ['-c', command, process.execPath, join(root, 'services/sandbox/main.ts')];
    const env = { SANDBOX_LISTEN: 'unix:/tmp/never', SANDBOX_LOG_LEVEL: 'silent' };
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8', env });
    expect(status).toBe(1);
    expect(stderr).toContain('limits is absent: setrlimit STACK failed: EPERM');
    expect(stderr).toContain('without hard limits (ulimit -H) below those named here');
  },
);

describe.runIf(process.platform === 'linux')('where the self-test of the fork fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fallback-'));
  let service: ChildProcess;
  let log: () => string;
  let ready: unknown;
  let channel: Channel;
  let client: Client;
  beforeAll(async () => {
    service = start(folder);
    log = textOf(service, 'stderr');
    if (service.stdout === null) throw new Error('no output');
    const [line] = await once(createInterface({ input: service.stdout }), 'line');
    ready = JSON.parse(String(line));
    channel = openChannel(`unix:${folder}/s`, credentials.createInsecure());
    client = createClient(SandboxService, channel);
  });
  afterAll(() => {
    channel?.close();
    service.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test('the sandbox starts all the same, and is locked', () => {
    expect(ready).toMatchObject({ ready: true, locked: true, missing: [] });
  });

  test('GetStatus says that children are started, and that every required layer holds', async () => {
    const { layers, locked, versions } = await client.getStatus({});
    expect(locked).toBe(true);
    expect(layers[0]).toMatchObject({ name: 'fresh-process', detail: 'started' });
    for (const layer of layers) if (layer.required) expect(layer.state).toBe(LockLayerState.HELD);
    expect(versions?.fingerprint).toMatch(/, started$/);
  });

  test('health says of every layer what GetStatus says', async () => {
    expect(await isServing(channel, SandboxService.typeName)).toBe(true);
    const { layers } = await client.getStatus({});
    for (const { name, state } of layers) {
      expect(await isServing(channel, `lock.${name}`), name).toBe(state === LockLayerState.HELD);
    }
  });

  test('the log warns once, with the reason', () => {
    const lines = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ level }) => Number(level) >= 40)).toMatchObject([
      {
        msg: 'a prepared process cannot be forked here: each child is started instead',
        component: 'lock',
        reason: expect.stringMatching(notReady),
      },
    ]);
    expect(lines.at(-1)).toMatchObject({ msg: 'listening', locked: true });
  });

  test('programs run, within their limits', { timeout: 60_000 }, async () => {
    const [value, time, memory, stack] = await Promise.all([
      run(client, 'return (await apps.notes.read({ n: 41 })).n + 1;'),
      run(client, 'for (;;);', { timeoutMs: 500 }),
      run(client, 'const kept = []; for (;;) kept.push(new Array(1000).fill(0));'),
      run(client, 'const f = () => f(); f();'),
    ]);
    expect(value.value).toBe(42);
    expect([time.reason, memory.reason, stack.end.errorName]).toEqual(['TIMEOUT', 'MEMORY', 'RangeError']);
  });

  test('it ends when told, and leaves nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const options = { answer: () => undefined, onStep: () => resolve() };
    const ran = run(client, 'await apps.notes.read({});', options);
    await promise;
    const pids = descendants(firstOf([service.pid ?? 0]));
    expect(pids).toHaveLength(1);
    service.kill('SIGTERM');
    await expect(ran).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await once(service, 'exit')).toEqual([0, null]);
    expect(descendants(process.pid).filter((pid) => pids.includes(pid))).toEqual([]);
  });
});

test.runIf(process.platform === 'linux')(
  'a sandbox that is told to fork does not start where it cannot',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fallback-'));
    const service = start(folder, { SANDBOX_CHILDREN: 'forked', SANDBOX_LOG_LEVEL: 'silent' });
    const complaint = textOf(service, 'stderr');
    expect(await once(service, 'close')).toEqual([1, null]);
    expect(complaint()).toMatch(/^sandbox: /);
    expect(complaint().slice('sandbox: '.length, -1)).toMatch(notReady);
    rmSync(folder, { recursive: true });
  },
);
