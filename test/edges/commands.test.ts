/** The commands of the services, as a shell sees them. */
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeRunTable, readCodeRunConfig } from '../../services/code-run/config.ts';
import { openKeys } from '../../services/code-run/keys.ts';
import { sandboxTable } from '../../services/sandbox/config.ts';
import { silentLog } from '../../services/shared/log.ts';
import { startEmbeddedProcess } from '../e2e/embedded.ts';
import { play, start, waiting } from './core.ts';
import { run } from './grpcurl.ts';
import { Folder } from './processes.ts';

const root = join(import.meta.dirname, '../..');
const node = join(root, 'node_modules/.bin/node');
let folder: Folder;

beforeAll(() => {
  folder = new Folder();
});
afterAll(() => folder.remove());

async function command(script: string, args: readonly string[], environment: Record<string, string> = {}) {
  const { PATH = '' } = process.env;
  const own = { CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`, CODE_RUN_KEYS_FILE: `${folder.path}/keys` };
  const variables = Object.entries({ PATH, ...own, ...environment }).map(
    ([name, value]) => `${name}=${value}`,
  );
  return await run('/usr/bin/env', ['-i', ...variables, node, '--no-warnings', join(root, script), ...args]);
}
const codeRun = (args: readonly string[], environment?: Record<string, string>) =>
  command('services/code-run/main.ts', args, environment);

describe('every service', () => {
  test.each([
    ['services/code-run/main.ts', codeRunTable],
    ['services/sandbox/main.ts', sandboxTable],
    ['services/embedded/main.ts', codeRunTable],
  ])('%s explains all its settings, says its version and shows its configuration', async (script, table) => {
    const help = await command(script, ['--help']);
    expect(help.code).toBe(0);
    for (const { name, what } of Object.values(table)) {
      expect(help.stdout).toContain(name);
      expect(help.stdout).toContain(what);
    }
    expect((await command(script, ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const printed = await command(script, ['--print-config']);
    expect(printed.code).toBe(0);
    for (const { name } of Object.values(table)) expect(printed.stdout).toContain(name);
  });
});

describe('code-run', () => {
  test('masks its secrets, and takes what it printed as its file', async () => {
    const secret = 'this must never be printed, not even in part';
    const environment = {
      CODE_RUN_JWT_SECRET: secret,
      CODE_RUN_JWT_ISSUER: 'issuer',
      CODE_RUN_JWT_AUDIENCE: 'us',
      CODE_RUN_STORE: `mongodb://user:${secret.replaceAll(' ', '')}@host/db`,
    };
    const { stdout, stderr } = await codeRun(['--print-config'], environment);
    expect(stdout).toContain('CODE_RUN_JWT_SECRET=***\n');
    expect(stdout).toContain('CODE_RUN_STORE=***\n');
    expect(stdout + stderr).not.toContain('never');
    const file = join(folder.path, 'code-run.env');
    writeFileSync(file, stdout.replaceAll('***', secret));
    expect((await codeRun(['--config', file, '--print-config'], { CODE_RUN_DRAIN_MS: '7' })).stdout).toBe(
      stdout.replace('CODE_RUN_DRAIN_MS=30000', 'CODE_RUN_DRAIN_MS=7'),
    );
  });

  test.each([
    [
      'CODE_RUN_GRPC_ADDRESS',
      'nowhere',
      /must be "host:port", "\[v6 address\]:port" or "unix:\/path", is "nowhere"/,
    ],
    ['CODE_RUN_GRPC_ADDRESS', '0.0.0.0:7410', /must be on loopback while there is no identity/],
    ['CODE_RUN_HTTP_ADDRESS', 'example.com:80', /must be on loopback while there is no identity/],
    ['CODE_RUN_HTTP_ADDRESS', 'unix:/tmp/x', /must be "host:port" or "off", is "unix:\/tmp\/x"/],
    ['CODE_RUN_JWKS_URL', 'http://example.com/keys', /must be an https URL/],
    ['CODE_RUN_JWT_SECRET', 'short', /must be at least 32 bytes$/],
    ['CODE_RUN_JWT_ISSUER', 'someone', /CODE_RUN_JWKS_URL or CODE_RUN_JWT_SECRET must be set/],
    ['CODE_RUN_TLS_CERT_FILE', '/x', /CODE_RUN_TLS_CERT_FILE and CODE_RUN_TLS_KEY_FILE must be set together/],
    ['CODE_RUN_TLS_CLIENT_NAMES', 'a', /CODE_RUN_TLS_CLIENT_CA_FILE must be set/],
    ['CODE_RUN_DRAIN_MS', '-1', /must be a whole number from 0 to 3600000, is "-1"/],
    ['CODE_RUN_STORE', 'postgres://x:y@z', /^CODE_RUN_STORE must be "sqlite:<path>".*"$/],
  ])('refuses %s=%s, and says why', (name, value, message) => {
    const read = () => readCodeRunConfig({ environment: { [name]: value } });
    expect(read).toThrow(message);
    expect(read).toThrow(name);
  });

  test.each([
    ['CODE_RUN_KEYS', 'k1:abc', /^code-run: CODE_RUN_KEYS: key 1 \("k1"\): must be 32 bytes in base64/m],
    ['CODE_RUN_SANDBOX_TLS_CERT_FILE', '/x', /must be set together/],
    ['CODE_RUN_DRAIN', '1', /is not a setting; --help lists them all/],
  ])('does not start with %s=%s, and says why', async (name, value, message) => {
    const { code, stdout, stderr } = await codeRun([], {
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      [name]: value,
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`code-run: ${name}`);
    expect(stderr).toMatch(message);
  });

  test('says that a folder is no file of keys', async () => {
    const { code, stderr } = await codeRun(['settings', 'get'], { CODE_RUN_KEYS_FILE: folder.path });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `code-run: CODE_RUN_KEYS_FILE ${folder.path} cannot be used, and CODE_RUN_KEYS is not set: it is a folder\n`,
    );
  });

  test('makes no key of its own for a store that instances share', async () => {
    const file = join(folder.path, 'no-keys');
    const config = readCodeRunConfig({
      environment: { CODE_RUN_STORE: 'mongodb://127.0.0.1:1/x', CODE_RUN_KEYS_FILE: file },
    });
    // Not by a command: keys are opened after the database, and there is none here.
    await expect(openKeys(config, silentLog)).rejects.toThrow(
      `CODE_RUN_KEYS_FILE ${file} cannot be used, and CODE_RUN_KEYS is not set: there is no such file`,
    );
    expect(existsSync(file)).toBe(false);
  });

  test.each([
    ['services/code-run/main.ts', 'code-run', 'CODE_RUN_GRPC_ADDRESS', {}],
    [
      'services/code-run/main.ts',
      'code-run',
      'CODE_RUN_HTTP_ADDRESS',
      { CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0' },
    ],
    ['services/sandbox/main.ts', 'sandbox', 'SANDBOX_LISTEN', {}],
    ['services/sandbox/main.ts', 'sandbox', 'SANDBOX_METRICS_ADDRESS', { SANDBOX_LISTEN: '127.0.0.1:0' }],
  ])('%s names the setting of an address that is in use: %s %s', async (script, name, setting, more) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const { code, stderr } = await command(script, [], { ...more, [setting]: address });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `${name}: cannot listen on ${address}: the address is in use; ${setting} names another\n`,
    );
  });

  test.each([
    ['/nowhere', 'there is no such file'],
    ['/', 'it is a folder'],
  ])('does not start with the file %s: %s', async (file, why) => {
    const { code, stderr } = await codeRun(['--config', file]);
    expect([code, stderr]).toEqual([1, `code-run: --config: cannot read the file ${file}: ${why}\n`]);
  });

  test('does not serve others than loopback without client certificates as a sandbox', async () => {
    const { code, stderr } = await command('services/sandbox/main.ts', [], { SANDBOX_LISTEN: '0.0.0.0:1' });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'sandbox: SANDBOX_LISTEN must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set\n',
    );
  });

  test('reads and changes settings and runs beside a service that serves', async () => {
    const embedded = await startEmbeddedProcess();
    const own = {
      CODE_RUN_STORE: `sqlite:${embedded.folder.path}/runs.db`,
      CODE_RUN_KEYS_FILE: `${embedded.folder.path}/keys`,
    };
    const told = async (...args: string[]) => {
      const { code, stdout, stderr } = await codeRun(args, own);
      expect([code, stderr]).toEqual([0, '']);
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    try {
      expect(await told('settings', 'get')).toMatchObject([
        { version: 1, codeMode: { enabled: true, memoryMb: 64 } },
      ]);
      expect(await told('settings', 'set', 'memoryMb=128', 'timeoutMs=1000')).toMatchObject([
        { version: 2, codeMode: { enabled: true, memoryMb: 128, timeoutMs: 1000 } },
      ]);
      const { last } = await play(
        embedded.core,
        start('return await apps.notes.send({})', { session: 'cli' }),
        () => waiting,
      );
      if (last.case !== 'waiting') throw new Error('does not wait');
      const { runId } = last.value;
      expect(await told('runs', 'list', 'cli')).toMatchObject([
        { id: runId, status: 'Waiting', session: 'cli' },
      ]);
      expect(await told('runs', 'show', runId)).toMatchObject([
        { id: runId, calls: [{ arguments: {} }], limits: { memoryMb: 128 } },
      ]);
      expect(await told('rotate')).toMatchObject([{ rewrapped: 0, unreadable: [] }]);
      expect(await told('runs', 'cancel', runId)).toEqual([{ id: runId, status: 'Cancelled' }]);
      expect((await embedded.core.getCodeRun({ runId })).run?.result?.result.case).toBe('cancelled');
      expect(await told('runs', 'delete', 'cli')).toEqual([{ deleted: 1 }]);
      const missing = await codeRun(['runs', 'show', runId], own);
      expect([missing.code, missing.stderr]).toEqual([1, `code-run: there is no code run ${runId}\n`]);
      const wrong = await codeRun(['settings', 'set', 'memoryMb=lots'], own);
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        'code-run: memoryMb: must be a whole number from 16 to 1024\n',
      ]);
    } finally {
      await embedded.stop();
    }
  }, 120_000);
});
