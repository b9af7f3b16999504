/** Deletes final runs that are older than they may be, now and then. Any number of instances may do it at once. */
import type { Log } from '../shared/log.ts';
import type { Clock } from './runner/clock.ts';
import type { CodeRunStore } from './store/contract.ts';

export interface RetentionParts {
  readonly store: Pick<CodeRunStore, 'purge'>;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly log: Log;
}

const dayMs = 86_400_000;
const everyMs = 3_600_000;

export class Retention {
  readonly #parts: RetentionParts;
  #cancelTimer = () => {};
  #purging: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#stop.signal.aborted) return;
    this.#purging = this.purge();
    this.#cancelTimer = this.#parts.clock.after(everyMs, () => this.start());
  }

  /** Stops, also a purge that is under way, and resolves when it has. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cancelTimer();
    await this.#purging;
  }

  async purge(): Promise<void> {
    const { store, clock, retentionDays, log } = this.#parts;
    try {
      const deleted = await store.purge(clock.now() - retentionDays * dayMs, this.#stop.signal);
      if (deleted > 0) log.info({ deleted }, 'old runs deleted');
    } catch (error) {
      log.warn({ err: error }, 'old runs could not be deleted');
    }
  }
}
