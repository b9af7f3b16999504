/** Every setting of CodeRunService: its name, meaning, range and default. */
import { parseAddress } from '../shared/address.ts';
import { identityProblems, identityTable } from '../shared/auth/identity-config.ts';
import {
  ConfigError,
  integer,
  oneOf,
  optionalText,
  readConfig,
  type Sources,
  text,
  type Values,
} from '../shared/config.ts';
import {
  tlsClientProblems,
  tlsClientTable,
  tlsServerProblems,
  tlsServerTable,
} from '../shared/tls-config.ts';

/** For CODE_RUN_HTTP_ADDRESS: nothing is served on HTTP. */
export const httpOff = 'off';

const dayMs = 86_400_000;

const address = (value: string): void => {
  parseAddress(value);
};

export const codeRunTable = {
  ...identityTable,
  ...tlsServerTable('CODE_RUN_'),
  ...tlsClientTable('CODE_RUN_SANDBOX_'),
  grpcAddress: text('CODE_RUN_GRPC_ADDRESS', {
    what: 'Where gRPC is served: "host:port" or "unix:/path". Without identity: loopback only.',
    initial: '127.0.0.1:7410',
    check: address,
  }),
  httpAddress: text('CODE_RUN_HTTP_ADDRESS', {
    what: 'Where HTTP, Connect and gRPC-Web are served: "host:port", or "off". Without identity: loopback only.',
    initial: '127.0.0.1:7411',
    check: (value) => {
      if (value !== httpOff && parseAddress(value).kind === 'unix')
        throw new Error('must be "host:port" or "off"');
    },
  }),
  sandboxAddress: text('CODE_RUN_SANDBOX_ADDRESS', {
    what: 'SandboxService: "host:port", "dns:///name:port" (all its addresses, in turn) or "unix:/path".',
    initial: '127.0.0.1:7412',
    check: (value) => address(value.replace(/^dns:\/\/\//, '')),
  }),
  store: text('CODE_RUN_STORE', {
    what: 'Where runs are kept: "sqlite:<path>", "sqlite::memory:" or "mongodb://…". May hold a password.',
    initial: 'sqlite:.data/code-runs.db',
    secret: true,
    check: (value) => {
      if (/^sqlite:.|^mongodb(\+srv)?:\/\//.test(value)) return;
      throw new Error('must be "sqlite:<path>", "sqlite::memory:", "mongodb://…" or "mongodb+srv://…"');
    },
  }),
  keys: optionalText('CODE_RUN_KEYS', {
    what: 'Keys that wrap the data keys of runs, "id:base64" each, the active one first. Wins over the file.',
    secret: true,
  }),
  keysFile: text('CODE_RUN_KEYS_FILE', {
    what: 'File of such keys. With a SQLite store it is made, with one new key, if it is not there.',
    initial: '.data/code-runs.keys',
  }),
  transitUrl: optionalText('CODE_RUN_TRANSIT_URL', {
    what: 'Vault or OpenBao whose transit engine wraps the data keys: "https://host:8200". Local keys then only read.',
    check: (value) => {
      if (!/^https?:\/\/[^/]+\/?$/.test(value)) throw new Error('must be "https://host:port"');
    },
  }),
  transitKey: optionalText('CODE_RUN_TRANSIT_KEY', {
    what: 'Name of the key in the transit engine. Needed with the URL.',
  }),
  transitMount: text('CODE_RUN_TRANSIT_MOUNT', {
    what: 'Path of the transit engine.',
    initial: 'transit',
  }),
  transitTokenFile: optionalText('CODE_RUN_TRANSIT_TOKEN_FILE', {
    what: 'File with the token, read for each request: an agent may renew it. Needed with the URL.',
  }),
  transitNamespace: optionalText('CODE_RUN_TRANSIT_NAMESPACE', {
    what: 'Namespace of the transit engine, where the server has namespaces.',
  }),
  retentionDays: integer('CODE_RUN_RETENTION_DAYS', {
    what: 'Days after which a final run is deleted. 1 to 3650.',
    initial: 30,
    min: 1,
    max: 3650,
  }),
  abandonedAfterMs: integer('CODE_RUN_ABANDONED_AFTER_MS', {
    what: 'After this long without its core a run is Failed / Unavailable. Milliseconds, 1000 to 30 days.',
    initial: 3_600_000,
    min: 1000,
    max: 30 * dayMs,
  }),
  drainMs: integer('CODE_RUN_DRAIN_MS', {
    what: 'How long running attempts may end by themselves after SIGTERM. Milliseconds, 0 to one hour.',
    initial: 30_000,
    min: 0,
    max: 3_600_000,
  }),
  instance: optionalText('CODE_RUN_INSTANCE', {
    what: 'Name of this instance in leases, unique among those that share a store. Made up by default.',
  }),
  requestsPerSecond: integer('CODE_RUN_REQUESTS_PER_SECOND', {
    what: 'Requests that one caller may make in a second; a stream counts once. 1 to 1000000.',
    initial: 1000,
    min: 1,
    max: 1_000_000,
  }),
  logLevel: oneOf('CODE_RUN_LOG_LEVEL', {
    what: 'debug, info, warn, error or silent.',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    initial: 'info',
  }),
};

export type CodeRunConfig = Values<typeof codeRunTable>;

export function readCodeRunConfig(sources: Omit<Sources, 'prefix'>): CodeRunConfig {
  const config = readConfig(codeRunTable, { ...sources, prefix: 'CODE_RUN_' });
  const problems = relationsOf(config);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** What one value alone cannot show. */
function relationsOf(config: CodeRunConfig): string[] {
  return [
    ...transitProblems(config),
    ...tlsServerProblems('CODE_RUN_', config),
    ...tlsClientProblems('CODE_RUN_SANDBOX_', config, config.sandboxAddress),
    ...identityProblems(config, config.tlsClientCaFile !== undefined, {
      CODE_RUN_GRPC_ADDRESS: config.grpcAddress,
      ...(config.httpAddress === httpOff ? {} : { CODE_RUN_HTTP_ADDRESS: config.httpAddress }),
    }),
  ];
}

function transitProblems({ transitUrl, transitKey, transitTokenFile }: CodeRunConfig): string[] {
  const needed = { CODE_RUN_TRANSIT_KEY: transitKey, CODE_RUN_TRANSIT_TOKEN_FILE: transitTokenFile };
  if (transitUrl === undefined) return [];
  return Object.entries(needed)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${name} is needed with CODE_RUN_TRANSIT_URL`);
}
