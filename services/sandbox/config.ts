/** Every setting of SandboxService: its name, meaning, range and default. */
import { isLoopback, parseAddress } from '../shared/address.ts';
import { ConfigError, flag, integer, oneOf, optionalText, text, type Values } from '../shared/config.ts';
import { ConfigReader, type Sources } from '../shared/config-reader.ts';
import { settingRanges } from '../shared/limits.ts';
import { tlsServerFileProblems, tlsServerProblems, tlsServerTable } from '../shared/tls-config.ts';

export const sandboxTable = {
  ...tlsServerTable('SANDBOX_'),
  listen: text('SANDBOX_LISTEN', {
    what: 'Where gRPC is served: "host:port" or "unix:/path". Without client certificates: loopback only.',
    initial: '127.0.0.1:7412',
    check: parseAddress,
  }),
  metricsAddress: optionalText('SANDBOX_METRICS_ADDRESS', {
    what: 'Where /metrics is served over HTTP, "host:port" or "unix:/path": counts alone, to whoever asks. Without client certificates: loopback only. Not set: nowhere.',
    check: parseAddress,
  }),
  runningMax: integer('SANDBOX_RUNNING_MAX', {
    what: 'How many programs run at once.',
    unit: 'programs',
    initial: 256,
    min: 1,
    max: 100_000,
  }),
  queuedMax: integer('SANDBOX_QUEUED_MAX', {
    what: 'How many jobs may wait for a process.',
    unit: 'jobs',
    initial: 1024,
    min: 0,
    max: 1_000_000,
  }),
  readyTarget: integer('SANDBOX_READY_TARGET', {
    what: 'How many processes are kept ready for a job.',
    unit: 'processes',
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
    what: 'See SANDBOX_BACKSTOP_FACTOR.',
    unit: 'milliseconds',
    initial: 5000,
    min: 1,
    max: 600_000,
  }),
  drainMs: integer('SANDBOX_DRAIN_MS', {
    what: 'How long running programs may end by themselves after SIGTERM.',
    unit: 'milliseconds',
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
    'milliseconds',
  ),
  firstMemoryMb: ranged(
    'SANDBOX_FIRST_MEMORY_MB',
    'The memoryMb that the first processes are made for.',
    'memoryMb',
    'mebibytes',
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
    what: 'seccomp logs what it would end, and lets it through. Needs SANDBOX_LOCK development or insecure.',
    initial: false,
  }),
  logLevel: oneOf('SANDBOX_LOG_LEVEL', {
    what: 'What is logged: this and what is worse.',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    initial: 'info',
  }),
};

export type SandboxConfig = Values<typeof sandboxTable>;

export type LockPolicy = SandboxConfig['lock'];

export const sandboxPrefix = 'SANDBOX_';

/** Throws ConfigError. */
export function readSandboxConfig(sources: Sources): SandboxConfig {
  const reader = new ConfigReader(sources, [{ table: sandboxTable, prefix: sandboxPrefix }]);
  const config = reader.values(sandboxTable);
  reader.relate(() => sandboxRelations(config));
  reader.finish();
  return config;
}

/** What one value alone cannot show. */
export function sandboxRelations(config: SandboxConfig): string[] {
  const problems = tlsServerProblems(sandboxPrefix, config);
  const { listen, metricsAddress, lock, seccompLogOnly, tlsClientCaFile } = config;
  if (lock === 'development' && !isLoopback(parseAddress(listen))) {
    problems.push('SANDBOX_LISTEN must be a Unix socket or on loopback while SANDBOX_LOCK is development');
  }
  for (const [name, address] of Object.entries({
    SANDBOX_LISTEN: listen,
    SANDBOX_METRICS_ADDRESS: metricsAddress,
  })) {
    if (address === undefined || tlsClientCaFile !== undefined || isLoopback(parseAddress(address))) continue;
    problems.push(`${name} must be on loopback while SANDBOX_TLS_CLIENT_CA_FILE is not set`);
  }
  if (lock === 'required' && seccompLogOnly) {
    problems.push(
      'SANDBOX_SECCOMP_LOG_ONLY must be false while SANDBOX_LOCK is required: nothing would be locked in',
    );
  }
  return problems;
}

/** Looks at the files that the settings name. Throws ConfigError. */
export function checkSandbox(config: SandboxConfig): void {
  const problems = tlsServerFileProblems(sandboxPrefix, config);
  if (problems.length > 0) throw new ConfigError(problems);
}

function ranged(name: string, what: string, setting: 'timeoutMs' | 'memoryMb', unit: string) {
  return integer(name, { what, unit, ...settingRanges[setting] });
}
