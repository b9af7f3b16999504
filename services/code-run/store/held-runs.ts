/**
 * The runs that this instance has claimed: data key, run as claimed, end of its log. A saving, never the
 * truth: at most `max` are kept, those used last, and what is gone is read again.
 */
import type { StoredRun } from '../core/model.ts';
import type { LogEnd } from './log.ts';
import type { RunKey } from './run-codec.ts';

export interface HeldRun {
  readonly key: RunKey;
  readonly run: StoredRun;
  end: LogEnd;
}

export class HeldRuns {
  readonly #max: number;
  readonly #runs = new Map<string, HeldRun>();

  constructor(max: number) {
    this.#max = max;
  }

  get(runId: string): HeldRun | undefined {
    const held = this.#runs.get(runId);
    if (held !== undefined) {
      this.put(held);
    }
    return held;
  }

  /** The order of a Map is that of insertion: the first is the one not used for longest. */
  put(held: HeldRun): void {
    this.#runs.delete(held.run.id);
    this.#runs.set(held.run.id, held);
    if (this.#runs.size > this.#max) {
      const [oldest] = this.#runs.keys();
      if (oldest !== undefined) {
        this.#runs.delete(oldest);
      }
    }
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
  }
}
