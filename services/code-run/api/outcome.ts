/**
 * Outcomes as the core reports them. What cannot be read becomes Malformed: the runner refuses it like any
 * other that does not fit, and the run goes on.
 */
import { CallFailureReason } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type { ReportOutcome } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type * as core from '../core/model.ts';
import type { ReportedOutcome } from '../runner/contract.ts';

export const callFailureReasons = {
  ToolError: CallFailureReason.TOOL_ERROR,
  Timeout: CallFailureReason.TIMEOUT,
  Unavailable: CallFailureReason.UNAVAILABLE,
  InvalidArguments: CallFailureReason.INVALID_ARGUMENTS,
  NotFound: CallFailureReason.NOT_FOUND,
  OutcomeUnknown: CallFailureReason.OUTCOME_UNKNOWN,
  ResultTooLarge: CallFailureReason.RESULT_TOO_LARGE,
  Cancelled: CallFailureReason.CANCELLED,
  Internal: CallFailureReason.INTERNAL,
} as const satisfies Record<core.CallFailureReason, CallFailureReason>;

const reasonByNumber = new Map<CallFailureReason, core.CallFailureReason>(
  Object.entries(callFailureReasons).map(([name, number]) => [number, name as core.CallFailureReason]),
);

export function fromReportOutcome(report: ReportOutcome): ReportedOutcome {
  const { index, callId, argumentsDigest, operationId } = report;
  return { index, callId, argumentsDigest, operationId, outcome: outcomeOf(report.outcome) };
}

function outcomeOf(outcome: ReportOutcome['outcome']): ReportedOutcome['outcome'] {
  switch (outcome.case) {
    case 'completed':
      return { tag: 'Completed', valueJson: outcome.value.valueJson };
    case 'failed': {
      const reason = reasonByNumber.get(outcome.value.reason);
      if (reason === undefined) return malformed('failed.reason must be one of the named reasons.');
      return { tag: 'Failed', reason, message: outcome.value.message };
    }
    case 'denied':
      return { tag: 'Denied', message: outcome.value.message };
    case 'inputRequired':
      return { tag: 'InputRequired', operationId: outcome.value.operationId };
    case 'waiting':
      return { tag: 'Waiting' };
    case 'unknown':
      return { tag: 'Unknown', message: outcome.value.message };
    case undefined:
      return malformed('outcome must be set: completed, failed, denied, input_required, waiting or unknown.');
  }
}

function malformed(message: string): ReportedOutcome['outcome'] {
  return { tag: 'Malformed', message };
}
