/** Outcomes that count and are not durable yet, in the order in which they came. */
import { limits } from '../../shared/limits.ts';
import type { LedgerCall } from './ledger.ts';
import { type Outcome, outcomeText } from './model.ts';

export interface Pending {
  readonly call: LedgerCall;
  readonly outcome: Outcome;
}

export class Inbox {
  #pending: Pending[] = [];
  #chars = 0;

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Size of the outcomes, in UTF-16 units. */
  get chars(): number {
    return this.#chars;
  }

  push(pending: Pending): void {
    this.#pending.push(pending);
    this.#chars += outcomeText(pending.outcome).length;
  }

  /** Gives those that go into one write, and keeps the others: at least one, if there is one. */
  take(): readonly Pending[] {
    let chars = 0;
    const end = this.#pending.findIndex(({ outcome }, at) => {
      const { length } = outcomeText(outcome);
      if (at > 0 && chars + length > limits.outcomesWriteCharsMax) return true;
      chars += length;
      return false;
    });
    this.#chars -= chars;
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }
}
