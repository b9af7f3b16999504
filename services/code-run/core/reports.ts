/** Takes in what the core reports: finds the call it is about, and keeps what counts until it can be written. */
import { limits } from '../../shared/limits.ts';
import type { Inbox } from './inbox.ts';
import type { Ledger, LedgerCall } from './ledger.ts';
import { type CheckedOutcome, checkOutcome, type OutcomeTarget, type ReportedOutcome } from './outcome.ts';
import type { Digests } from './requests.ts';

type Refusal = Extract<CheckedOutcome, { tag: 'Refused' }>;

export class Reports {
  readonly #ledger: Ledger;
  readonly #inbox: Inbox;
  readonly #digests: Digests;
  readonly #resultBytesMax: number;

  constructor(ledger: Ledger, inbox: Inbox, digests: Digests, resultBytesMax: number) {
    this.#ledger = ledger;
    this.#inbox = inbox;
    this.#digests = digests;
    this.#resultBytesMax = resultBytesMax;
  }

  /** Undefined: it counts, and is kept. */
  take(reported: ReportedOutcome): Refusal | undefined {
    const call = this.#knownCall(reported.index);
    const checked = checkOutcome(reported, call && this.#targetOf(call));
    if (checked.tag === 'Refused') return checked;
    if (call === undefined) return undefined;
    if (checked.tag === 'Waits') {
      this.#ledger.waits(call, reported.operationId);
    } else {
      this.#ledger.reported(call, checked.outcome, reported.operationId);
      this.#inbox.push({ call, outcome: checked.outcome });
    }
    return undefined;
  }

  /** A call that no attempt can have sent is none that the core may know of. */
  #knownCall(index: number): LedgerCall | undefined {
    const call = this.#ledger.call(index);
    return call?.sentHere || call?.sentBefore ? call : undefined;
  }

  #targetOf(call: LedgerCall): OutcomeTarget {
    const { sentHere, standing, callId } = call;
    return {
      callId,
      argumentsDigest: this.#digests.of(call),
      sentHere,
      hasOutcome: standing === 'Reported' || standing === 'Settled',
      waits: standing === 'Waiting',
      resultBytesMax: this.#resultBytesMax,
      roomBytes: limits.runBytesMax - this.#ledger.bytes,
    };
  }
}
