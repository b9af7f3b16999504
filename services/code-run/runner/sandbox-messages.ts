/** Core types to the messages of SandboxService and back. What cannot be is a violation, never guessed at. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { CallFailureReason, LogLevel } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import {
  type DeliverOutcomeSchema,
  type End,
  EndReason,
  type ExecuteResponse,
  type JobSchema,
  type Step,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { unreachable } from '../../shared/unreachable.ts';
import type { LogLevel as Level, Outcome, CallFailureReason as Reason } from '../core/model.ts';
import type { SandboxEnd, SandboxEndReason, SandboxEvent, SandboxJob } from './contract.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toJob(job: SandboxJob): MessageInitShape<typeof JobSchema> {
  return {
    program: Buffer.from(job.program.text),
    createdAtMs: BigInt(job.createdAtMs),
    seed: job.seed,
    limits: job.limits,
    callLimits: job.callLimits,
    bindings: job.bindings.map(({ connection, capability, rawName, source }) => ({
      connection,
      capability,
      connectionRaw: source.connectionName,
      capabilityRaw: rawName,
    })),
    columnShifts: [...job.program.columnShifts],
  };
}

type WireOutcome = NonNullable<MessageInitShape<typeof DeliverOutcomeSchema>['outcome']>;

export function toOutcome(outcome: Outcome): WireOutcome {
  switch (outcome.tag) {
    case 'Completed':
      return { case: 'completed', value: Buffer.from(outcome.valueJson) };
    case 'Failed': {
      const { message } = outcome;
      return { case: 'failed', value: { reason: failureReasons[outcome.reason], message } };
    }
    case 'Denied':
      return { case: 'denied', value: { message: outcome.message } };
    case 'InputRequired':
      return { case: 'inputRequired', value: { operationId: outcome.operationId } };
    default:
      return unreachable(outcome);
  }
}

export function toEvent(response: ExecuteResponse): SandboxEvent {
  try {
    return readEvent(response);
  } catch {
    return { tag: 'End', end: violation };
  }
}

function readEvent({ message }: ExecuteResponse): SandboxEvent {
  switch (message.case) {
    case 'started':
      return { tag: 'Started', fingerprint: message.value.fingerprint };
    case 'step':
      return toStep(message.value);
    case 'end':
      return { tag: 'End', end: toEnd(message.value) };
    default:
      throw new Error('the sandbox sent a message without content');
  }
}

function toStep({ delivered, calls, logs, atRest }: Step): SandboxEvent {
  return {
    tag: 'Step',
    delivered,
    calls: calls.map(({ index, binding, argumentsJson, line, column }) => ({
      index,
      binding,
      argumentsJson: utf8.decode(argumentsJson),
      line,
      column,
    })),
    logs: logs.map(({ index, level, text }) => ({ index, level: logLevels[level] ?? 'info', text })),
    atRest,
  };
}

function toEnd({ reason, valueJson, memoryBytes, ...end }: End): SandboxEnd {
  const { message, errorName, line, column, cpuMs } = end;
  const known = endReasons[reason];
  if (known === undefined) throw new Error(`the sandbox ended for a reason that is not known: ${reason}`);
  return {
    reason: known,
    ...(valueJson === undefined ? {} : { valueJson: utf8.decode(valueJson) }),
    message,
    errorName,
    line,
    column,
    cpuMs,
    memoryBytes: Number(memoryBytes),
  };
}

const violation: SandboxEnd = {
  reason: 'Violation',
  message: 'the sandbox sent what it cannot send',
  errorName: '',
  line: 0,
  column: 0,
  cpuMs: 0,
  memoryBytes: 0,
};

const failureReasons: Readonly<Record<Reason, CallFailureReason>> = {
  ToolError: CallFailureReason.TOOL_ERROR,
  Timeout: CallFailureReason.TIMEOUT,
  Unavailable: CallFailureReason.UNAVAILABLE,
  InvalidArguments: CallFailureReason.INVALID_ARGUMENTS,
  NotFound: CallFailureReason.NOT_FOUND,
  OutcomeUnknown: CallFailureReason.OUTCOME_UNKNOWN,
  ResultTooLarge: CallFailureReason.RESULT_TOO_LARGE,
  Cancelled: CallFailureReason.CANCELLED,
  Internal: CallFailureReason.INTERNAL,
};

const logLevels: Readonly<Partial<Record<LogLevel, Level>>> = {
  [LogLevel.DEBUG]: 'debug',
  [LogLevel.INFO]: 'info',
  [LogLevel.WARN]: 'warn',
  [LogLevel.ERROR]: 'error',
};

const endReasons: Readonly<Partial<Record<EndReason, SandboxEndReason>>> = {
  [EndReason.RETURNED]: 'Returned',
  [EndReason.ERROR]: 'Error',
  [EndReason.TIMEOUT]: 'Timeout',
  [EndReason.MEMORY]: 'Memory',
  [EndReason.OUTPUT_TOO_LARGE]: 'OutputTooLarge',
  [EndReason.LOST]: 'Lost',
  [EndReason.VIOLATION]: 'Violation',
};
