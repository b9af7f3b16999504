/** The commands of the services, as a shell sees them. */
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeRunTable } from '../../services/code-run/config.ts';
import { embeddedCodeRunTable, embeddedSandboxTable } from '../../services/embedded/config.ts';
import { sandboxTable } from '../../services/sandbox/config.ts';
import { startEmbeddedProcess } from '../e2e/embedded.ts';
import { play, start, waiting } from './core.ts';
import { run } from './grpcurl.ts';
import { Folder } from './processes.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let folder: Folder;

beforeAll(() => {
  folder = new Folder();
});
afterAll(() => folder.remove());

/** `name` of a command in bin/; on PATH is no Node.js at all. */
async function command(name: string, args: readonly string[], environment: Record<string, string> = {}) {
  const PATH = '/usr/bin:/bin';
  const own = { CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`, CODE_RUN_KEYS_FILE: `${folder.path}/keys` };
  const variables = Object.entries({ PATH, ...own, ...environment }).map(([key, value]) => `${key}=${value}`);
  return await run('/usr/bin/env', ['-i', ...variables, join(root, 'bin', name), ...args]);
}
const codeRun = (args: readonly string[], environment?: Record<string, string>) =>
  command('code-run', args, environment);

describe('every service', () => {
  test.each([
    ['code-run', [codeRunTable]],
    ['sandbox', [sandboxTable]],
    ['embedded', [embeddedCodeRunTable, embeddedSandboxTable]],
  ])('%s explains all its settings, says its version and shows its configuration', async (script, tables) => {
    const help = await command(script, ['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    const variables = tables.flatMap((table) => Object.values(table));
    for (const { name, initial, what, range } of variables) {
      const lines = [initial === undefined ? name : `${name}=${initial}`, what, ...(range ? [range] : [])];
      expect(help.stdout).toContain(`  ${lines.join('\n      ')}\n`);
    }
    expect((await command(script, ['--version'])).stdout).toBe(`${version}\n`);
    const printed = await command(script, ['--print-config']);
    expect([printed.code, printed.stderr]).toEqual([0, '']);
    for (const { name } of variables) expect(printed.stdout).toContain(name);
    const file = join(folder.path, `${script}.env`);
    writeFileSync(file, printed.stdout);
    expect(await command(script, ['--print-config', '--config', file])).toEqual(printed);
  });

  test.each([
    ['code-run', '--cofnig x', "unknown option '--cofnig'\n(Did you mean --config?)"],
    ['code-run', '--config', "option '--config <file>' argument missing"],
    [
      'code-run',
      '--config a --config b',
      "option '--config <file>' argument 'b' is invalid. It may be given once.",
    ],
    ['code-run', 'rotat', "unknown command 'rotat'\n(Did you mean rotate?)"],
    ['code-run', 'xyzzy', "unknown command 'xyzzy'"],
    ['code-run', 'runs lst', "unknown command 'lst'\n(Did you mean list?)"],
    ['code-run', 'runs show', "missing required argument 'id'"],
    ['code-run', 'runs show a b', "too many arguments for 'show'. Expected 1 argument but got 2: a, b."],
    ['code-run', 'runs delete', "missing required argument 'session'"],
    ['code-run', 'rotate now', "too many arguments for 'rotate'. Expected 0 arguments but got 1: now."],
    ['code-run', '--print-config rotate', '--print-config stands without a command'],
    ['code-run', 'settings set', "missing required argument 'NAME=VALUE'"],
    [
      'code-run',
      'settings set memory=1',
      '"memory=1" must be enabled=…, timeoutMs=…, memoryMb=… or outputBytes=…',
    ],
    ['code-run', 'settings set enabled=yes', 'enabled must be true or false'],
    ['code-run', 'settings set enabled=true enabled=false', 'enabled stands there twice'],
    ['sandbox', 'start', "unexpected argument 'start'"],
    ['sandbox', '--frobnicate', "unknown option '--frobnicate'"],
    ['embedded', 'start', "unexpected argument 'start'"],
  ])('%s says what is wrong with: %s', async (script, line, message) => {
    expect(await command(script, line.split(' '))).toEqual({
      code: 2,
      stdout: '',
      stderr: `${script}: ${message}\n`,
    });
    expect(readdirSync(folder.path).filter((name) => /^(keys|runs)/.test(name))).toEqual([]);
  });

  test.each([
    'rotate',
    'settings get',
    'settings set',
    'runs list',
    'runs show',
    'runs cancel',
    'runs delete',
  ])('code-run %s explains itself', async (line) => {
    const { code, stdout } = await codeRun([...line.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: code-run ${line} `);
  });

  test.each([
    ['code-run', { CODE_RUN_KEYS: 'k1:abc' }],
    ['code-run', { CODE_RUN_TLS_CERT_FILE: '/nowhere.crt', CODE_RUN_TLS_KEY_FILE: '/nowhere.key' }],
    ['code-run', { CODE_RUN_STORE: 'sqlite:/nowhere/x.db' }],
    ['code-run', { CODE_RUN_STORE: 'mongodb://h/?wrong=1', CODE_RUN_KEYS_FILE: '/nowhere/keys' }],
    ['code-run', { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' }],
    ['sandbox', { SANDBOX_SECCOMP_LOG_ONLY: 'true' }],
    ['sandbox', { SANDBOX_TLS_CERT_FILE: '/nowhere.crt', SANDBOX_TLS_KEY_FILE: '/nowhere.key' }],
    ['embedded', { CODE_RUN_STORE: 'sqlite:/nowhere/x.db' }],
  ])('%s prints no settings that it would not start with: %o', async (script, environment) => {
    const printed = await command(script, ['--print-config'], environment);
    expect([printed.code, printed.stdout]).toEqual([2, '']);
    expect(printed.stderr).toContain(`${script}: ${Object.keys(environment)[0]}`);
    expect(await command(script, [], environment)).toEqual(printed);
  });

  test('that is not installed says what to do', async () => {
    const bin = join(folder.path, 'elsewhere/bin');
    mkdirSync(bin, { recursive: true });
    copyFileSync(join(root, 'bin/code-mode'), join(bin, 'code-run'));
    const { code, stderr } = await run(join(bin, 'code-run'), []);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `code-run: nothing is installed yet: run "make setup" in ${join(folder.path, 'elsewhere')}\n`,
    );
  });
});

