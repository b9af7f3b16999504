/** Keeps the claim of one attempt alive, and says when it is lost. */
import { type CodeRunStore, LeaseLost, type Writer } from '../store/contract.ts';
import type { Clock } from './clock.ts';

export interface LeaseParts {
  readonly store: Pick<CodeRunStore, 'renew'>;
  readonly clock: Clock;
  readonly settings: { readonly leaseMs: number; readonly renewMs: number };
}

export class Lease {
  readonly #parts: LeaseParts;
  readonly #writer: Writer;
  readonly #onLost: () => void;
  #expiresAtMs: number;
  #cancelTimer = () => {};
  #state: 'new' | 'kept' | 'over' = 'new';

  constructor(parts: LeaseParts, writer: Writer, expiresAtMs: number, onLost: () => void) {
    this.#parts = parts;
    this.#writer = writer;
    this.#expiresAtMs = expiresAtMs;
    this.#onLost = onLost;
  }

  /** Renews from now on. */
  keep(): void {
    if (this.#state !== 'new') return;
    this.#state = 'kept';
    this.#schedule();
  }

  /** Renews no more, and says nothing more. */
  letGo(): void {
    this.#state = 'over';
    this.#cancelTimer();
  }

  /** Renews at once. Throws LeaseLost or StoreUnavailable. */
  async renew(): Promise<void> {
    const { store, clock, settings } = this.#parts;
    const expiresAtMs = clock.now() + settings.leaseMs;
    await store.renew(this.#writer, expiresAtMs);
    this.#expiresAtMs = Math.max(this.#expiresAtMs, expiresAtMs);
  }

  #schedule(): void {
    this.#cancelTimer = this.#parts.clock.after(this.#parts.settings.renewMs, () => {
      this.renew().then(
        () => this.#renewed(),
        (error: unknown) => this.#failed(error),
      );
    });
  }

  #renewed(): void {
    if (this.#state === 'kept') this.#schedule();
  }

  /** A store that does not answer may answer in time; a lease that ran out is another's to take. */
  #failed(error: unknown): void {
    if (this.#state !== 'kept') return;
    const lost = error instanceof LeaseLost || this.#parts.clock.now() >= this.#expiresAtMs;
    if (lost) this.#onLost();
    else this.#schedule();
  }
}
