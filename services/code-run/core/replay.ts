/**
 * Follows a program through the journal and beyond: compares what it does with what the journal says it did, and
 * keeps what it does past that.
 *
 * R1  A step that comes to a closed rest (ledger.ts, L4) must issue exactly the calls that are recorded for it, in
 *     that order.
 * R2  One that comes to an open rest may issue new ones: the calls of a step are one write, so a part of them is
 *     never recorded.
 * R3  What does not fit is found at the first call or rest that differs, before anything later is looked at.
 * R4  What the sandbox says is not trusted: counts that cannot be are a breach, not a mismatch.
 * R5  Every outcome that is durable is handed out at once: the sandbox delivers one per rest. The program is done with
 *     them when it has come to rest with all; until then its fresh calls gather, each with the rest that it was made at.
 * R6  Each rest is one step, or pieces of it with the last at rest: another needs another outcome.
 */
import { utf8Bytes } from '../../shared/text.ts';
import { issuedBreach } from './issued.ts';
import type { CalledEntry, Ledger, SettledEntry } from './ledger.ts';
import { type Divergence, differsFrom } from './mismatch.ts';
import type { Binding, IssuedCall, RunLimits } from './model.ts';

export interface Step {
  /** Outcomes delivered before it. */
  readonly delivered: number;
  readonly calls: readonly IssuedCall[];
  /** False on a piece of a step: more of it follows. */
  readonly atRest: boolean;
}

/** A call beyond the journal. */
export interface FreshCall {
  readonly call: IssuedCall;
  /** The rest that the program came to with it. */
  readonly rest: number;
}

export type Checked =
  /** It fits so far; `usedUp` says that the program is at rest with every outcome that was handed out. */
  | { readonly tag: 'Fits'; readonly usedUp: boolean }
  | { readonly tag: 'Diverges'; readonly divergence: Divergence }
  | { readonly tag: 'Breach'; readonly detail: string };

export class Replay {
  readonly #ledger: Ledger;
  readonly #bindings: ReadonlyMap<string, Binding>;
  readonly #limits: RunLimits;
  #fresh: FreshCall[] = [];
  #freshBytes = 0;
  #handedOut = 0;
  #delivered = 0;
  /** Recorded calls of this rest that the program has made. */
  #made = 0;
  #nextIndex = 0;
  #atRest = false;

  constructor(ledger: Ledger, bindings: ReadonlyMap<string, Binding>, limits: RunLimits) {
    this.#ledger = ledger;
    this.#bindings = bindings;
    this.#limits = limits;
  }

  /** Outcomes that the program is known to have got. */
  get delivered(): number {
    return this.#delivered;
  }

  get hasFresh(): boolean {
    return this.#fresh.length > 0;
  }

  /** Size of the arguments of the fresh calls, in UTF-8 bytes. */
  get freshBytes(): number {
    return this.#freshBytes;
  }

  /** Gives the fresh calls to be recorded, and takes them for recorded. */
  takeFresh(): readonly FreshCall[] {
    const fresh = this.#fresh;
    this.#made += fresh.filter(({ rest }) => rest === this.#delivered).length;
    this.#fresh = [];
    this.#freshBytes = 0;
    return fresh;
  }

  /** The durable outcomes that were not handed out yet, in the order in which the program gets them. */
  handOut(): readonly SettledEntry[] {
    const outcomes = this.#ledger.settled.slice(this.#handedOut);
    this.#handedOut += outcomes.length;
    return outcomes;
  }

  step(step: Step): Checked {
    const passed = this.#passOutcomes(step.delivered);
    if (passed !== undefined) return passed;
    for (const call of step.calls) {
      const checked = this.#checkCall(call);
      if (checked !== undefined) return checked;
    }
    this.#atRest = step.atRest;
    if (!step.atRest) return { tag: 'Fits', usedUp: false };
    const missing = this.#recordedCall();
    if (missing !== undefined) return diverges({ tag: 'Missing', recorded: missing, ended: undefined });
    return { tag: 'Fits', usedUp: this.#delivered === this.#handedOut };
  }

  /** The program ended by itself: a divergence if a recorded call was not made. `how` says how it ended. */
  end(how: string): Divergence | undefined {
    const recorded = this.#ledger.call(this.#nextIndex)?.called;
    return recorded === undefined ? undefined : { tag: 'Missing', recorded, ended: how };
  }

  #passOutcomes(delivered: number): Checked | undefined {
    if (delivered < this.#delivered || delivered > this.#handedOut) {
      return { tag: 'Breach', detail: `a step after ${delivered} outcomes, ${this.#delivered} were due` };
    }
    if (this.#atRest && delivered === this.#delivered) {
      return { tag: 'Breach', detail: 'a step while the program was at rest' };
    }
    while (this.#delivered < delivered) {
      const missing = this.#recordedCall();
      if (missing !== undefined) return diverges({ tag: 'Missing', recorded: missing, ended: undefined });
      this.#delivered += 1;
      this.#made = 0;
    }
    return undefined;
  }

  #checkCall(call: IssuedCall): Checked | undefined {
    if (call.index !== this.#nextIndex) {
      return { tag: 'Breach', detail: `call ${call.index} where ${this.#nextIndex} was due` };
    }
    this.#nextIndex += 1;
    const recorded = this.#recordedCall();
    if (recorded === undefined && this.#delivered >= this.#ledger.openRest) return this.#freshCall(call);
    const attempted = { call, source: this.#bindings.get(call.binding)?.source };
    if (recorded === undefined) {
      const before = this.#ledger.settled[this.#delivered]?.index;
      return diverges({ tag: 'Extra', attempted, before });
    }
    this.#made += 1;
    return differsFrom(recorded, attempted) ? diverges({ tag: 'Other', recorded, attempted }) : undefined;
  }

  #freshCall(call: IssuedCall): Checked | undefined {
    const breach = issuedBreach(call, this.#bindings, this.#limits);
    if (breach !== undefined) return { tag: 'Breach', detail: breach };
    this.#fresh.push({ call, rest: this.#delivered });
    this.#freshBytes += utf8Bytes(call.argumentsJson);
    return undefined;
  }

  #recordedCall(): CalledEntry | undefined {
    return this.#ledger.made(this.#delivered)[this.#made];
  }
}

function diverges(divergence: Divergence): Checked {
  return { tag: 'Diverges', divergence };
}
