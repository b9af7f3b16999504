/** Core types to the messages of SandboxService and back. What cannot be is a violation, never guessed at. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { CallFailureReason, LogLevel } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import {
  type DeliverOutcomeSchema,
  type End,
  EndReason,
  type ExecuteRequestSchema,
  type ExecuteResponse,
  type JobSchema,
  type Step,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { unreachable } from '../../shared/unreachable.ts';
import type { LogLevel as Level, CallFailureReason as Reason } from '../core/model.ts';
import type { DeliveredOutcome, SandboxEnd, SandboxEndReason, SandboxEvent, SandboxJob } from './contract.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function toJob(job: SandboxJob): MessageInitShape<typeof JobSchema> {
  return {
    program: Buffer.from(job.program.text),
    createdAtMs: BigInt(job.createdAtMs),
    seed: job.seed,
    limits: job.limits,
    bindings: job.bindings.map(({ connection, capability, rawName, source }) => ({
      connection,
      capability,
      connectionRaw: source.connectionName,
      capabilityRaw: rawName,
    })),
    columnShifts: [...job.program.columnShifts],
  };
}

type WireOutcome = MessageInitShape<typeof DeliverOutcomeSchema>;

/** Outcomes in groups that are small messages; one that is larger goes alone. */
export function* inBatches(outcomes: readonly DeliveredOutcome[]): Generator<readonly DeliveredOutcome[]> {
  let batch: DeliveredOutcome[] = [];
  let chars = 0;
  for (const delivered of outcomes) {
    const { outcome } = delivered;
    const size = outcomeChars + (outcome.tag === 'Completed' ? outcome.valueJson.length : 0);
    if (batch.length > 0 && chars + size > batchCharsMax) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(delivered);
    chars += size;
  }
  if (batch.length > 0) yield batch;
}

/** UTF-16 units of results: at most 768 KiB of UTF-8. */
const batchCharsMax = 256 * 1024;
/** What an outcome takes besides its result. */
const outcomeChars = 64;

export function toRequest(
  outcomes: readonly DeliveredOutcome[],
): MessageInitShape<typeof ExecuteRequestSchema> {
  const [first] = outcomes;
  if (first !== undefined && outcomes.length === 1) {
    return { message: { case: 'outcome', value: toOutcome(first) } };
  }
  return { message: { case: 'outcomes', value: { outcomes: outcomes.map(toOutcome) } } };
}

function toOutcome({ index, outcome }: DeliveredOutcome): WireOutcome {
  switch (outcome.tag) {
    case 'Completed':
      return { index, outcome: { case: 'completed', value: Buffer.from(outcome.valueJson) } };
    case 'Failed': {
      const { message } = outcome;
      return {
        index,
        outcome: { case: 'failed', value: { reason: failureReasons[outcome.reason], message } },
      };
    }
    case 'Denied':
      return { index, outcome: { case: 'denied', value: { message: outcome.message } } };
    case 'InputRequired': {
      const { operationId } = outcome;
      return { index, outcome: { case: 'inputRequired', value: { operationId } } };
    }
    default:
      return unreachable(outcome);
  }
}

export function toEvents(response: ExecuteResponse): readonly SandboxEvent[] {
  try {
    return readEvents(response);
  } catch {
    return [{ tag: 'End', end: violation }];
  }
}

function readEvents({ message }: ExecuteResponse): readonly SandboxEvent[] {
  switch (message.case) {
    case 'started':
      return [{ tag: 'Started', fingerprint: message.value.fingerprint }];
    case 'step':
      return [toStep(message.value)];
    case 'steps':
      return message.value.steps.map(toStep);
    case 'end':
      return [{ tag: 'End', end: toEnd(message.value) }];
    default:
      throw new Error('the sandbox sent a message without content');
  }
}

function toStep({ delivered, calls, logs, atRest, cpuMs, memoryBytes }: Step): SandboxEvent {
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
    cost: { cpuMs, memoryBytes: Number(memoryBytes) },
  };
}

function toEnd({ reason, valueJson, memoryBytes, cpuMs, ...end }: End): SandboxEnd {
  const { message, errorName, line, column } = end;
  const known = endReasons[reason];
  if (known === undefined) throw new Error(`the sandbox ended for a reason that is not known: ${reason}`);
  return {
    reason: known,
    ...(valueJson === undefined ? {} : { valueJson: utf8.decode(valueJson) }),
    message,
    errorName,
    line,
    column,
    cost: { cpuMs, memoryBytes: Number(memoryBytes) },
  };
}

const violation: SandboxEnd = {
  reason: 'Violation',
  message: 'the sandbox sent what it cannot send',
  errorName: '',
  line: 0,
  column: 0,
  cost: { cpuMs: 0, memoryBytes: 0 },
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
