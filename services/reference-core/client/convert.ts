/** Between the messages of CodeRunService and the words of a code run. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  CallFailureReason as WireFailure,
  CapabilityKind as WireKind,
  LogLevel as WireLevel,
  type LogLine as WireLogLine,
  type Source as WireSource,
} from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type {
  PerformCall,
  ReportOutcomeSchema,
} from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { unreachable } from '../../shared/unreachable.ts';
import type { CoreOutcome, ReceivedCall } from '../operations/operations.ts';
import type { CallFailureReason, CapabilityKind, LogLevel, Source } from '../words.ts';

const kinds: Readonly<Record<WireKind, CapabilityKind | undefined>> = {
  [WireKind.UNSPECIFIED]: undefined,
  [WireKind.TOOL]: 'tool',
  [WireKind.RESOURCE]: 'resource',
  [WireKind.RESOURCE_TEMPLATE]: 'resourceTemplate',
  [WireKind.PROMPT]: 'prompt',
};

const levels: Readonly<Record<WireLevel, LogLevel>> = {
  [WireLevel.UNSPECIFIED]: 'info',
  [WireLevel.DEBUG]: 'debug',
  [WireLevel.INFO]: 'info',
  [WireLevel.WARN]: 'warn',
  [WireLevel.ERROR]: 'error',
};

const failures: Readonly<Record<CallFailureReason, WireFailure>> = {
  ToolError: WireFailure.TOOL_ERROR,
  Timeout: WireFailure.TIMEOUT,
  Unavailable: WireFailure.UNAVAILABLE,
  InvalidArguments: WireFailure.INVALID_ARGUMENTS,
  NotFound: WireFailure.NOT_FOUND,
  OutcomeUnknown: WireFailure.OUTCOME_UNKNOWN,
  ResultTooLarge: WireFailure.RESULT_TOO_LARGE,
  Cancelled: WireFailure.CANCELLED,
  Internal: WireFailure.INTERNAL,
};

export function toLevel(level: WireLogLine['level']): LogLevel {
  return levels[level];
}

export function toReceivedCall(call: PerformCall): ReceivedCall {
  return {
    callId: call.callId,
    binding: call.binding,
    source: toSource(call.source),
    argumentsJson: call.argumentsJson,
    argumentsDigest: call.argumentsDigest,
    sentBefore: call.sentBefore,
  };
}

export function toSource(source: WireSource | undefined): Source {
  const kind = source === undefined ? undefined : kinds[source.kind];
  if (source === undefined || kind === undefined) throw new Error('the service sent a call without a source');
  return {
    connectionId: source.connectionId,
    connectionName: source.connectionName,
    kind,
    name: source.name,
  };
}

export function toReport(
  call: PerformCall,
  outcome: CoreOutcome,
): MessageInitShape<typeof ReportOutcomeSchema> {
  const { index, callId, argumentsDigest } = call;
  return { index, callId, argumentsDigest, outcome: toWireOutcome(outcome) };
}

type WireOutcome = NonNullable<MessageInitShape<typeof ReportOutcomeSchema>['outcome']>;

function toWireOutcome(outcome: CoreOutcome): WireOutcome {
  switch (outcome.tag) {
    case 'Completed':
      return { case: 'completed', value: { valueJson: outcome.valueJson } };
    case 'Failed':
      return { case: 'failed', value: { reason: failures[outcome.reason], message: outcome.message } };
    case 'Denied':
      return { case: 'denied', value: { message: outcome.message } };
    case 'InputRequired':
      return { case: 'inputRequired', value: { operationId: outcome.operationId } };
    case 'Waiting':
      return { case: 'waiting', value: {} };
    case 'Unknown':
      return { case: 'unknown', value: { message: outcome.message } };
    default:
      return unreachable(outcome);
  }
}
