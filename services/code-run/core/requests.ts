/** What the core is asked of a call: to perform it, or to have it decided. */
import type { LedgerCall } from './ledger.ts';
import type { DecisionRequest, PerformCall } from './machine-types.ts';
import type { WaitingCall } from './model.ts';

/** Digests of the arguments, each made once. */
export class Digests {
  readonly #digestOf: (text: string) => string;

  constructor(digestOf: (text: string) => string) {
    this.#digestOf = digestOf;
  }

  of(call: LedgerCall): string {
    if (call.digest === '') call.digest = this.#digestOf(call.called.argumentsJson);
    return call.digest;
  }
}

export function performCall(call: LedgerCall, digests: Digests): PerformCall {
  const { index, binding, source, argumentsJson } = call.called;
  const { callId, sentBefore } = call;
  return { index, callId, binding, source, argumentsJson, argumentsDigest: digests.of(call), sentBefore };
}

export function decisionRequest(call: LedgerCall, digests: Digests): DecisionRequest {
  const { index, source, argumentsJson } = call.called;
  const { callId } = call;
  const operationId = call.operationId || callId;
  return { index, callId, operationId, source, argumentsJson, argumentsDigest: digests.of(call) };
}

/** How a run keeps a call that waits from the rest with so many outcomes. */
export function waitingCall({ called: { index }, operationId }: LedgerCall, after: number): WaitingCall {
  return operationId === '' ? { index, after } : { index, operationId, after };
}
