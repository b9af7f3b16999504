/**
 * Turns calls into outcomes: decides, performs, remembers.
 *
 * O1  A call id is performed at most once, in this process and after it: it is recorded as Performing before
 *     it is sent, and what is found Performing after a restart has an unknown outcome.
 * O2  An outcome is recorded before it is reported. A call that comes again gets it from the record.
 * O3  A call id with other arguments than before is refused.
 */

import { unreachable } from '../../shared/unreachable.ts';
import type { SourceCall } from '../mcp/apps.ts';
import { failed } from '../mcp/call-error.ts';
import type { Outcome } from '../words.ts';
import type { CallToDecide, Decider, Verdict } from './decider.ts';
import { type AppOperation, type OperationRecord, type OperationState, runCallIdOf } from './record.ts';

/** What the core answers a call with. */
export type CoreOutcome =
  | Outcome
  | { readonly tag: 'Waiting' }
  | { readonly tag: 'Unknown'; readonly message: string };

/** A call as the service sends it. */
export interface ReceivedCall extends CallToDecide {
  readonly argumentsDigest: string;
  readonly sentBefore: boolean;
}

/** Performs calls; in practice the connected apps. Never throws. */
export interface Performer {
  perform(call: SourceCall): Promise<Outcome>;
}

export class Operations {
  readonly #record: OperationRecord;
  readonly #performer: Performer;
  readonly #decider: Decider;
  /** Calls that this process performs now. */
  readonly #underWay = new Map<string, Promise<Outcome>>();

  constructor(record: OperationRecord, performer: Performer, decider: Decider) {
    this.#record = record;
    this.#performer = performer;
    this.#decider = decider;
  }

  /** Notes that a run starts here, before its first call. */
  begin(runCallId: string): void {
    this.#record.begin(runCallId);
  }

  /** Forgets a run that is final: nothing of it is asked for any more. */
  forget(runCallId: string): void {
    this.#record.forget(runCallId);
  }

  /** The outcome of a call, as far as there is one. */
  async outcomeOf(received: ReceivedCall): Promise<CoreOutcome> {
    const { argumentsDigest, sentBefore, ...call } = received;
    const known = this.#record.get(call.callId);
    if (known === undefined) {
      if (sentBefore && !this.#record.covers(runCallIdOf(call.callId))) {
        return { tag: 'Unknown', message: 'the call was sent before, and no record of it is left' };
      }
      return this.#decide({ call, argumentsDigest, state: { tag: 'Waiting' } });
    }
    if (known.argumentsDigest !== argumentsDigest) {
      return failed('Internal', `the call ${call.callId} came before with other arguments`);
    }
    switch (known.state.tag) {
      case 'Waiting':
        return this.#decide(known);
      case 'Allowed':
        return this.#perform(known);
      case 'Performing':
        return (
          this.#underWay.get(call.callId) ?? {
            tag: 'Unknown',
            message: 'the call was sent to the app, and the core stopped before the answer came',
          }
        );
      case 'Settled':
        return known.state.outcome;
      default:
        return unreachable(known.state);
    }
  }

  /** A call that nobody decided yet. */
  waiting(callId: string): CallToDecide | undefined {
    const operation = this.#record.get(callId);
    return operation?.state.tag === 'Waiting' ? operation.call : undefined;
  }

  /** Writes a person's verdict down. The next time the call comes, it is performed or denied. */
  settle(callId: string, verdict: Verdict): void {
    const operation = this.#record.get(callId);
    if (operation?.state.tag !== 'Waiting') return;
    this.#put(
      operation,
      verdict.tag === 'Allow'
        ? { tag: 'Allowed' }
        : { tag: 'Settled', outcome: { tag: 'Denied', message: verdict.message } },
    );
  }

  async #decide(operation: AppOperation): Promise<CoreOutcome> {
    const decision = this.#decider.decide(operation.call);
    switch (decision.tag) {
      case 'Allow':
        return this.#perform(operation);
      case 'Deny': {
        const outcome = { tag: 'Denied', message: decision.message } as const;
        this.#put(operation, { tag: 'Settled', outcome });
        return outcome;
      }
      case 'Ask':
        this.#put(operation, { tag: 'Waiting' });
        return { tag: 'Waiting' };
      default:
        return unreachable(decision);
    }
  }

  #perform(operation: AppOperation): Promise<Outcome> {
    const { callId, source, argumentsJson } = operation.call;
    this.#put(operation, { tag: 'Performing' });
    const performing = this.#performer.perform({ callId, source, argumentsJson }).then((outcome) => {
      this.#put(operation, { tag: 'Settled', outcome });
      return outcome;
    });
    this.#underWay.set(callId, performing);
    return performing.finally(() => this.#underWay.delete(callId));
  }

  #put(operation: AppOperation, state: OperationState): void {
    this.#record.put({ ...operation, state });
  }
}
