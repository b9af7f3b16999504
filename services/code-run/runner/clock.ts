/** Time, passed in, so that tests own it. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` once after `delayMs`; the function that it gives calls it off. */
  after(delayMs: number, run: () => void): () => void;
}

/** The machine's own clock. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
