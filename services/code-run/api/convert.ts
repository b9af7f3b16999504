/** Core types to messages, and back. Nothing here decides anything. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { BindingSchema } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import {
  type CallOutcomeSchema,
  type CallSchema,
  CapabilityKind,
  type CodeRunResultSchema,
  type CodeRunSchema,
  CodeRunStatus,
  FailureReason,
  LogLevel,
  type LogLineSchema,
  type SourceSchema,
} from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type {
  DecisionRequestSchema,
  PerformCallSchema,
} from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { limits } from '../../shared/limits.ts';
import type * as core from '../core/model.ts';
import type { DecisionRequest, PerformCall, RunRecord } from '../runner/contract.ts';
import { type CallView, callBytes, callsOf } from './calls.ts';
import { callFailureReasons } from './outcome.ts';

const statuses = {
  Running: CodeRunStatus.RUNNING,
  Waiting: CodeRunStatus.WAITING,
  Completed: CodeRunStatus.COMPLETED,
  Failed: CodeRunStatus.FAILED,
  Cancelled: CodeRunStatus.CANCELLED,
} as const satisfies Record<core.RunStatus, CodeRunStatus>;

const failureReasons = {
  Error: FailureReason.ERROR,
  Timeout: FailureReason.TIMEOUT,
  Memory: FailureReason.MEMORY,
  OutputTooLarge: FailureReason.OUTPUT_TOO_LARGE,
  ReplayMismatch: FailureReason.REPLAY_MISMATCH,
  Cancelled: FailureReason.CANCELLED,
  Unavailable: FailureReason.UNAVAILABLE,
} as const satisfies Record<core.FailureReason, FailureReason>;

const kinds = {
  tool: CapabilityKind.TOOL,
  resource: CapabilityKind.RESOURCE,
  resourceTemplate: CapabilityKind.RESOURCE_TEMPLATE,
  prompt: CapabilityKind.PROMPT,
} as const satisfies Record<core.CapabilityKind, CapabilityKind>;

const logLevels = {
  debug: LogLevel.DEBUG,
  info: LogLevel.INFO,
  warn: LogLevel.WARN,
  error: LogLevel.ERROR,
} as const satisfies Record<core.LogLevel, LogLevel>;

export function toSource(source: core.Source): MessageInitShape<typeof SourceSchema> {
  return { ...source, kind: kinds[source.kind] };
}

export function toBinding(binding: core.Binding, summary: string): MessageInitShape<typeof BindingSchema> {
  const { connection, capability, source } = binding;
  return { name: `${connection}.${capability}`, source: toSource(source), summary };
}

export function toLogLine(line: core.LogLine): MessageInitShape<typeof LogLineSchema> {
  return { ...line, level: logLevels[line.level] };
}

export function toPerformCall(call: PerformCall): MessageInitShape<typeof PerformCallSchema> {
  return { ...call, source: toSource(call.source) };
}

/** A request for a decision: product.md calls it capability, toolCallId, app, code. */
export function toDecisionRequest(
  request: DecisionRequest,
  run: core.StoredRun,
): MessageInitShape<typeof DecisionRequestSchema> {
  const { source, operationId, callId, argumentsJson, argumentsDigest } = request;
  return {
    capability: { action: 'apps.call', target: `${source.connectionId}/${source.name}` },
    toolCallId: run.callId,
    app: { id: operationId === '' ? callId : operationId, callId, argumentsJson, argumentsDigest },
    code: { run: run.id, index: request.index, code: run.code },
  };
}

export function toCodeRun(record: RunRecord): MessageInitShape<typeof CodeRunSchema> {
  const { run } = record;
  return {
    id: run.id,
    session: run.session,
    turn: run.turn,
    callId: run.callId,
    owner: run.owner,
    status: statuses[run.status],
    code: run.code,
    reason: run.reason,
    calls: toCalls(callsOf(record)),
    ...(run.result === undefined ? {} : { result: toResult(run.result) }),
    limits: run.limits,
    attempts: run.attempts.map(toAttempt),
    createdAtMs: BigInt(run.createdAtMs),
    updatedAtMs: BigInt(run.updatedAtMs),
  };
}

/** Payloads are given in the order of issue while they fit; from there on they are left out, and said to be. */
function toCalls(calls: readonly CallView[]): MessageInitShape<typeof CallSchema>[] {
  let left: number = limits.recordBytesMax;
  return calls.map((call) => {
    left -= callBytes(call);
    return left >= 0 ? toCall(call) : { ...toCall(withoutPayload(call)), payloadOmitted: true };
  });
}

function withoutPayload(call: CallView): CallView {
  const { outcome } = call;
  const emptied = outcome?.tag === 'Completed' ? { ...outcome, valueJson: '' } : outcome;
  return { ...call, argumentsJson: '', ...(emptied === undefined ? {} : { outcome: emptied }) };
}

function toCall(call: CallView): MessageInitShape<typeof CallSchema> {
  const { outcome, settledAtMs, issuedAtMs, source, ...rest } = call;
  return {
    ...rest,
    source: toSource(source),
    issuedAtMs: BigInt(issuedAtMs),
    ...(settledAtMs === undefined ? {} : { settledAtMs: BigInt(settledAtMs) }),
    ...(outcome === undefined ? {} : { outcome: toOutcome(outcome) }),
  };
}

function toOutcome(outcome: NonNullable<CallView['outcome']>): MessageInitShape<typeof CallOutcomeSchema> {
  switch (outcome.tag) {
    case 'Waiting':
      return { outcome: { case: 'waiting', value: {} } };
    case 'Denied':
      return { outcome: { case: 'denied', value: { message: outcome.message } } };
    case 'Completed':
      return done({ case: 'completed', value: { valueJson: outcome.valueJson } });
    case 'Failed':
      return done({
        case: 'failed',
        value: { reason: callFailureReasons[outcome.reason], message: outcome.message },
      });
    case 'InputRequired':
      return done({ case: 'inputRequired', value: { operationId: outcome.operationId } });
  }
}

type CallDoneInit = Extract<
  NonNullable<MessageInitShape<typeof CallOutcomeSchema>['outcome']>,
  { case: 'done' }
>['value'];

function done(result: NonNullable<CallDoneInit['result']>): MessageInitShape<typeof CallOutcomeSchema> {
  return { outcome: { case: 'done', value: { result } } };
}

function toResult(result: core.RunResult): MessageInitShape<typeof CodeRunResultSchema> {
  const logs = result.logs.map(toLogLine);
  switch (result.tag) {
    case 'Completed': {
      const value = result.valueJson === undefined ? {} : { valueJson: result.valueJson };
      return { result: { case: 'completed', value: { ...value, logs } } };
    }
    case 'Failed': {
      const { message, line, column } = result;
      const reason = failureReasons[result.reason];
      return { result: { case: 'failed', value: { reason, message, line, column, logs } } };
    }
    case 'Cancelled':
      return { result: { case: 'cancelled', value: { logs } } };
  }
}

function toAttempt(attempt: core.Attempt) {
  const { startedAtMs, endedAtMs, cpuMs, memoryBytes, ...rest } = attempt;
  return {
    ...rest,
    startedAtMs: BigInt(startedAtMs),
    ...(endedAtMs === undefined ? {} : { endedAtMs: BigInt(endedAtMs) }),
    cpuMs: Math.round(cpuMs),
    memoryBytes: BigInt(Math.round(memoryBytes)),
  };
}
