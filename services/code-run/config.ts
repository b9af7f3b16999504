/** Every setting of CodeRunService: its name, meaning, range and default. */
import { parseAddress, parseTarget } from '../shared/address.ts';
import { identityProblems, identityTable } from '../shared/auth/identity-config.ts';
import { integer, oneOf, optionalText, text, type Values } from '../shared/config.ts';
import { ConfigReader, type Sources } from '../shared/config-reader.ts';
import { type CallLimits, callRanges, heldBytesRange, limits } from '../shared/limits.ts';
import { checkSecureUrl } from '../shared/secure-url.ts';
import { exceedsUtf8 } from '../shared/text.ts';
import {
  tlsClientProblems,
  tlsClientTable,
  tlsServerProblems,
  tlsServerTable,
} from '../shared/tls-config.ts';
import { parseLocalKeys } from './crypto/local-keys.ts';

/** For CODE_RUN_HTTP_ADDRESS: nothing is served on HTTP. */
export const httpOff = 'off';

const dayMs = 86_400_000;

/** A segment of a path of the transit engine. */
const transitWord = /^\w(?:[\w.-]*\w)?$/;

function ranged(limit: keyof CallLimits, name: string, what: string, unit: string) {
  const { min, max, initial } = callRanges[limit];
  return integer(name, { what: `${what} A run keeps what it started with.`, unit, initial, min, max });
}

