/**
 * Every setting of every service, from the tables themselves: what it refuses, and that the error names it. A new
 * setting that this file has no case for fails it.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkCodeRun } from '../../services/code-run/check.ts';
import { codeRunTable, readCodeRunConfig } from '../../services/code-run/config.ts';
import {
  embeddedCodeRunTable,
  embeddedSandboxTable,
  readEmbeddedConfig,
} from '../../services/embedded/config.ts';
import { checkSandbox, readSandboxConfig, sandboxTable } from '../../services/sandbox/config.ts';
import { ConfigError, type Table, type Variable } from '../../services/shared/config.ts';
import { parseConfigFile } from '../../services/shared/config-file.ts';
import { printConfig } from '../../services/shared/config-text.ts';
import { Authority, writePem } from './certificates.ts';
import { Folder } from './processes.ts';

type Environment = Readonly<Record<string, string>>;

const key = randomBytes(32).toString('base64');
const secret = 'a secret of at least 32 bytes, please';
const tokens: Environment = {
  CODE_RUN_JWT_SECRET: secret,
  CODE_RUN_JWT_ISSUER: 'i',
  CODE_RUN_JWT_AUDIENCE: 'a',
};
const transit: Environment = {
  CODE_RUN_TRANSIT_URL: 'https://vault.example:8200',
  CODE_RUN_TRANSIT_KEY: 'runs',
  CODE_RUN_TRANSIT_TOKEN_FILE: '/nowhere/token',
};

let folder: Folder;
/** Files of TLS that fit each other. */
let pem: { readonly cert: string; readonly key: string; readonly ca: string };

beforeAll(async () => {
  folder = new Folder();
  const authority = await Authority.make('ca');
  const ca = join(folder.path, 'ca.crt');
  writeFileSync(ca, authority.pem);
  pem = { ...writePem(folder.path, 'own', await authority.issue('own')), ca };
});
afterAll(() => folder.remove());

/** Values of a text that are refused and taken, and what must be set beside it. */
interface Case {
  readonly bad: readonly string[];
  readonly good: readonly string[];
  readonly with?: () => Environment;
}

const addresses = [
  'everywhere',
  'host',
  'host:',
  ':1',
  'host:65536',
  'host:1x',
  '::1:80',
  '[host]:1',
  'unix:x',
  'http://h:1',
];
const serverTls = (prefix: string): Environment => ({
  [`${prefix}TLS_CERT_FILE`]: pem.cert,
  [`${prefix}TLS_KEY_FILE`]: pem.key,
  [`${prefix}TLS_CLIENT_CA_FILE`]: pem.ca,
});
const clientTls = (): Environment => ({
  CODE_RUN_SANDBOX_TLS_CERT_FILE: pem.cert,
  CODE_RUN_SANDBOX_TLS_KEY_FILE: pem.key,
  CODE_RUN_SANDBOX_TLS_CA_FILE: pem.ca,
  CODE_RUN_SANDBOX_TLS_NAME: 'sandbox',
});
const noUrl = [
  'nonsense',
  'ftp://h/',
  'http://example.com/',
  'http://0.0.0.0/',
  'https://a:b@h/',
  'https://h/#x',
];
const names = { bad: ['a,,b', ',', 'a,'], good: ['a', 'a, b'] };

