/** The writes that an attempt asks for, under its own claim. */
import { unreachable } from '../../shared/unreachable.ts';
import type { Effect } from '../core/machine-types.ts';
import type { Attempt as AttemptCost, RunResult, StoredRun } from '../core/model.ts';
import type { CodeRunStore, Writer } from '../store/contract.ts';
import type { Lease } from './lease.ts';

export type WriteEffect = Extract<Effect, { tag: 'Append' | 'Suspend' | 'Finish' | 'Release' }>;

export class AttemptWrites {
  readonly #store: CodeRunStore;
  readonly #writer: Writer;
  readonly #lease: Pick<Lease, 'renew'>;
  readonly #costs: (nowMs: number) => AttemptCost;
  #finished: StoredRun | undefined;

  /** `costs` says what the attempt has cost until then. */
  constructor(
    store: CodeRunStore,
    writer: Writer,
    lease: Pick<Lease, 'renew'>,
    costs: (nowMs: number) => AttemptCost,
  ) {
    this.#store = store;
    this.#writer = writer;
    this.#lease = lease;
    this.#costs = costs;
  }

  /** The run as it was finished here. */
  get finished(): StoredRun | undefined {
    return this.#finished;
  }

  /** Resolves when it is durable. Throws LeaseLost or StoreUnavailable. */
  perform(effect: WriteEffect, nowMs: number): Promise<void> {
    switch (effect.tag) {
      case 'Append': {
        const { length, entries, logLines } = effect;
        if (entries.length === 0) return this.#lease.renew();
        return this.#store.append(this.#writer, length, entries, logLines, nowMs);
      }
      case 'Suspend': {
        const { waiting, logLines } = effect;
        return this.#store.wait(this.#writer, waiting, this.#costs(nowMs), logLines, nowMs);
      }
      case 'Finish':
        return this.#finish(effect.result, nowMs);
      case 'Release':
        return this.#store.release(this.#writer, this.#costs(nowMs), nowMs);
      default:
        return unreachable(effect);
    }
  }

  async #finish(result: RunResult, nowMs: number): Promise<void> {
    this.#finished = await this.#store.finish(this.#writer, result, this.#costs(nowMs), nowMs);
  }
}