describe('code-run', () => {
  test('masks its secrets, also those that traces use, and takes back what it printed with them', async () => {
    const secret = 'never-to-be-printed-not-even-in-part';
    const environment = {
      CODE_RUN_JWT_SECRET: secret,
      CODE_RUN_JWT_ISSUER: 'issuer',
      CODE_RUN_JWT_AUDIENCE: 'us',
      CODE_RUN_KEYS: `k:${Buffer.alloc(32, 'never').toString('base64')}`,
      CODE_RUN_STORE: '',
      MONGODB_URI: `mongodb://user:${secret}@host,other:1/db?w=majority`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `https://user:${secret}@collector`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}`,
    };
    const { stdout, stderr } = await codeRun(['--print-config'], environment);
    expect(stdout).toContain('CODE_RUN_JWT_SECRET=***\n');
    expect(stdout).toContain('CODE_RUN_STORE=mongodb://user:***@host,other:1/db?w=majority\n');
    expect(stdout).toContain('OTEL_EXPORTER_OTLP_ENDPOINT=https://user:***@collector\n');
    expect(stdout + stderr).not.toContain('never');
    const file = join(folder.path, 'masked.env');
    writeFileSync(file, stdout);
    const refused = await codeRun(['--config', file, '--print-config'], { CODE_RUN_STORE: '' });
    expect(refused.code).toBe(2);
    for (const name of ['CODE_RUN_JWT_SECRET', 'CODE_RUN_KEYS']) {
      expect(refused.stderr).toContain(
        `code-run: ${name} must be the secret itself: *** only stands for one (`,
      );
    }
    const again = { ...environment, CODE_RUN_STORE: environment.MONGODB_URI, CODE_RUN_DRAIN_MS: '7' };
    expect((await codeRun(['--config', file, '--print-config'], again)).stdout).toBe(
      stdout.replace('CODE_RUN_DRAIN_MS=30000', 'CODE_RUN_DRAIN_MS=7'),
    );
  });

  test('traces where the file names a collector', async () => {
    const file = join(folder.path, 'traced.env');
    writeFileSync(file, 'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318\nOTEL_BSP_SCHEDULE_DELAY=7\n');
    const printed = await codeRun(['--config', file, '--print-config']);
    expect(printed.stdout).toMatch(
      /\nOTEL_BSP_SCHEDULE_DELAY=7\nOTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/127\.0\.0\.1:4318\n$/,
    );
    expect(
      (await codeRun(['--config', file, '--print-config'], { OTEL_BSP_SCHEDULE_DELAY: '8' })).stdout,
    ).toContain('OTEL_BSP_SCHEDULE_DELAY=8\n');
  });

  test.each([
    ['CODE_RUN_KEYS', 'k1:abc', /^code-run: CODE_RUN_KEYS key 1 \("k1"\): must be 32 bytes in base64/m],
    ['CODE_RUN_SANDBOX_TLS_CERT_FILE', '/x', /must be set together/],
    ['CODE_RUN_DRAIN', '1', /is not a setting; did you mean CODE_RUN_DRAIN_MS\? --help lists them all/],
  ])('does not start with %s=%s, and says why', async (name, value, message) => {
    const { code, stdout, stderr } = await codeRun([], {
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      [name]: value,
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`code-run: ${name}`);
    expect(stderr).toMatch(message);
  });

  test('says that a folder is no file of keys', async () => {
    const { code, stderr } = await codeRun(['settings', 'get'], { CODE_RUN_KEYS_FILE: folder.path });
    expect(code).toBe(2);
    expect(stderr).toBe(
      `code-run: CODE_RUN_KEYS_FILE ${folder.path} cannot be used, and CODE_RUN_KEYS is not set: it is a folder\n`,
    );
  });

  test('makes the folder of the defaults, for its user alone, and no other', async () => {
    const cwd = join(folder.path, 'fresh');
    mkdirSync(cwd);
    const here = ['-i', `--chdir=${cwd}`, 'PATH=/usr/bin:/bin', join(root, 'bin/code-run')];
    const started = await run('/usr/bin/env', [...here, 'settings', 'get']);
    expect(started.code).toBe(0);
    expect(statSync(join(cwd, '.data')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(cwd, '.data')).sort()).toEqual(['code-runs.db', 'code-runs.keys']);
  });

  test.each([
    ['code-run', 'CODE_RUN_GRPC_ADDRESS', {}],
    ['code-run', 'CODE_RUN_HTTP_ADDRESS', { CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0' }],
    ['sandbox', 'SANDBOX_LISTEN', {}],
    ['sandbox', 'SANDBOX_METRICS_ADDRESS', { SANDBOX_LISTEN: '127.0.0.1:0' }],
  ])('%s names the setting of an address that is in use: %s', async (name, setting, more) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const { code, stderr } = await command(name, [], { ...more, [setting]: address });
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
    expect([code, stderr]).toEqual([2, `code-run: --config: cannot read the file ${file}: ${why}\n`]);
  });

  test('does not serve others than loopback without client certificates as a sandbox', async () => {
    const { code, stderr } = await command('sandbox', [], { SANDBOX_LISTEN: '0.0.0.0:1' });
    expect(code).toBe(2);
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
      await play(embedded.core, start('throw new Error()', { session: 'cli' }), () => undefined);
      const [failed, waits] = await told('runs', 'list', 'cli');
      expect(failed).toMatchObject({ status: 'Failed', reason: 'Error', session: 'cli' });
      expect(waits).toMatchObject({ id: runId, status: 'Waiting', session: 'cli' });
      expect(waits).not.toHaveProperty('reason');
      expect(await told('runs', 'show', runId)).toMatchObject([
        { id: runId, calls: [{ arguments: {} }], limits: { memoryMb: 128 } },
      ]);
      expect(await told('rotate')).toMatchObject([{ rewrapped: 0, unreadable: [] }]);
      expect(await told('runs', 'cancel', runId)).toEqual([{ id: runId, status: 'Cancelled' }]);
      expect((await embedded.core.getCodeRun({ runId })).run?.result?.result.case).toBe('cancelled');
      expect(await told('runs', 'delete', 'cli')).toEqual([{ deleted: 2 }]);
      const missing = await codeRun(['runs', 'show', runId], own);
      expect([missing.code, missing.stderr]).toEqual([2, `code-run: there is no code run ${runId}\n`]);
      const wrong = await codeRun(['settings', 'set', 'memoryMb=lots'], own);
      expect([wrong.code, wrong.stderr]).toEqual([
        2,
        'code-run: memoryMb: must be a whole number from 16 to 1024\n',
      ]);
    } finally {
      await embedded.stop();
    }
  }, 120_000);
});
