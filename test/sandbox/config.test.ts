import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import { silentLog } from '../../services/shared/log.ts';
import { descendants, lives } from './processes.ts';

describe('the configuration', () => {
  test('has its defaults', () => {
    expect(readSandboxConfig({ environment: {} })).toMatchObject({
      listen: '127.0.0.1:7412',
      lock: 'required',
      children: 'auto',
      jit: false,
      readyTarget: 4,
      firstTimeoutMs: 30_000,
      firstMemoryMb: 64,
    });
  });

  test.for<[Record<string, string>, string]>([
    [{ SANDBOX_LISTEN: 'everywhere' }, 'SANDBOX_LISTEN must be "host:port"'],
    [
      { SANDBOX_LISTEN: '0.0.0.0:1' },
      'SANDBOX_LISTEN must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set',
    ],
    [
      { SANDBOX_LISTEN: '10.0.0.1:1', SANDBOX_LOCK: 'development' },
      'SANDBOX_LISTEN must be a Unix socket or on loopback while SANDBOX_LOCK is development',
    ],
    [{ SANDBOX_LOCK: 'maybe' }, 'SANDBOX_LOCK must be one of required, development, insecure'],
    [{ SANDBOX_RUNNING_MAX: '0' }, 'SANDBOX_RUNNING_MAX must be a whole number from 1 to 100000'],
    [{ SANDBOX_JITT: 'true' }, 'SANDBOX_JITT is not a setting'],
  ])('refuses %o', ([environment, problem]) => {
    expect(() => readSandboxConfig({ environment })).toThrow(problem);
  });
});

test('a start without a required layer of the lock is refused, and names it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-main-'));
  const config = readSandboxConfig({ environment: { SANDBOX_LISTEN: `unix:${folder}/s` } });
  // The settings refuse it by themselves: this is a host whose seccomp ends nothing.
  await expect(startSandbox({ ...config, seccompLogOnly: true }, silentLog)).rejects.toThrow(
    /^programs cannot be locked in on this host \(seccomp is off: /,
  );
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

describe('the command', () => {
  function start(environment: Record<string, string>) {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-main-'));
    const child = spawn(process.execPath, ['--no-warnings', 'services/sandbox/main.ts'], {
      env: { SANDBOX_LISTEN: `unix:${folder}/s`, SANDBOX_LOG_LEVEL: 'warn', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    const exited = once(child, 'exit').finally(() => rmSync(folder, { recursive: true }));
    return { child, exited, errors: () => errors };
  }

  test('says in one line of JSON that it listens, and ends with its parent', async () => {
    const { child, exited } = start({ SANDBOX_EXIT_WITH_STDIN: 'true' });
    const [line] = await once(child.stdout, 'data');
    expect(JSON.parse(String(line))).toMatchObject({ ready: true, locked: process.platform === 'linux' });
    const children = descendants(child.pid ?? process.pid);
    expect(children.length).toBeGreaterThan(0);
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    await expect.poll(() => children.some(lives)).toBe(false);
  });

  test('takes its children along when it is killed', async () => {
    const { child, exited } = start({});
    await once(child.stdout, 'data');
    const children = descendants(child.pid ?? process.pid);
    expect(children.length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await exited;
    await expect.poll(() => children.some(lives), { timeout: 5000 }).toBe(false);
  });

  test('goes on without it where it is told to, and warns', async () => {
    const { child, exited, errors } = start({
      SANDBOX_SECCOMP_LOG_ONLY: 'true',
      SANDBOX_LOCK: 'development',
    });
    const [line] = await once(child.stdout, 'data');
    expect(JSON.parse(String(line))).toMatchObject({ ready: true, locked: false });
    expect(errors()).toContain('NOT LOCKED: programs can harm this host: seccomp is off');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  test('serves counts and layers as metrics', async () => {
    const port = 20_000 + (process.pid % 20_000);
    const { child, exited } = start({ SANDBOX_METRICS_ADDRESS: `127.0.0.1:${port}` });
    await once(child.stdout, 'data');
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toContain('sandbox_lock_layer{layer="seccomp",required="true"} 1');
    expect(text).toMatch(/^sandbox_processes\{state="running"\} 0$/m);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  test('ends at SIGTERM', async () => {
    const { child, exited } = start({});
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});
