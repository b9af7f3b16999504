/** Values of every setting that are refused and taken, and the services that take them, for the tests of both. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { checkCodeRun } from '../../services/code-run/check.ts';
import { codeRunTable, readCodeRunConfig } from '../../services/code-run/config.ts';
import {
  embeddedCodeRunTable,
  embeddedSandboxTable,
  readEmbeddedConfig,
} from '../../services/embedded/config.ts';
import { checkSandbox, readSandboxConfig, sandboxTable } from '../../services/sandbox/config.ts';
import { ConfigError, type Table } from '../../services/shared/config.ts';
import { parseConfigFile } from '../../services/shared/config-file.ts';
import { printConfig } from '../../services/shared/config-text.ts';
import { Authority, writePem } from './certificates.ts';
import { Folder } from './processes.ts';

export type Environment = Readonly<Record<string, string>>;

export const key = randomBytes(32).toString('base64');
const secret = 'a secret of at least 32 bytes, please';
export const tokens: Environment = {
  CODE_RUN_JWT_SECRET: secret,
  CODE_RUN_JWT_ISSUER: 'i',
  CODE_RUN_JWT_AUDIENCE: 'a',
};
export const transit: Environment = {
  CODE_RUN_TRANSIT_URL: 'https://vault.example:8200',
  CODE_RUN_TRANSIT_KEY: 'runs',
  CODE_RUN_TRANSIT_TOKEN_FILE: '/nowhere/token',
};

export let folder: Folder;
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
export interface Case {
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
export const serverTls = (prefix: string): Environment => ({
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

export const texts: Readonly<Record<string, Case>> = {
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
export const files: Readonly<Record<string, { readonly with: () => Environment; readonly secret: boolean }>> =
  {
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

export interface Service {
  readonly table: Table;
  readonly configure: (environment: Environment) => Promise<unknown>;
  readonly print: (environment: Environment, file?: string) => string;
}

export const sourcesOf = (environment: Environment, file?: string) => ({
  environment,
  ...(file === undefined ? {} : { file: parseConfigFile(file, 'f.env') }),
});
export const services: Readonly<Record<string, Service>> = {
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

export async function problemsOf(service: Service, environment: Environment): Promise<readonly string[]> {
  try {
    await service.configure(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
