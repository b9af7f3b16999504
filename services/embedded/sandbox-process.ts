/**
 * A SandboxService as a child process, started again when it ends.
 *
 * S1  It listens on a Unix socket in a folder that only this user can enter.
 * S2  It ends with this process in whatever way that ends: its standard input is a pipe from here.
 * S3  After an end that nobody asked for it is started again, at once at first, then with growing delays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Log } from '../shared/log.ts';

export interface SandboxProcessOptions {
  /** "unix:/path". */
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** What the sandbox said of its lock when it began to listen. */
export interface SandboxLock {
  readonly locked: boolean;
  /** Names of the required layers that do not hold. */
  readonly missing: readonly string[];
}

const script = new URL('../sandbox/main.ts', import.meta.url).pathname;

const firstDelayMs = 100;
const delayMsMax = 10_000;
/** A process that lived this long was well: the next end starts from the first delay. */
const wellAfterMs = 60_000;

export class SandboxProcess {
  readonly #options: SandboxProcessOptions;
  #child: ChildProcess | undefined;
  #delayMs = firstDelayMs;
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(options: SandboxProcessOptions) {
    this.#options = options;
  }

  /** Starts it; resolves when it listens. Throws if it ends before. */
  async start(): Promise<SandboxLock> {
    const child = spawn(process.execPath, ['--no-warnings', script], {
      env: {
        ...this.#options.environment,
        SANDBOX_LISTEN: this.#options.address,
        SANDBOX_EXIT_WITH_STDIN: 'true',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
      // Ctrl-C reaches every process of the terminal's group: this one alone decides when the sandbox ends.
      detached: true,
    });
    this.#child = child;
    const startedAtMs = performance.now();
    child.once('exit', (code, signal) => this.#ended(startedAtMs, code, signal));
    return await listening(child);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Lets running programs end, then ends it. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }

  #ended(startedAtMs: number, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#stopping) return;
    if (performance.now() - startedAtMs > wellAfterMs) this.#delayMs = firstDelayMs;
    this.#options.log.error({ code, signal, restartInMs: this.#delayMs }, 'the sandbox ended');
    this.#restart = setTimeout(() => {
      this.start().then(
        () => this.#options.log.info({}, 'the sandbox is there again'),
        (error: unknown) => this.#options.log.error({ err: error }, 'the sandbox did not start'),
      );
    }, this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, delayMsMax);
  }
}

/** Resolves at the line of JSON that says it listens. */
async function listening(child: ChildProcess): Promise<SandboxLock> {
  if (child.stdout === null) throw new Error('the sandbox has no standard output');
  for await (const line of createInterface(child.stdout)) {
    if (line.includes('"ready":true')) {
      child.stdout.resume(); // Nothing more is read, and nothing may block on it.
      return JSON.parse(line) as SandboxLock; // Of our own program: services/sandbox/main.ts.
    }
  }
  throw new Error('the sandbox ended before it was ready');
}
