/** Settings that are wrong, or mean something, only together. */
import { describe, expect, test } from 'vitest';
import { readCodeRunConfig } from '../../services/code-run/config.ts';
import { readEmbeddedConfig } from '../../services/embedded/config.ts';
import { parseConfigFile } from '../../services/shared/config-file.ts';
import {
  type Environment,
  key,
  problemsOf,
  type Service,
  serverTls,
  services,
  tokens,
  transit,
} from './setting-cases.ts';

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
