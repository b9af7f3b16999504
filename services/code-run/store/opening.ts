/**
 * A store that is opened beside everything else: who asks for it before it is there gets `StoreUnavailable` at
 * once, so that a service can listen, and say what it waits for, while its database is away.
 *
 * O1  A database that is away is tried again until it is there, with growing pauses; one that can never be used
 *     ends the tries, and `opened` rejects.
 * O2  After `close` nothing is open and nothing is tried.
 */
import { untilDone } from '../../shared/backoff.ts';
import { type CodeRunStore, type KeyRotation, StoreUnavailable } from './contract.ts';

type Store = CodeRunStore & KeyRotation;

export interface OpeningParts {
  /** One try. Throws StoreUnavailable if another may succeed. */
  readonly open: () => Promise<Store>;
  /** Told each try that failed, and when the next one comes. */
  readonly onAway: (error: StoreUnavailable, againInMs: number) => void;
}

export class OpeningStore {
  /** Resolves when the store is there; rejects when it can never be. */
  readonly opened: Promise<void>;
  /** Settles like `opened`, but resolves as soon as the first try has found the database away. */
  readonly tried: Promise<void>;
  readonly #stop = new AbortController();
  #store: Store | undefined;
  #why = new StoreUnavailable('the store is not open yet');

  constructor({ open, onAway }: OpeningParts) {
    const away = Promise.withResolvers<void>();
    this.opened = this.#open(open, (error, againInMs) => {
      this.#why = error;
      onAway(error, againInMs);
      away.resolve();
    });
    this.tried = Promise.race([this.opened, away.promise]);
    // Whoever waits for either hears of it; nobody has to.
    for (const each of [this.opened, this.tried]) each.catch(() => {});
  }

  /** Throws StoreUnavailable while it is not there. */
  get store(): Store {
    if (this.#store === undefined) throw new StoreUnavailable(this.#why.message, { cause: this.#why });
    return this.#store;
  }

  get isOpen(): boolean {
    return this.#store !== undefined;
  }

  async close(): Promise<void> {
    this.#stop.abort(new StoreUnavailable('the store is closed'));
    await this.opened.catch(() => {});
    await this.#store?.close();
  }

  async #open(open: () => Promise<Store>, onAway: OpeningParts['onAway']): Promise<void> {
    const { signal } = this.#stop;
    this.#store = await untilDone(
      async () => {
        signal.throwIfAborted();
        return await open();
      },
      (error, delayMs) => {
        if (!(error instanceof StoreUnavailable) || signal.aborted) return false;
        onAway(error, Math.round(delayMs));
        return true;
      },
      { signal },
    );
  }
}
