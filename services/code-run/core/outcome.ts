/**
 * What the core reports of a call, and whether it counts.
 *
 * O1  An outcome is bound to its call by index, call id and digest of the arguments.
 * O2  What does not fit, comes twice or comes late is refused with a code and changes nothing.
 * O3  A result past its limit becomes ResultTooLarge; nothing that is recorded is ever cut.
 */
import { limits } from '../../shared/limits.ts';
import { exceedsUtf8 } from '../../shared/text.ts';
import { unreachable } from '../../shared/unreachable.ts';
import type { Outcome } from './model.ts';

export type RefusalCode = 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'ALREADY_EXISTS' | 'FAILED_PRECONDITION';

/** An outcome as the core reports it. */
export interface ReportedOutcome {
  readonly index: number;
  /** Empty: not stated. Required in resume. */
  readonly callId: string;
  /** Empty: not stated. Required in resume. */
  readonly argumentsDigest: string;
  /** Empty: the core has no id of its own. */
  readonly operationId: string;
  readonly outcome:
    | Outcome
    | { readonly tag: 'Waiting' }
    | { readonly tag: 'Unknown'; readonly message: string }
    /** The edge could not read it; refused with this message. */
    | { readonly tag: 'Malformed'; readonly message: string };
}

/** The call that an outcome names, as far as the check needs it. */
export interface OutcomeTarget {
  readonly callId: string;
  readonly argumentsDigest: string;
  /** It was sent on this stream, so the index alone may name it. */
  readonly sentHere: boolean;
  /** It has an outcome that counts. */
  readonly hasOutcome: boolean;
  /** It was reported as waiting. */
  readonly waits: boolean;
  /** The run's limit of one result. */
  readonly resultBytesMax: number;
  /** What the run may still take in, in UTF-8 bytes. */
  readonly roomBytes: number;
}

export type CheckedOutcome =
  | { readonly tag: 'Counts'; readonly outcome: Outcome }
  | { readonly tag: 'Waits' }
  | { readonly tag: 'Refused'; readonly code: RefusalCode; readonly message: string };

/** Checks a report against the call it names; undefined means that no such call was sent. */
export function checkOutcome(reported: ReportedOutcome, target: OutcomeTarget | undefined): CheckedOutcome {
  const malformed = checkForm(reported);
  if (malformed !== undefined) return refused('INVALID_ARGUMENT', malformed);
  if (target === undefined) return refused('NOT_FOUND', `No call ${reported.index} was sent.`);
  if (!target.sentHere && (reported.callId === '' || reported.argumentsDigest === '')) {
    return refused(
      'INVALID_ARGUMENT',
      `Call ${reported.index} was not sent on this stream: name its call_id and arguments_digest.`,
    );
  }
  if (reported.callId !== '' && reported.callId !== target.callId) {
    return refused('FAILED_PRECONDITION', `Call ${reported.index} has the call id ${target.callId}.`);
  }
  if (reported.argumentsDigest !== '' && reported.argumentsDigest !== target.argumentsDigest) {
    return refused('FAILED_PRECONDITION', `Call ${reported.index} was made with other arguments.`);
  }
  if (target.hasOutcome) return refused('ALREADY_EXISTS', `Call ${reported.index} has an outcome.`);
  return judge(reported, target);
}

function judge(reported: ReportedOutcome, target: OutcomeTarget): CheckedOutcome {
  const { outcome } = reported;
  switch (outcome.tag) {
    case 'Waiting':
      return target.waits
        ? refused('ALREADY_EXISTS', `Call ${reported.index} is known to wait.`)
        : { tag: 'Waits' };
    case 'Unknown':
      return counts({ tag: 'Failed', reason: 'OutcomeUnknown', message: unknownText(outcome.message) });
    case 'Completed':
      if (exceedsUtf8(outcome.valueJson, target.resultBytesMax)) {
        const message = tooLargeText(target.resultBytesMax);
        return counts({ tag: 'Failed', reason: 'ResultTooLarge', message });
      }
      if (exceedsUtf8(outcome.valueJson, target.roomBytes)) {
        return counts({ tag: 'Failed', reason: 'ResultTooLarge', message: runFullText });
      }
      return isJson(outcome.valueJson)
        ? counts(outcome)
        : refused('INVALID_ARGUMENT', 'completed.value_json is not JSON.');
    case 'InputRequired':
      return counts({
        tag: 'InputRequired',
        operationId: outcome.operationId || reported.operationId || target.callId,
      });
    case 'Malformed':
      return refused('INVALID_ARGUMENT', outcome.message);
    case 'Failed':
    case 'Denied':
      return counts(outcome);
    default:
      return unreachable(outcome);
  }
}

function checkForm(reported: ReportedOutcome): string | undefined {
  if (exceedsUtf8(reported.operationId, limits.idBytesMax)) {
    return `operation_id is longer than ${limits.idBytesMax} bytes.`;
  }
  const { outcome } = reported;
  if (outcome.tag === 'Malformed') return outcome.message;
  if ('message' in outcome && exceedsUtf8(outcome.message, limits.messageBytesMax)) {
    return `message is longer than ${limits.messageBytesMax} bytes.`;
  }
  if (outcome.tag === 'InputRequired' && exceedsUtf8(outcome.operationId, limits.idBytesMax)) {
    return `input_required.operation_id is longer than ${limits.idBytesMax} bytes.`;
  }
  return undefined;
}

function refused(code: RefusalCode, message: string): CheckedOutcome {
  return { tag: 'Refused', code, message };
}

function counts(outcome: Outcome): CheckedOutcome {
  return { tag: 'Counts', outcome };
}

/** Whether a text is one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function tooLargeText(resultBytesMax: number): string {
  return (
    `The app answered with more than ${resultBytesMax} bytes. ` +
    'Ask the app for less: fewer items, a page, or only the fields that are needed.'
  );
}

const runFullText =
  `With this answer the run would hold more than ${limits.runBytesMax} bytes of arguments and results. ` +
  'Ask the apps for less, or split the work over several runs.';

function unknownText(known: string): string {
  const text =
    'The call was sent before, and nobody knows whether it was performed. ' +
    'Look whether it took effect before calling again.';
  return known === '' ? text : `${known} ${text}`;
}
