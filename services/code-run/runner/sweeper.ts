/**
 * Ends runs whose core went away and did not come back: after `abandonedAfterMs` without an owner a run is
 * Failed / Unavailable. Any number of instances may sweep at once: the lease says whose a run is.
 */
import type { Log } from '../../shared/log.ts';
import { unavailableResult } from '../core/end.ts';
import { type CodeRunStore, LeaseLost } from '../store/contract.ts';
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

export class Sweeper {
  readonly #parts: SweeperParts;
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

  /** Ends every abandoned run; gives how many. */
  async sweep(): Promise<number> {
    const { store, clock, settings } = this.#parts;
    let ended = 0;
    for (let found = batch; found === batch && !this.#stopped; ) {
      const ids = await store.abandoned(clock.now() - settings.abandonedAfterMs, batch);
      const results = await Promise.all(ids.map((id) => this.#end(id)));
      const now = results.filter(Boolean).length;
      ended += now;
      // Runs that cannot be ended come again: leave them to the next sweep.
      found = now === 0 ? 0 : ids.length;
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
      if (!(error instanceof LeaseLost)) log.warn({ run: runId, err: error }, 'abandoned run not ended');
      return false;
    }
  }
}
