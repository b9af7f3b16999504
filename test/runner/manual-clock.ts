/** A clock that a test moves. */
import type { Clock } from '../../services/code-run/runner/clock.ts';

export class ManualClock implements Clock {
  #nowMs = 1_800_000_000_000;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  now = (): number => this.#nowMs;

  after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  /** Moves time, and runs what is due on the way in its order. */
  advance(ms: number): void {
    const until = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(({ atMs }) => atMs <= until)
        .toSorted((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = due.atMs;
      due.run();
    }
    this.#nowMs = until;
  }
}