export const codeRunTable = {
  ...identityTable,
  ...tlsServerTable('CODE_RUN_'),
  ...tlsClientTable('CODE_RUN_SANDBOX_'),
  grpcAddress: text('CODE_RUN_GRPC_ADDRESS', {
    what: 'Where gRPC is served: "host:port" or "unix:/path". Without identity: loopback only.',
    initial: '127.0.0.1:7410',
    check: parseAddress,
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
    check: parseTarget,
  }),
  store: text('CODE_RUN_STORE', {
    what:
      'Where runs are kept: "sqlite:<path>", "sqlite::memory:" or "mongodb://…". Not set: MONGODB_URI, and without ' +
      'that the default.',
    otherName: 'MONGODB_URI',
    initial: 'sqlite:.data/code-runs.db',
    secret: 'url',
    check: (value, name) => {
      if (/^mongodb(\+srv)?:\/\/[^/?#]/.test(value)) return;
      if (name === 'MONGODB_URI') throw new Error('must be "mongodb://…" or "mongodb+srv://…"');
      if (/^sqlite:./.test(value)) return;
      throw new Error('must be "sqlite:<path>", "sqlite::memory:", "mongodb://…" or "mongodb+srv://…"');
    },
  }),
  keys: optionalText('CODE_RUN_KEYS', {
    what: 'Keys that wrap the data keys of runs, "id:base64" each, the active one first. Wins over the file.',
    secret: 'whole',
    lines: true,
    check: (value) => {
      parseLocalKeys(value);
    },
  }),
  keysFile: text('CODE_RUN_KEYS_FILE', {
    what: 'File of such keys, for its owner alone. With a SQLite store it is made, with one new key, if it is not there.',
    initial: '.data/code-runs.keys',
  }),
  transitUrl: optionalText('CODE_RUN_TRANSIT_URL', {
    what: 'Vault or OpenBao whose transit engine wraps the data keys: "https://host:8200". Local keys then only read.',
    secret: 'url',
    check: (value) => {
      const { pathname, search } = checkSecureUrl(value);
      if (pathname !== '/' || search !== '') throw new Error('must be "https://host:port", without a path');
    },
  }),
  transitKey: optionalText('CODE_RUN_TRANSIT_KEY', {
    what: 'Name of the key in the transit engine. Needed with the URL.',
    check: (value) => {
      if (!transitWord.test(value)) throw new Error('must be letters, digits, "_", "." and "-"');
    },
  }),
  transitMount: text('CODE_RUN_TRANSIT_MOUNT', {
    what: 'Path of the transit engine.',
    initial: 'transit',
    check: checkTransitPath,
  }),
  transitTokenFile: optionalText('CODE_RUN_TRANSIT_TOKEN_FILE', {
    what: 'File with the token, read for each request: an agent may renew it. Needed with the URL.',
  }),
  transitNamespace: optionalText('CODE_RUN_TRANSIT_NAMESPACE', {
    what: 'Namespace of the transit engine, where the server has namespaces.',
    check: checkTransitPath,
  }),
  retentionDays: integer('CODE_RUN_RETENTION_DAYS', {
    what: 'How long a final run is kept after its last change.',
    unit: 'days',
    initial: 30,
    min: 1,
    max: 3650,
  }),
  abandonedAfterMs: integer('CODE_RUN_ABANDONED_AFTER_MS', {
    what: 'After this long without its core a run is Failed / Unavailable.',
    unit: 'milliseconds',
    initial: 3_600_000,
    min: 1000,
    max: 30 * dayMs,
  }),
  drainMs: integer('CODE_RUN_DRAIN_MS', {
    what: 'How long running attempts may end by themselves after SIGTERM.',
    unit: 'milliseconds',
    initial: 30_000,
    min: 0,
    max: 3_600_000,
  }),
  instance: optionalText('CODE_RUN_INSTANCE', {
    what: 'Name of this instance in leases, unique among those that share a store. Not set: made up.',
    check: (value) => {
      if (exceedsUtf8(value, limits.idBytesMax))
        throw new Error(`must be at most ${limits.idBytesMax} bytes`);
    },
  }),
  requestsPerSecond: integer('CODE_RUN_REQUESTS_PER_SECOND', {
    what: 'Requests of one caller; a stream counts once. Also those of one address that show no valid identity.',
    unit: 'requests a second',
    initial: 1000,
    min: 1,
    max: 1_000_000,
  }),
  callsMax: ranged('callsMax', 'CODE_RUN_CALLS_MAX', 'Calls of one run.', 'calls'),
  callsInFlightMax: ranged(
    'callsInFlightMax',
    'CODE_RUN_CALLS_IN_FLIGHT_MAX',
    'Calls of one run that are with the core at once; more queue in order.',
    'calls',
  ),
  argumentsBytesMax: ranged(
    'argumentsBytesMax',
    'CODE_RUN_ARGUMENTS_BYTES_MAX',
    'Arguments of one call, as JSON.',
    'bytes',
  ),
  resultBytesMax: ranged(
    'resultBytesMax',
    'CODE_RUN_RESULT_BYTES_MAX',
    'Result of one call, as JSON.',
    'bytes',
  ),
  heldBytesMax: integer('CODE_RUN_HELD_BYTES_MAX', {
    what: 'Arguments and results that all attempts of this instance hold together. Past it the largest is given up.',
    unit: 'bytes',
    ...heldBytesRange,
  }),
  logLevel: oneOf('CODE_RUN_LOG_LEVEL', {
    what: 'What is logged: this and what is worse.',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    initial: 'info',
  }),
};

export interface CodeRunConfig extends Values<typeof codeRunTable> {
  /** The variable that names the store. */
  readonly storeSetting: string;
  /** A key file that is not there is made. Where instances share a store, none could read the runs of another. */
  readonly makesKeyFile: boolean;
}

export const codeRunPrefix = 'CODE_RUN_';

/** Throws ConfigError. */
export function readCodeRunConfig(sources: Sources): CodeRunConfig {
  const reader = new ConfigReader(sources, [{ table: codeRunTable, prefix: codeRunPrefix }]);
  const values = reader.values(codeRunTable);
  const config = {
    ...values,
    storeSetting: reader.nameOf(codeRunTable.store),
    makesKeyFile: values.store.startsWith('sqlite:'),
  };
  reader.relate(() => codeRunRelations(config));
  reader.finish();
  return config;
}

/** What one value alone cannot show. */
export function codeRunRelations(config: CodeRunConfig): string[] {
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

function transitProblems(config: CodeRunConfig): string[] {
  const { transitUrl, transitKey, transitTokenFile, transitNamespace } = config;
  const needed = { CODE_RUN_TRANSIT_KEY: transitKey, CODE_RUN_TRANSIT_TOKEN_FILE: transitTokenFile };
  if (transitUrl !== undefined) {
    return Object.entries(needed)
      .filter(([, value]) => value === undefined)
      .map(([name]) => `${name} is needed with CODE_RUN_TRANSIT_URL`);
  }
  return Object.entries({ ...needed, CODE_RUN_TRANSIT_NAMESPACE: transitNamespace })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `CODE_RUN_TRANSIT_URL must be set where ${name} is`);
}

function checkTransitPath(value: string): void {
  if (!value.split('/').every((word) => transitWord.test(word))) {
    throw new Error('must be letters, digits, "_", "." and "-", with "/" between the parts of a path');
  }
}
