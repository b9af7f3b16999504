/** Waiting for what is not there yet. */
import { setTimeout } from 'node:timers/promises';

const firstDelayMs = 250;
const delayMsMax = 10_000;

export interface Waiting {
  /** Ends the wait: `untilDone` then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * Does `work` until it succeeds, or fails with an error that `passing` does not know. The delays grow, each by
 * chance between half and all of its length, so that many that wait do not come back at once.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  passing: (error: unknown, delayMs: number) => boolean,
  { signal, random = Math.random }: Waiting = {},
): Promise<T> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, delayMsMax)) {
    try {
      return await work();
    } catch (error) {
      const jittered = delayMs * (0.5 + random() / 2);
      if (!passing(error, jittered)) throw error;
      await setTimeout(jittered, undefined, signal && { signal });
    }
  }
}
