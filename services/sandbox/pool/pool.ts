/**
 * Slots for attempts, and the children that run them.
 *
 * P1  At most `runningMax` attempts at once, whether they compute or wait; a slot is free again only when
 *     its process is gone.
 * P2  At most `queuedMax` jobs wait for a slot, first come first served; one more is refused.
 * P3  When it closes, jobs that wait for a slot are refused at once: another sandbox may run them.
 */
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { Child, ChildSetting, ChildSource } from './child.ts';
import { ChildMaker, endChild } from './child-maker.ts';
import { type Alarm, systemAlarm } from './handshake.ts';
import { ReadyChildren } from './ready-children.ts';

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

/** Children that no job was given to, so far. */
export interface PoolFailures {
  readonly notReady: number;
  readonly endedEarly: number;
}

interface Waiter {
  readonly grant: () => void;
  readonly refuse: (error: AppError) => void;
}

export class Pool {
  readonly #source: ChildSource;
  readonly #options: PoolOptions;
  readonly #maker: ChildMaker;
  readonly #ready: ReadyChildren;
  readonly #queue = new Set<Waiter>();
  readonly #running = new Set<Child>();
  #slots = 0;
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(source: ChildSource, options: PoolOptions, log: Log, alarm: Alarm = systemAlarm) {
    const { allowUnlocked, readyTarget, firstSetting } = options;
    this.#source = source;
    this.#options = options;
    this.#maker = new ChildMaker(source, allowUnlocked, log);
    this.#ready = new ReadyChildren(this.#maker, readyTarget, firstSetting, log, alarm);
  }

  counts(): PoolCounts {
    const { runningMax, queuedMax } = this.#options;
    return {
      running: this.#slots,
      runningMax,
      queued: this.#queue.size,
      queuedMax,
      ready: this.#ready.count,
    };
  }

  failures(): PoolFailures {
    return { notReady: this.#maker.notReady, endedEarly: this.#ready.endedEarly };
  }

  /** Tells whether programs can be given a process, now and at each change until it closes. */
  watch(tell: (able: boolean) => void): void {
    this.#maker.watch(tell);
  }

  /** Makes the first children. Throws if none can be made. */
  async warm(): Promise<void> {
    await this.#ready.warm();
  }

  /** A child for one job. Throws AppError; after an abort, the reason of `signal`. */
  async acquire(setting: ChildSetting, signal: AbortSignal): Promise<Child> {
    signal.throwIfAborted();
    if (this.#closing) throw shuttingDown();
    await this.#slot(signal);
    const child = await this.#takeOrMake(setting);
    this.#running.add(child);
    void child.exited.then(() => this.#gone(child));
    this.#ready.adjust(); // Behind the job: it waits for no process of others.
    if (signal.aborted) this.release(child);
    signal.throwIfAborted();
    return child;
  }

  /** Ends a child that was acquired; its slot is free when it is gone. */
  release(child: Child): void {
    endChild(child);
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
    for (const child of this.#running) child.kill();
    await this.#source.close();
  }

  #beginToClose(): void {
    this.#closing = true;
    this.#maker.beginToClose();
    this.#ready.close();
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
    try {
      return this.#ready.take(setting) ?? (await this.#maker.make(setting));
    } catch (error) {
      this.#freeSlot();
      if (this.#closing) throw shuttingDown(error);
      this.#ready.pause();
      throw new AppError(
        'UNAVAILABLE',
        'no process could be made for the program: the log of the sandbox says why',
        { cause: error },
      );
    }
  }
}

function shuttingDown(cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the sandbox is shutting down', { cause });
}
