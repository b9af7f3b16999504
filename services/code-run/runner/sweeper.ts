/**
 * Ends runs whose core went away and did not come back: after `abandonedAfterMs` without an owner a run is
 * Failed / Unavailable. Any number of instances may sweep at once: the lease says whose a run is.
 *
 * W1  A sweep looks at every abandoned run once, in the order of their ids: those that cannot be ended keep no
 *     other from its end.
 * W2  An unreadable run is left for an hour: its key may come back, and each look at it raises an alarm.
 */
import { limits } from '../../shared/limits.ts';
import type { Log } from '../../shared/log.ts';
import { unavailableResult } from '../core/end.ts';
import { type CodeRunStore, LeaseLost, RunUnreadable } from '../store/contract.ts';
import type { Clock } from './clock.ts';
import type { RunnerSettings } from './settings.ts';

export interface SweeperParts {
  readonly store: Pick<CodeRunStore, 'abandoned' | 'claim' | 'finish'>;
  readonly clock: Clock;
  readonly settings: Pick<RunnerSettings, 'instance' | 'leaseMs' | 'abandonedAfterMs' | 'sweepMs'>;
  readonly log: Log;
}

/** Runs looked for at once. */
const batch = 100;
const unreadableLeftMs = 3_600_000;

export class Sweeper {
  readonly #parts: SweeperParts;
  /** Runs that were unreadable, until when they are left. */
  readonly #left = new Map<string, number>();
  #cancelTimer = () => {};
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /** Sweeps now and then. */
  start(): void {
    if (this.#stopped) return;
    const { clock, settings } = this.#parts;
    this.#cancelTimer = clock.after(settings.sweepMs, () => {
      this.#sweeping = this.sweep().then(
        () => this.start(),
        (error: unknown) => {
          this.#parts.log.warn({ err: error }, 'sweep failed');
          this.start();
        },
      );
    });
  }

  /** Stops, and resolves when a sweep that is under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await this.#sweeping;
  }

  /** Ends every abandoned run that can be ended; gives how many. */
  async sweep(): Promise<number> {
    const { store, clock, settings } = this.#parts;
    const beforeMs = clock.now() - settings.abandonedAfterMs;
    for (const [id, untilMs] of this.#left) if (untilMs <= clock.now()) this.#left.delete(id);
    let ended = 0;
    let afterId: string | undefined = '';
    while (afterId !== undefined && !this.#stopped) {
      const ids: readonly string[] = await store.abandoned(beforeMs, batch, afterId);
      const results = await Promise.all(ids.filter((id) => !this.#left.has(id)).map((id) => this.#end(id)));
      ended += results.filter(Boolean).length;
      afterId = ids.length < batch ? undefined : ids.at(-1);
    }
    return ended;
  }

  async #end(runId: string): Promise<boolean> {
    const { store, clock, settings, log } = this.#parts;
    const { instance: owner, leaseMs, abandonedAfterMs } = settings;
    const nowMs = clock.now();
    try {
      const claim = await store.claim(runId, { owner, nowMs, leaseMs });
      if (claim.tag !== 'Claimed') return false;
      const { epoch } = claim.run.lease;
      const message =
        `The caller went away and did not resume the run within ${abandonedAfterMs} ms. ` +
        'Look at what its calls did before running the program again.';
      const attempt = {
        number: epoch,
        startedAtMs: nowMs,
        endedAtMs: nowMs,
        cpuMs: 0,
        memoryBytes: 0,
        replayedCalls: 0,
        fingerprint: '',
      };
      await store.finish({ runId, epoch }, unavailableResult(message, []), attempt, nowMs);
      return true;
    } catch (error) {
      if (error instanceof RunUnreadable)
        this.#leave(runId, nowMs); // The store has told of it.
      else if (!(error instanceof LeaseLost)) log.warn({ run: runId, err: error }, 'abandoned run not ended');
      return false;
    }
  }

  /** What does not fit is met again at the next sweep. */
  #leave(runId: string, nowMs: number): void {
    if (this.#left.size < limits.sweepLeftRunsMax) this.#left.set(runId, nowMs + unreadableLeftMs);
  }
}
