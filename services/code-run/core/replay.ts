/**
 * Compares what a program does with what the journal says it did.
 *
 * R1  A step that comes after n outcomes must issue exactly the calls that the journal has between
 *     outcome n and outcome n + 1, in that order.
 * R2  After the last recorded outcome it must issue all calls recorded there, or, where none are
 *     recorded, may issue new ones: the calls of a step are one write, so a part of them is never recorded.
 * R3  What does not fit is found at the first call or rest that differs, before anything later is looked at.
 * R4  What the sandbox says is not trusted: counts that cannot be are a breach, not a mismatch.
 */
import { utf8Bytes } from '../../shared/text.ts';
import { issuedBreach } from './issued.ts';
import type { CalledEntry, Ledger } from './ledger.ts';
import { type Divergence, differsFrom } from './mismatch.ts';
import type { Binding, IssuedCall } from './model.ts';

export interface Step {
  /** Outcomes delivered before it. */
  readonly delivered: number;
  readonly calls: readonly IssuedCall[];
  /** False on a piece of a step: more of it follows. */
  readonly atRest: boolean;
}

export type Checked =
  /** It fits so far; `usedUp` says that the program is at rest with nothing recorded left. */
  | { readonly tag: 'Fits'; readonly usedUp: boolean }
  | { readonly tag: 'Diverges'; readonly divergence: Divergence }
  | { readonly tag: 'Breach'; readonly detail: string };

export class Replay {
  /** Calls beyond the journal, of the step that is not at rest yet. */
  readonly fresh: IssuedCall[] = [];
  readonly #ledger: Ledger;
  readonly #bindings: ReadonlyMap<string, Binding>;
  #freshBytes = 0;
  #cursor: number;
  #delivered: number;
  #nextIndex: number;

  /** From the top, or from where the journal ends for a program that stands there. */
  constructor(ledger: Ledger, bindings: ReadonlyMap<string, Binding>, from: 'top' | 'end') {
    this.#ledger = ledger;
    this.#bindings = bindings;
    const end = from === 'end';
    this.#cursor = end ? ledger.entries.length : 0;
    this.#delivered = end ? ledger.settled.length : 0;
    this.#nextIndex = end ? ledger.callCount : 0;
  }

  /** Outcomes that the program is known to have got. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Size of the arguments of the fresh calls, in UTF-8 bytes. */
  get freshBytes(): number {
    return this.#freshBytes;
  }

  step(step: Step): Checked {
    const passed = this.#passOutcomes(step.delivered);
    if (passed !== undefined) return passed;
    for (const call of step.calls) {
      const checked = this.#checkCall(call);
      if (checked !== undefined) return checked;
    }
    if (!step.atRest) return { tag: 'Fits', usedUp: false };
    const missing = this.#recordedCall();
    if (missing !== undefined) return diverges({ tag: 'Missing', recorded: missing, ended: undefined });
    return { tag: 'Fits', usedUp: this.#cursor === this.#ledger.entries.length };
  }

  /** The program ended by itself: a divergence if a recorded call was not made. `how` says how it ended. */
  end(how: string): Divergence | undefined {
    const { entries } = this.#ledger;
    for (let at = this.#cursor; at < entries.length; at += 1) {
      const entry = entries[at];
      if (entry?.kind === 'Called') return { tag: 'Missing', recorded: entry, ended: how };
    }
    return undefined;
  }

  #passOutcomes(delivered: number): Checked | undefined {
    if (delivered < this.#delivered || delivered > this.#ledger.settled.length) {
      return { tag: 'Breach', detail: `a step after ${delivered} outcomes, ${this.#delivered} were due` };
    }
    while (this.#delivered < delivered) {
      const missing = this.#recordedCall();
      if (missing !== undefined) return diverges({ tag: 'Missing', recorded: missing, ended: undefined });
      this.#cursor += 1;
      this.#delivered += 1;
    }
    return undefined;
  }

  #checkCall(call: IssuedCall): Checked | undefined {
    if (call.index !== this.#nextIndex) {
      return { tag: 'Breach', detail: `call ${call.index} where ${this.#nextIndex} was due` };
    }
    this.#nextIndex += 1;
    const entry = this.#ledger.entries[this.#cursor];
    if (entry === undefined) return this.#freshCall(call);
    const attempted = { call, source: this.#bindings.get(call.binding)?.source };
    if (entry.kind === 'Settled') return diverges({ tag: 'Extra', attempted, before: entry.index });
    this.#cursor += 1;
    return differsFrom(entry, attempted) ? diverges({ tag: 'Other', recorded: entry, attempted }) : undefined;
  }

  #freshCall(call: IssuedCall): Checked | undefined {
    const before = this.#ledger.entries[this.#cursor - 1];
    if (before?.kind === 'Called') {
      const attempted = { call, source: this.#bindings.get(call.binding)?.source };
      return diverges({ tag: 'Extra', attempted, before: undefined });
    }
    const breach = issuedBreach(call, this.#bindings);
    if (breach !== undefined) return { tag: 'Breach', detail: breach };
    this.fresh.push(call);
    this.#freshBytes += utf8Bytes(call.argumentsJson);
    return undefined;
  }

  #recordedCall(): CalledEntry | undefined {
    const entry = this.#ledger.entries[this.#cursor];
    return entry?.kind === 'Called' ? entry : undefined;
  }
}

function diverges(divergence: Divergence): Checked {
  return { tag: 'Diverges', divergence };
}