const texts: Readonly<Record<string, Case>> = {
  CODE_RUN_GRPC_ADDRESS: { bad: addresses, good: ['127.0.0.1:0', '[::1]:7', 'localhost:1', 'unix:/tmp/s'] },
  CODE_RUN_HTTP_ADDRESS: { bad: [...addresses, 'unix:/tmp/s', 'OFF'], good: ['off', '127.0.0.1:0'] },
  CODE_RUN_SANDBOX_ADDRESS: {
    bad: [...addresses, 'host:0', 'dns:///host', 'dns:///unix:/s', 'dns://8.8.8.8/host:1'],
    good: ['host:1', 'dns:///host:1', 'unix:/tmp/s'],
  },
  CODE_RUN_STORE: {
    bad: [
      'sqlite:',
      'x.db',
      'postgres://h/x',
      'mongodb:h',
      'mongodb://',
      'mongodb://h/?wrong=1',
      'mongodb://h/%zz',
      'mongodb://h/?w=0',
    ],
    good: ['sqlite::memory:', 'mongodb://a:1,b/x?authSource=admin', 'mongodb+srv://h/x'],
    with: () => ({ CODE_RUN_KEYS: `k:${key}` }),
  },
  CODE_RUN_KEYS: {
    bad: ['k1', 'k1:abc', key, `k:${key} k:${key}`, ','],
    good: [`b:${key}\na:${key}`, `b:${key},a:${key}`],
  },
  CODE_RUN_TRANSIT_URL: {
    bad: [...noUrl, 'https://h/v1', 'https://h/?x=1'],
    good: ['https://h:8200', 'https://h:8200/', 'http://127.0.0.1:8200', 'http://[::1]:8200'],
    with: () => transit,
  },
  CODE_RUN_TRANSIT_KEY: { bad: ['a/b', '../x', '-', 'a b'], good: ['a', 'a-b.c_1'], with: () => transit },
  CODE_RUN_TRANSIT_MOUNT: { bad: ['/a', 'a/', 'a//b', 'a?b'], good: ['kv/transit'], with: () => transit },
  CODE_RUN_TRANSIT_NAMESPACE: { bad: ['/a', 'a/', '..'], good: ['admin/team'], with: () => transit },
  CODE_RUN_INSTANCE: { bad: ['x'.repeat(257)], good: ['x'.repeat(256)] },
  CODE_RUN_JWKS_URL: {
    bad: noUrl,
    good: ['https://h/keys?x=1', 'http://localhost:1/', 'http://[::1]/'],
    with: () => ({ CODE_RUN_JWT_ISSUER: 'i', CODE_RUN_JWT_AUDIENCE: 'a' }),
  },
  CODE_RUN_JWT_SECRET: { bad: ['x'.repeat(31)], good: ['x'.repeat(32), 'ä'.repeat(16)], with: () => tokens },
  CODE_RUN_JWT_ISSUER: { bad: [], good: ['https://id.example.com'], with: () => tokens },
  CODE_RUN_JWT_AUDIENCE: { bad: [], good: ['code-mode'], with: () => tokens },
  CODE_RUN_TLS_CLIENT_NAMES: { ...names, with: () => serverTls('CODE_RUN_') },
  CODE_RUN_SANDBOX_TLS_NAME: { bad: [], good: ['sandbox.internal'], with: clientTls },
  SANDBOX_LISTEN: { bad: addresses, good: ['127.0.0.1:0', 'unix:/tmp/s'] },
  SANDBOX_METRICS_ADDRESS: { bad: addresses, good: ['127.0.0.1:0', 'unix:/tmp/s'] },
  SANDBOX_TLS_CLIENT_NAMES: { ...names, with: () => serverTls('SANDBOX_') },
};

/** Files, with what else is set where they are looked at, and whether they hold a secret. */
const files: Readonly<Record<string, { readonly with: () => Environment; readonly secret: boolean }>> = {
  CODE_RUN_TLS_CERT_FILE: { with: () => serverTls('CODE_RUN_'), secret: false },
  CODE_RUN_TLS_KEY_FILE: { with: () => serverTls('CODE_RUN_'), secret: true },
  CODE_RUN_TLS_CLIENT_CA_FILE: { with: () => serverTls('CODE_RUN_'), secret: false },
  CODE_RUN_SANDBOX_TLS_CERT_FILE: { with: clientTls, secret: false },
  CODE_RUN_SANDBOX_TLS_KEY_FILE: { with: clientTls, secret: true },
  CODE_RUN_SANDBOX_TLS_CA_FILE: { with: clientTls, secret: false },
  CODE_RUN_KEYS_FILE: { with: () => ({}), secret: true },
  CODE_RUN_TRANSIT_TOKEN_FILE: { with: () => transit, secret: true },
  SANDBOX_TLS_CERT_FILE: { with: () => serverTls('SANDBOX_'), secret: false },
  SANDBOX_TLS_KEY_FILE: { with: () => serverTls('SANDBOX_'), secret: true },
  SANDBOX_TLS_CLIENT_CA_FILE: { with: () => serverTls('SANDBOX_'), secret: false },
};

interface Service {
  readonly table: Table;
  readonly configure: (environment: Environment) => Promise<unknown>;
  readonly print: (environment: Environment, file?: string) => string;
}

