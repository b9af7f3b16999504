/**
 * Data keys of runs in the clear, unwrapped once: a key-management service is not asked again for a run that
 * was read a moment ago. Holds the last `max` of them.
 */
import type { KeyKeeper, WrappedKey } from '../crypto/keys.ts';

export class DataKeys {
  readonly #keeper: KeyKeeper;
  readonly #max: number;
  readonly #held = new Map<string, Promise<Uint8Array>>();

  constructor(keeper: KeyKeeper, max: number) {
    this.#keeper = keeper;
    this.#max = max;
  }

  of(runId: string, wrapped: WrappedKey): Promise<Uint8Array> {
    const held = this.#held.get(runId);
    if (held !== undefined) {
      this.#hold(runId, held);
      return held;
    }
    const key = this.#keeper.unwrap(wrapped, runId);
    this.#hold(runId, key);
    key.catch(() => {
      if (this.#held.get(runId) === key) {
        this.#held.delete(runId);
      }
    });
    return key;
  }

  /** A key that was just made and wrapped. */
  put(runId: string, key: Uint8Array): void {
    this.#hold(runId, Promise.resolve(key));
  }

  forget(runId: string): void {
    this.#held.delete(runId);
  }

  /** The order of a Map is that of insertion: the first is the one not used for longest. */
  #hold(runId: string, key: Promise<Uint8Array>): void {
    this.#held.delete(runId);
    this.#held.set(runId, key);
    if (this.#held.size > this.#max) {
      const [oldest] = this.#held.keys();
      if (oldest !== undefined) {
        this.#held.delete(oldest);
      }
    }
  }
}
