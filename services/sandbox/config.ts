/**
 * Configuration of SandboxService, read once from the environment. A wrong value fails the start and names
 * the variable and what it should be.
 */
import { settingRanges } from '../shared/limits.ts';
import type { LogLevelName } from '../shared/log.ts';

export interface SandboxConfig {
  /** "host:port" or "unix:/path". */
  readonly listen: string;
  readonly runningMax: number;
  readonly queuedMax: number;
  readonly readyTarget: number;
  /** The wall-clock backstop fires after timeoutMs × factor + graceMs of running. */
  readonly backstopFactor: number;
  readonly backstopGraceMs: number;
  readonly drainMs: number;
  readonly logLevel: LogLevelName;
  /** The process ends when its standard input does: for a parent that starts it. */
  readonly exitWithStdin: boolean;
  /** What happens where a required layer of the lock is missing: see LockPolicy. */
  readonly lock: LockPolicy;
  /** `auto` forks children, and starts them where the self-test of the fork fails. */
  readonly children: 'auto' | 'forked' | 'started';
  /** The engine makes machine code: faster loops, and the class of engine bugs behind half of all escapes. */
  readonly jit: boolean;
  /** seccomp logs what it would end, and lets it through. Needs `lock` insecure. */
  readonly seccompLogOnly: boolean;
  readonly firstTimeoutMs: number;
  readonly firstMemoryMb: number;
}

/**
 * required     the start fails
 * development  it goes on with a warning, if it listens on this host alone
 * insecure     it goes on with a warning
 */
export type LockPolicy = 'required' | 'development' | 'insecure';

type Environment = Readonly<Record<string, string | undefined>>;

const levels: readonly LogLevelName[] = ['debug', 'info', 'warn', 'error', 'silent'];

export function readConfig(env: Environment): SandboxConfig {
  const config: SandboxConfig = {
    listen: address(env, 'SANDBOX_LISTEN', '127.0.0.1:7412'),
    runningMax: integer(env, 'SANDBOX_RUNNING_MAX', 256, 1, 100_000),
    queuedMax: integer(env, 'SANDBOX_QUEUED_MAX', 1024, 0, 1_000_000),
    readyTarget: integer(env, 'SANDBOX_READY_TARGET', 4, 0, 1000),
    backstopFactor: integer(env, 'SANDBOX_BACKSTOP_FACTOR', 4, 1, 1000),
    backstopGraceMs: integer(env, 'SANDBOX_BACKSTOP_GRACE_MS', 5000, 1, 600_000),
    drainMs: integer(env, 'SANDBOX_DRAIN_MS', 30_000, 0, 3_600_000),
    logLevel: oneOf(env, 'SANDBOX_LOG_LEVEL', levels, 'info'),
    exitWithStdin: flag(env, 'SANDBOX_EXIT_WITH_STDIN'),
    firstTimeoutMs: ranged(env, 'SANDBOX_FIRST_TIMEOUT_MS', settingRanges.timeoutMs),
    firstMemoryMb: ranged(env, 'SANDBOX_FIRST_MEMORY_MB', settingRanges.memoryMb),
    lock: oneOf(env, 'SANDBOX_LOCK', ['required', 'development', 'insecure'], 'required'),
    children: oneOf(env, 'SANDBOX_CHILDREN', ['auto', 'forked', 'started'], 'auto'),
    jit: flag(env, 'SANDBOX_JIT'),
    seccompLogOnly: flag(env, 'SANDBOX_SECCOMP_LOG_ONLY'),
  };
  if (config.lock === 'development' && !isLocal(config.listen)) {
    throw new Error('SANDBOX_LOCK is "development", so SANDBOX_LISTEN must be a Unix socket or on loopback');
  }
  return config;
}

function address(env: Environment, name: string, initial: string): string {
  const value = env[name] ?? initial;
  if (/^unix:\/.+$/.test(value) || /^\S+:\d{1,5}$/.test(value)) return value;
  throw wrong(name, 'a "host:port" or "unix:/path"');
}

/** Whether only this host can reach the address. */
function isLocal(listen: string): boolean {
  return /^(unix:|localhost:|127\.\d+\.\d+\.\d+:|\[::1\]:)/.test(listen);
}

function flag(env: Environment, name: string): boolean {
  return oneOf(env, name, ['true', 'false'], 'false') === 'true';
}

function integer(env: Environment, name: string, initial: number, min: number, max: number): number {
  const text = env[name];
  if (text === undefined) return initial;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw wrong(name, `a whole number from ${min} to ${max}`);
}

function ranged(
  env: Environment,
  name: string,
  range: { min: number; max: number; initial: number },
): number {
  return integer(env, name, range.initial, range.min, range.max);
}

function oneOf<T extends string>(env: Environment, name: string, values: readonly T[], initial: T): T {
  const text = env[name];
  if (text === undefined) return initial;
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw wrong(name, `one of ${values.join(', ')}`);
  return value;
}

function wrong(name: string, should: string): Error {
  return new Error(`${name} must be ${should}`);
}
