/**
 * Children ready, running and reaped.
 *
 * P1  At most `runningMax` attempts at once, whether they compute or wait; a slot is free again only when
 *     its process is gone.
 * P2  At most `queuedMax` jobs wait for a slot, first come first served; one more is refused.
 * P3  `readyTarget` children are kept ready for the setting of the last job. Those for other settings stay as
 *     long as there are no more of them than that, the oldest goes first. A child gets one job.
 * P4  When it closes, jobs that wait for a slot are refused at once: another sandbox may run them.
 * P5  A child that is told to end is not among the ready any more.
 */
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { missing } from '../jail/layers.ts';
import type { Child, ChildSetting, ChildSource } from './child.ts';

export interface PoolOptions {
  readonly runningMax: number;
  readonly queuedMax: number;
  readonly readyTarget: number;
  /** What children are made for before the first job came. */
  readonly firstSetting: ChildSetting;
  /** Whether a child may be given a job without a required layer of the lock. */
  readonly allowUnlocked: boolean;
}

export interface PoolCounts {
  readonly running: number;
  readonly runningMax: number;
  readonly queued: number;
  readonly queuedMax: number;
  readonly ready: number;
}

interface Waiter {
  readonly grant: () => void;
  readonly refuse: (error: AppError) => void;
}

export class Pool {
  readonly #source: ChildSource;
  readonly #options: PoolOptions;
  readonly #log: Log;
  readonly #queue = new Set<Waiter>();
  readonly #ready: { readonly key: string; readonly child: Child }[] = [];
  readonly #running = new Set<Child>();
  #slots = 0;
  #making = 0;
  #setting: ChildSetting;
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(source: ChildSource, options: PoolOptions, log: Log) {
    this.#source = source;
    this.#options = options;
    this.#log = log;
    this.#setting = options.firstSetting;
  }

  counts(): PoolCounts {
    const { runningMax, queuedMax } = this.#options;
    return {
      running: this.#slots,
      runningMax,
      queued: this.#queue.size,
      queuedMax,
      ready: this.#ready.length,
    };
  }

  /** Makes the first children. Throws if none can be made. */
  async warm(): Promise<void> {
    this.#keep(await this.#make(this.#setting), this.#setting);
    this.#refill();
  }

  /** A child for one job. Throws AppError; after an abort, the reason of `signal`. */
  async acquire(setting: ChildSetting, signal: AbortSignal): Promise<Child> {
    signal.throwIfAborted();
    if (this.#closing) throw shuttingDown();
    await this.#slot(signal);
    this.#setting = setting;
    const child = await this.#takeOrMake(setting);
    this.#running.add(child);
    void child.exited.then(() => this.#gone(child));
    this.#refill();
    if (signal.aborted) this.release(child);
    signal.throwIfAborted();
    return child;
  }

  /** Ends a child that was acquired; its slot is free when it is gone. */
  release(child: Child): void {
    this.#end(child);
  }

  /** Lets nothing start any more and resolves when nothing runs, or after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    this.#beginToClose();
    if (this.#slots === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(resolve, deadlineMs);
    await promise;
    clearTimeout(timer);
  }

  /** It takes nothing new, and a process that runs may be killed by it. */
  get closing(): boolean {
    return this.#closing;
  }

  async close(): Promise<void> {
    this.#beginToClose();
    for (const { child } of this.#ready.splice(0)) this.#end(child);
    for (const child of this.#running) child.kill();
    await this.#source.close();
  }

  #beginToClose(): void {
    this.#closing = true;
    for (const waiter of this.#queue) waiter.refuse(shuttingDown());
    this.#queue.clear();
  }

  async #slot(signal: AbortSignal): Promise<void> {
    const { runningMax, queuedMax } = this.#options;
    if (this.#slots < runningMax) {
      this.#slots++;
      return;
    }
    if (this.#queue.size >= queuedMax) {
      throw new AppError(
        'RESOURCE_EXHAUSTED',
        `the sandbox is full: ${runningMax} programs run and ${queuedMax} wait; try again later`,
        { retryable: true },
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { grant: resolve, refuse: reject };
    const onAbort = () => {
      if (this.#queue.delete(waiter)) reject(signal.reason);
    };
    this.#queue.add(waiter);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #freeSlot(): void {
    const [next] = this.#queue;
    if (next !== undefined) {
      this.#queue.delete(next);
      next.grant();
      return;
    }
    this.#slots--;
    if (this.#slots === 0) this.#idle?.();
  }

  #gone(child: Child): void {
    this.#running.delete(child);
    this.#freeSlot();
  }

  async #takeOrMake(setting: ChildSetting): Promise<Child> {
    const ready = this.#takeReady(keyOf(setting));
    if (ready !== undefined) return ready;
    try {
      return await this.#make(setting);
    } catch (error) {
      this.#freeSlot();
      // Its source may have ended under it.
      throw this.#closing ? shuttingDown(error) : error;
    }
  }

  async #make(setting: ChildSetting): Promise<Child> {
    const { child, layers } = await this.#source.make(setting);
    const [lacking] = this.#options.allowUnlocked ? [] : missing(layers);
    if (lacking === undefined) return child;
    this.#end(child);
    throw new Error(`a child is not locked: ${lacking.name}: ${lacking.detail}`);
  }

  #takeReady(key: string): Child | undefined {
    const at = this.#ready.findIndex((entry) => entry.key === key);
    return at < 0 ? undefined : this.#ready.splice(at, 1)[0]?.child;
  }

  #keep(child: Child, setting: ChildSetting): void {
    const entry = { key: keyOf(setting), child };
    this.#ready.push(entry);
    void child.exited.then(() => {
      const at = this.#ready.indexOf(entry);
      if (at < 0) return; // It has its job.
      this.#ready.splice(at, 1);
      child.socket.destroy();
    });
  }

  /** Makes what is missing, and lets go of what is too much. */
  #refill(): void {
    if (this.#closing) return;
    const setting = this.#setting;
    const key = keyOf(setting);
    const others = this.#ready.filter((entry) => entry.key !== key);
    for (const entry of others.slice(0, Math.max(0, others.length - this.#options.readyTarget))) {
      this.#ready.splice(this.#ready.indexOf(entry), 1);
      this.#end(entry.child);
    }
    const fitting = this.#ready.length - Math.min(others.length, this.#options.readyTarget);
    for (let lacking = this.#options.readyTarget - fitting - this.#making; lacking > 0; lacking--) {
      this.#making++;
      this.#make(setting).then(
        (child) => {
          this.#making--;
          if (this.#closing) return this.#end(child);
          this.#keep(child, setting);
          this.#refill();
        },
        (error: unknown) => {
          this.#making--;
          if (this.#closing) return;
          this.#log.error({ err: error }, 'a child could not be made');
        },
      );
    }
  }

  #end(child: Child): void {
    child.kill();
    child.socket.destroy();
  }
}

function shuttingDown(cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the sandbox is shutting down', { cause });
}

function keyOf(setting: ChildSetting): string {
  return `${setting.memoryMb}/${setting.timeoutMs}`;
}