const sourcesOf = (environment: Environment, file?: string) => ({
  environment,
  ...(file === undefined ? {} : { file: parseConfigFile(file, 'f.env') }),
});
const services: Readonly<Record<string, Service>> = {
  'code-run': {
    table: codeRunTable,
    configure: async (environment) => await checkCodeRun(readCodeRunConfig({ environment })),
    print: (environment, file) => printConfig(codeRunTable, readCodeRunConfig(sourcesOf(environment, file))),
  },
  sandbox: {
    table: sandboxTable,
    configure: async (environment) => checkSandbox(readSandboxConfig({ environment })),
    print: (environment, file) => printConfig(sandboxTable, readSandboxConfig(sourcesOf(environment, file))),
  },
  embedded: {
    table: { ...prefixed('code-run', embeddedCodeRunTable), ...prefixed('sandbox', embeddedSandboxTable) },
    configure: async (environment) => await checkCodeRun(readEmbeddedConfig({ environment }).codeRun),
    print: (environment, file) => readEmbeddedConfig(sourcesOf(environment, file)).text,
  },
};

function prefixed(prefix: string, table: Table): Table {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [`${prefix} ${name}`, entry]));
}

async function problemsOf(service: Service, environment: Environment): Promise<readonly string[]> {
  try {
    await service.configure(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const all = Object.entries(services).flatMap(([name, service]) =>
  Object.values(service.table).map((variable) => [name, variable.name, variable, service] as const),
);
const ranged = (variable: Variable<unknown>) => /^(-?\d+) to (\d+)/.exec(variable.range ?? '');
const isText = (variable: Variable<unknown>) => variable.range === undefined;

/** A problem that says what this variable must be, and shows its value only if that is no secret. */
function expectProblem(problems: readonly string[], variable: Variable<unknown>, value: string): void {
  expect(
    problems.filter((one) => one.startsWith(variable.name)),
    `${variable.name}=${value}`,
  ).toHaveLength(1);
  expect(problems.join('\n')).toMatch(/ (must|holds|has|key \d|two|names|w |readPreference|option|cannot)/);
  if (variable.mask !== undefined && /^[^:]{8,}$|@/.test(value))
    expect(problems.join('\n')).not.toContain(value);
}

test('every setting has a case', () => {
  const known = [...Object.keys(texts), ...Object.keys(files)];
  const open = all.filter(([, name, variable]) => isText(variable) && !known.includes(name));
  expect(open.map(([, name]) => name)).toEqual([]);
  expect(known.filter((name) => !all.some(([, other]) => other === name))).toEqual([]);
});

const integers = all.filter(([, , variable]) => ranged(variable));
const lists = all.filter(([, , variable]) => !isText(variable) && !ranged(variable));

test.each(all)('%s: %s says what it means, and starts from a default that it takes', (_, name, variable) => {
  expect(variable.what).toMatch(/[.]$/);
  if (variable.initial !== undefined)
    expect(variable.read(variable.initial, name)).toEqual(variable.fallback);
});

test.each(integers)('%s: %s takes its range, and no number beyond', async (_, name, variable, service) => {
  const [, min, max] = ranged(variable) ?? [];
  for (const good of [min, max]) {
    expect(await problemsOf(service, { [name]: String(good) })).toEqual([]);
  }
  const beyond = [Number(min) - 1, Number(max) + 1, '1e3', '0x10', '1.5', '1_000', ' 5', 'one', '٣'];
  for (const bad of beyond) {
    expect(await problemsOf(service, { [name]: String(bad) })).toEqual([
      `${name} must be a whole number from ${min} to ${max}, is ${JSON.stringify(String(bad))}`,
    ]);
  }
});

test.each(lists)('%s: %s takes what is listed, and nothing else', async (_, name, variable, service) => {
  const listed = (variable.range ?? '').split(/, | or /);
  expect(listed.length).toBeGreaterThan(1);
  const beside: Environment = name === 'SANDBOX_SECCOMP_LOG_ONLY' ? { SANDBOX_LOCK: 'insecure' } : {};
  for (const good of listed) expect(await problemsOf(service, { ...beside, [name]: good })).toEqual([]);
  for (const bad of ['perhaps', '1', ` ${listed[0]}`, String(listed[0]).toUpperCase()]) {
    expectProblem(await problemsOf(service, { [name]: bad }), variable, bad);
  }
});

test.each(all.filter(([, name]) => texts[name] !== undefined))(
  '%s: %s takes what it should, and nothing else',
  async (_, name, variable, service) => {
    const { bad, good, with: beside = () => ({}) } = texts[name] ?? { bad: [], good: [] };
    const base = { CODE_RUN_KEYS_FILE: join(folder.path, 'made'), ...beside() };
    for (const value of good)
      expect(await problemsOf(service, { ...base, [name]: value }), value).toEqual([]);
    const lines = name === 'CODE_RUN_KEYS' ? [] : ['a\nb', 'a\u0000b', '\u007f'];
    for (const value of [...bad, ...lines, ' x', 'x ']) {
      expectProblem(await problemsOf(service, { ...base, [name]: value }), variable, value);
    }
  },
);

test.each(all.filter(([, name]) => files[name] !== undefined))(
  '%s: %s takes a file that it can use, and nothing else',
  async (_, name, variable, service) => {
    const { with: beside, secret } = files[name] ?? { with: () => ({}), secret: false };
    const good = { CODE_RUN_KEYS_FILE: join(folder.path, 'good-keys'), ...beside() };
    writeFileSync(good.CODE_RUN_KEYS_FILE, `k:${key}`, { mode: 0o600 });
    expect(await problemsOf(service, good)).toEqual([]);

    const mayBeMissing = ['CODE_RUN_KEYS_FILE', 'CODE_RUN_TRANSIT_TOKEN_FILE'].includes(name);
    const missing = join(folder.path, 'no-such-file');
    expect(await problemsOf(service, { ...good, [name]: missing })).toEqual(
      mayBeMissing ? [] : [`${name}: cannot use ${missing}: there is no such file`],
    );
    const nested = { ...good, [name]: join(folder.path, 'own.crt/x') };
    expectProblem(await problemsOf(service, nested), variable, '');

    const directory = join(folder.path, 'directory');
    mkdirSync(directory, { recursive: true });
    const [problem, ...more] = await problemsOf(service, { ...good, [name]: directory });
    expect(more).toEqual([]);
    expect(problem).toMatch(new RegExp(`^${name}:? .*${directory}.* it is a folder$`));

    const garbage = join(folder.path, 'garbage');
    for (const content of name === 'CODE_RUN_TRANSIT_TOKEN_FILE' ? [] : ['', 'hunter2 hunter2']) {
      writeFileSync(garbage, content, { mode: 0o600 });
      const problems = await problemsOf(service, { ...good, [name]: garbage });
      expectProblem(problems, variable, '');
      expect(problems.join()).toContain(garbage);
      expect(problems.join()).not.toContain('hunter2');
    }

    for (const mode of [0o644, 0o640, 0o660, 0o604]) {
      const open = join(folder.path, `mode-${mode.toString(8)}`);
      writeFileSync(open, name.includes('_KEY_FILE') ? 'x' : `k:${key}`);
      chmodSync(open, mode);
      const problems = await problemsOf(service, { ...good, [name]: open });
      const why = `it must be for its owner alone (chmod 600), its mode is 0${mode.toString(8)}`;
      expect(problems.some((one) => one.startsWith(name) && one.endsWith(why))).toBe(secret);
    }
  },
);

describe.each(Object.entries(services))('%s', (_, { print, table }) => {
  const secrets: Record<string, string> = {
    CODE_RUN_STORE: 'mongodb://ann:hunter2@a,b/x?w=majority',
    CODE_RUN_KEYS: `k:${key}`,
    CODE_RUN_JWKS_URL: 'https://h/keys?token=hunter2',
    CODE_RUN_JWT_ISSUER: 'i',
    CODE_RUN_JWT_AUDIENCE: 'an "audience" # of words',
  };
  const given = Object.fromEntries(
    Object.entries(secrets).filter(([name]) => Object.values(table).some((entry) => entry.name === name)),
  );

  test('prints settings that it takes back as they were', () => {
    const [store, keys] = ['mongodb://a,b/x?w=majority', undefined];
    const open = {
      ...given,
      CODE_RUN_STORE: store,
      CODE_RUN_JWKS_URL: 'https://h/keys',
      CODE_RUN_KEYS: keys ?? '',
    };
    const environment = Object.fromEntries(Object.entries(open).filter(([name]) => name in given));
    const printed = print(environment);
    expect(print({}, printed)).toBe(printed);
  });

  test('prints no secret, and takes no mask for one', () => {
    const printed = print(given);
    expect(printed).not.toMatch(/hunter2/);
    expect(printed).not.toContain(key);
    const masked = printed
      .split('\n')
      .flatMap((line) => (line.includes('***') ? [line.split('=')[0] ?? ''] : []));
    expect(masked).toEqual(
      Object.keys(given)
        .filter((name) => name !== 'CODE_RUN_JWT_ISSUER' && name !== 'CODE_RUN_JWT_AUDIENCE')
        .sort(byTable(table)),
    );
    const problems = masked.map((name) => `${name} must be the secret itself: *** only stands for one`);
    const told = () => print({}, printed);
    if (masked.length === 0) expect(told()).toBe(printed);
    else for (const problem of problems) expect(told).toThrow(problem);
    expect(print(given, printed)).toBe(printed);
  });
});

function byTable(table: Table): (a: string, b: string) => number {
  const order = Object.values(table).map(({ name }) => name);
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}

describe('settings together', () => {
  const codeRun = services['code-run'] as Service;
  const sandbox = services['sandbox'] as Service;
  const embedded = services['embedded'] as Service;

  test.each<[Environment, string]>([
    [
      { CODE_RUN_TLS_CERT_FILE: '/x' },
      'CODE_RUN_TLS_CERT_FILE and CODE_RUN_TLS_KEY_FILE must be set together',
    ],
    [
      { CODE_RUN_TLS_CLIENT_CA_FILE: '/x' },
      'CODE_RUN_TLS_CERT_FILE must be set where CODE_RUN_TLS_CLIENT_CA_FILE is',
    ],
    [
      { CODE_RUN_TLS_CLIENT_NAMES: 'a' },
      'CODE_RUN_TLS_CLIENT_CA_FILE must be set where CODE_RUN_TLS_CLIENT_NAMES is',
    ],
    [
      { CODE_RUN_SANDBOX_TLS_CA_FILE: '/x' },
      'CODE_RUN_SANDBOX_TLS_CERT_FILE, CODE_RUN_SANDBOX_TLS_KEY_FILE, CODE_RUN_SANDBOX_TLS_CA_FILE must be set together',
    ],
    [
      { CODE_RUN_SANDBOX_TLS_NAME: 'a' },
      'CODE_RUN_SANDBOX_TLS_CA_FILE must be set where CODE_RUN_SANDBOX_TLS_NAME is',
    ],
    [{ CODE_RUN_TRANSIT_KEY: 'a' }, 'CODE_RUN_TRANSIT_URL must be set where CODE_RUN_TRANSIT_KEY is'],
    [
      { CODE_RUN_TRANSIT_TOKEN_FILE: '/x' },
      'CODE_RUN_TRANSIT_URL must be set where CODE_RUN_TRANSIT_TOKEN_FILE is',
    ],
    [
      { CODE_RUN_TRANSIT_NAMESPACE: 'a' },
      'CODE_RUN_TRANSIT_URL must be set where CODE_RUN_TRANSIT_NAMESPACE is',
    ],
    [{ ...transit, CODE_RUN_TRANSIT_KEY: '' }, 'CODE_RUN_TRANSIT_KEY is needed with CODE_RUN_TRANSIT_URL'],
    [
      { ...tokens, CODE_RUN_JWKS_URL: 'https://h/' },
      'CODE_RUN_JWKS_URL and CODE_RUN_JWT_SECRET exclude each other: set one',
    ],
    [{ ...tokens, CODE_RUN_JWT_ISSUER: '' }, 'CODE_RUN_JWT_ISSUER must be set: tokens are checked for it'],
    [
      { CODE_RUN_JWT_ISSUER: 'i' },
      'CODE_RUN_JWKS_URL or CODE_RUN_JWT_SECRET must be set where CODE_RUN_JWT_ISSUER or _AUDIENCE is',
    ],
    [{ MONGODB_URI: 'sqlite:x' }, 'MONGODB_URI must be "mongodb://…" or "mongodb+srv://…"'],
    [
      { MONGODB_URI: 'mongodb://h/?wrong=1', CODE_RUN_KEYS: `k:${key}` },
      'MONGODB_URI cannot be used: option wrong is not supported',
    ],
    [
      { MONGODB_URI: 'mongodb://h/', CODE_RUN_KEYS_FILE: '/nowhere/keys' },
      'CODE_RUN_KEYS_FILE /nowhere/keys cannot be used, and CODE_RUN_KEYS is not set: there is no such file',
    ],
    [
      { CODE_RUN_STORE: 'sqlite:/nowhere/x.db', CODE_RUN_KEYS: `k:${key}` },
      'CODE_RUN_STORE names a file in /nowhere, which is no folder: make it, or name another',
    ],
    [
      { CODE_RUN_STORE: 'sqlite:/', CODE_RUN_KEYS: `k:${key}` },
      'CODE_RUN_STORE names a folder, /: name a file',
    ],
    [
      { CODE_RUN_STORE: 'sqlite::memory:', CODE_RUN_KEYS_FILE: '/nowhere/keys' },
      'CODE_RUN_KEYS_FILE names a file in /nowhere, which is no folder: make it, or name another',
    ],
  ])('of code-run are refused: %o', async (environment, problem) => {
    expect(await problemsOf(codeRun, environment)).toEqual([problem]);
  });

  test.each<[Environment, string]>([
    [
      { SANDBOX_LISTEN: '0.0.0.0:1' },
      'SANDBOX_LISTEN must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set',
    ],
    [
      { SANDBOX_METRICS_ADDRESS: '0.0.0.0:1' },
      'SANDBOX_METRICS_ADDRESS must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set',
    ],
    [
      { SANDBOX_SECCOMP_LOG_ONLY: 'true' },
      'SANDBOX_SECCOMP_LOG_ONLY must be false while SANDBOX_LOCK is required: nothing would be locked in',
    ],
  ])('of a sandbox are refused: %o', async (environment, problem) => {
    expect(await problemsOf(sandbox, environment)).toEqual([problem]);
  });

  test('of a sandbox with client certificates may serve others, metrics too', async () => {
    const open = { SANDBOX_LISTEN: '0.0.0.0:1', SANDBOX_METRICS_ADDRESS: '0.0.0.0:2' };
    expect(await problemsOf(sandbox, { ...serverTls('SANDBOX_'), ...open })).toEqual([]);
  });

  test.each<[Environment, string]>([
    [
      { CODE_RUN_GRPC_ADDRESS: '0.0.0.0:1', ...tokens },
      'CODE_RUN_GRPC_ADDRESS must be on loopback: the all-in-one start serves this machine alone',
    ],
    [
      { CODE_RUN_HTTP_ADDRESS: '0.0.0.0:1', ...tokens },
      'CODE_RUN_HTTP_ADDRESS must be on loopback: the all-in-one start serves this machine alone',
    ],
    [{ SANDBOX_LISTEN: 'unix:/s' }, 'SANDBOX_LISTEN is not a setting; --help lists them all'],
    [
      { SANDBOX_JITT: 'true' },
      'SANDBOX_JITT is not a setting; did you mean SANDBOX_JIT? --help lists them all',
    ],
    [
      { SANDBOX_METRICS_ADDRESS: '0.0.0.0:1' },
      'SANDBOX_METRICS_ADDRESS must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set',
    ],
  ])('of the all-in-one start are refused: %o', async (environment, problem) => {
    expect(await problemsOf(embedded, environment)).toEqual([problem]);
  });

  test('of a store by either name are one', () => {
    const store = (environment: Environment) => {
      const { store: url, storeSetting } = readCodeRunConfig({ environment });
      return [url, storeSetting];
    };
    expect(store({})).toEqual(['sqlite:.data/code-runs.db', 'CODE_RUN_STORE']);
    expect(store({ MONGODB_URI: 'mongodb://a' })).toEqual(['mongodb://a', 'MONGODB_URI']);
    expect(store({ MONGODB_URI: 'mongodb://a', CODE_RUN_STORE: 'sqlite:b' })).toEqual([
      'sqlite:b',
      'CODE_RUN_STORE',
    ]);
  });

  test('of the all-in-one start reach its sandbox', () => {
    const { sandboxEnvironment } = readEmbeddedConfig({
      environment: { CODE_RUN_LOG_LEVEL: 'debug' },
      file: parseConfigFile('SANDBOX_JIT=true\nCODE_RUN_DRAIN_MS=1\n', 'f.env'),
    });
    expect(sandboxEnvironment).toMatchObject({
      SANDBOX_JIT: 'true',
      SANDBOX_LOCK: 'development',
      SANDBOX_LOG_LEVEL: 'debug',
    });
    expect(Object.keys(sandboxEnvironment).filter((name) => !name.startsWith('SANDBOX_'))).toEqual([]);
  });
});
