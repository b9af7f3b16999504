/** Every setting of SandboxService: its name, meaning, range and default. */
import { isLoopback, parseAddress } from '../shared/address.ts';
import {
  ConfigError,
  flag,
  integer,
  oneOf,
  optionalText,
  readConfig as read,
  type Sources,
  text,
  type Values,
} from '../shared/config.ts';
import { settingRanges } from '../shared/limits.ts';
import { tlsServerProblems, tlsServerTable } from '../shared/tls-config.ts';

export const sandboxTable = {
  ...tlsServerTable('SANDBOX_'),
  listen: text('SANDBOX_LISTEN', {
    what: 'Where gRPC is served: "host:port" or "unix:/path". Without client certificates: loopback only.',
    initial: '127.0.0.1:7412',
    check: (value) => {
      parseAddress(value);
    },
  }),
  metricsAddress: optionalText('SANDBOX_METRICS_ADDRESS', {
    what: 'Where /metrics is served over HTTP, "host:port" or "unix:/path": counts alone. Not set: nowhere.',
    check: (value) => {
      parseAddress(value);
    },
  }),
  runningMax: integer('SANDBOX_RUNNING_MAX', {
    what: 'Programs at once. 1 to 100000.',
    initial: 256,
    min: 1,
    max: 100_000,
  }),
  queuedMax: integer('SANDBOX_QUEUED_MAX', {
    what: 'Jobs that may wait for a process. 0 to 1000000.',
    initial: 1024,
    min: 0,
    max: 1_000_000,
  }),
  readyTarget: integer('SANDBOX_READY_TARGET', {
    what: 'Processes kept ready for a job. 0 to 1000.',
    initial: 4,
    min: 0,
    max: 1000,
  }),
  backstopFactor: integer('SANDBOX_BACKSTOP_FACTOR', {
    what: 'A program is ended that ran on the wall clock for timeoutMs × this + SANDBOX_BACKSTOP_GRACE_MS.',
    initial: 4,
    min: 1,
    max: 1000,
  }),
  backstopGraceMs: integer('SANDBOX_BACKSTOP_GRACE_MS', {
    what: 'See SANDBOX_BACKSTOP_FACTOR. Milliseconds, 1 to 600000.',
    initial: 5000,
    min: 1,
    max: 600_000,
  }),
  drainMs: integer('SANDBOX_DRAIN_MS', {
    what: 'How long running programs may end by themselves after SIGTERM. Milliseconds, 0 to one hour.',
    initial: 30_000,
    min: 0,
    max: 3_600_000,
  }),
  exitWithStdin: flag('SANDBOX_EXIT_WITH_STDIN', {
    what: 'End when standard input does: for a parent that starts it.',
    initial: false,
  }),
  firstTimeoutMs: ranged(
    'SANDBOX_FIRST_TIMEOUT_MS',
    'The timeoutMs that the first processes are made for.',
    'timeoutMs',
  ),
  firstMemoryMb: ranged(
    'SANDBOX_FIRST_MEMORY_MB',
    'The memoryMb that the first processes are made for.',
    'memoryMb',
  ),
  lock: oneOf('SANDBOX_LOCK', {
    what:
      'Where a required layer of the lock is missing: "required" fails the start, "development" goes on with a ' +
      'warning if only this host can reach it, "insecure" goes on with a warning.',
    values: ['required', 'development', 'insecure'],
    initial: 'required',
  }),
  children: oneOf('SANDBOX_CHILDREN', {
    what: 'How processes are made: "auto" forks them, and starts them where the self-test of the fork fails.',
    values: ['auto', 'forked', 'started'],
    initial: 'auto',
  }),
  jit: flag('SANDBOX_JIT', {
    what:
      'The engine makes machine code: faster loops, at the price of the class of engine bugs behind half of ' +
      'all escapes, and of the rule that nothing new becomes executable.',
    initial: false,
  }),
  seccompLogOnly: flag('SANDBOX_SECCOMP_LOG_ONLY', {
    what: 'seccomp logs what it would end, and lets it through. Needs SANDBOX_LOCK insecure.',
    initial: false,
  }),
  logLevel: oneOf('SANDBOX_LOG_LEVEL', {
    what: 'debug, info, warn, error or silent.',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    initial: 'info',
  }),
};

export type SandboxConfig = Values<typeof sandboxTable>;

export type LockPolicy = SandboxConfig['lock'];

export function readSandboxConfig(sources: Omit<Sources, 'prefix'>): SandboxConfig {
  const config = read(sandboxTable, { ...sources, prefix: 'SANDBOX_' });
  const problems = tlsServerProblems('SANDBOX_', config);
  if (!isLoopback(parseAddress(config.listen))) {
    if (config.lock === 'development') {
      problems.push('SANDBOX_LISTEN must be a Unix socket or on loopback while SANDBOX_LOCK is development');
    }
    if (config.tlsClientCaFile === undefined) {
      problems.push('SANDBOX_LISTEN must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set');
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function ranged(name: string, what: string, setting: 'timeoutMs' | 'memoryMb') {
  const { min, max, initial } = settingRanges[setting];
  return integer(name, { what: `${what} ${min} to ${max}.`, initial, min, max });
}
