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
 * R5  Past the first open rest outcomes are handed out one at a time, when the calls before are durable.
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

export type Checked =
  /** It fits so far; `usedUp` says that the program is at rest with every outcome that was handed out. */
  | { readonly tag: 'Fits'; readonly usedUp: boolean }
  | { readonly tag: 'Diverges'; readonly divergence: Divergence }
  | { readonly tag: 'Breach'; readonly detail: string };

export class Replay {
  /** What is handed to the sandbox at once, from the top. */
  readonly outcomes: readonly SettledEntry[];
  readonly #ledger: Ledger;
  readonly #bindings: ReadonlyMap<string, Binding>;
  readonly #limits: RunLimits;
  #fresh: IssuedCall[] = [];
  #freshBytes = 0;
  #handedOut: number;
  #delivered = 0;
  /** Recorded calls of this rest that the program has made. */
  #made = 0;
  #nextIndex = 0;

  constructor(ledger: Ledger, bindings: ReadonlyMap<string, Binding>, limits: RunLimits) {
    this.#ledger = ledger;
    this.#bindings = bindings;
    this.#limits = limits;
    this.outcomes = ledger.settled.slice(0, ledger.openRest);
    this.#handedOut = this.outcomes.length;
  }

  /** Outcomes that the program is known to have got. */
  get delivered(): number {
    return this.#delivered;
  }

  /** Calls beyond the journal, of the step that is under way or was the last. */
  get fresh(): readonly IssuedCall[] {
    return this.#fresh;
  }

  /** Size of the arguments of the fresh calls, in UTF-8 bytes. */
  get freshBytes(): number {
    return this.#freshBytes;
  }

  /** Gives the fresh calls to be recorded, and takes them for recorded. */
  takeFresh(): readonly IssuedCall[] {
    const fresh = this.#fresh;
    this.#made += fresh.length;
    this.#fresh = [];
    this.#freshBytes = 0;
    return fresh;
  }

  /** The next durable outcome for a program at rest that has got all before; undefined: there is none. */
  handOut(): SettledEntry | undefined {
    const next = this.#ledger.settled[this.#handedOut];
    if (next === undefined) return undefined;
    this.#handedOut += 1;
    this.#nextRest();
    return next;
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
    while (this.#delivered < delivered) {
      const missing = this.#recordedCall();
      if (missing !== undefined) return diverges({ tag: 'Missing', recorded: missing, ended: undefined });
      this.#nextRest();
    }
    return undefined;
  }

  #nextRest(): void {
    this.#delivered += 1;
    this.#made = 0;
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
    this.#fresh.push(call);
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
