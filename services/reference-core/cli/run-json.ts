/** A run in the JSON of the HTTP routes, from the message of the gRPC API. */
import {
  type Attempt,
  type Call,
  type CallFailed,
  CallFailureReason,
  type CallOutcome,
  type CodeRun,
  type CodeRunResult,
  CodeRunStatus,
  FailureReason,
  type LogLine,
} from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import { toLevel, toSource } from '../client/convert.ts';

export function runJson(run: CodeRun): object {
  return {
    id: run.id,
    session: run.session,
    turn: run.turn,
    callId: run.callId,
    owner: run.owner,
    status: statusName(run.status),
    code: run.code,
    reason: run.reason,
    calls: run.calls.map(callJson),
    ...(run.result === undefined ? {} : { result: resultJson(run.result) }),
    ...(run.limits === undefined
      ? {}
      : {
          limits: {
            timeoutMs: run.limits.timeoutMs,
            memoryMb: run.limits.memoryMb,
            outputBytes: run.limits.outputBytes,
            callsMax: run.limits.callsMax,
            callsInFlightMax: run.limits.callsInFlightMax,
            argumentsBytesMax: run.limits.argumentsBytesMax,
            resultBytesMax: run.limits.resultBytesMax,
          },
        }),
    attempts: run.attempts.map(attemptJson),
    createdAt: Number(run.createdAtMs),
    updatedAt: Number(run.updatedAtMs),
  };
}

export function statusName(status: CodeRunStatus): string {
  return camel(CodeRunStatus[status]);
}

export function failureName(reason: FailureReason): string {
  return camel(FailureReason[reason]);
}

/** What came of a call, in few words: "Done", "Denied", "ToolError". */
export function outcomeName(outcome: CallOutcome | undefined): string {
  switch (outcome?.outcome.case) {
    case undefined:
      return 'in flight';
    case 'waiting':
      return 'Waiting';
    case 'denied':
      return 'Denied';
    case 'done': {
      const { result } = outcome.outcome.value;
      if (result.case === 'failed') return callFailureName(result.value);
      return result.case === 'inputRequired' ? 'InputRequired' : 'Completed';
    }
  }
}

function callJson(call: Call): object {
  const settledAt = call.settledAtMs;
  return {
    index: call.index,
    callId: call.callId,
    binding: call.binding,
    source: call.source === undefined ? undefined : toSource(call.source),
    arguments: parse(call.argumentsJson),
    argumentsDigest: call.argumentsDigest,
    operationId: call.operationId,
    ...(call.outcome === undefined ? {} : { outcome: outcomeJson(call.outcome) }),
    issuedAt: Number(call.issuedAtMs),
    ...(settledAt === undefined ? {} : { settledAt: Number(settledAt) }),
    line: call.line,
    column: call.column,
  };
}

function outcomeJson({ outcome }: CallOutcome): object {
  switch (outcome.case) {
    case 'waiting':
    case undefined:
      return { _tag: 'Waiting' };
    case 'denied':
      return { _tag: 'Denied', message: outcome.value.message };
    case 'done': {
      const { result } = outcome.value;
      return { _tag: 'Done', result: doneJson(result) };
    }
  }
}

type Done = Extract<CallOutcome['outcome'], { case: 'done' }>['value']['result'];

function doneJson(result: Done): object {
  switch (result.case) {
    case 'completed':
      return { _tag: 'Completed', value: parse(result.value.valueJson) };
    case 'failed':
      return { _tag: 'Failed', reason: callFailureName(result.value), message: result.value.message };
    case 'inputRequired':
      return { _tag: 'InputRequired', operationId: result.value.operationId };
    case undefined:
      return {};
  }
}

function resultJson({ result }: CodeRunResult): object {
  switch (result.case) {
    case 'completed': {
      const { valueJson, logs } = result.value;
      return {
        _tag: 'Completed',
        ...(valueJson === undefined ? {} : { value: parse(valueJson) }),
        logs: logs.map(logJson),
      };
    }
    case 'failed': {
      const { reason, message, line, column, logs } = result.value;
      return { _tag: 'Failed', reason: failureName(reason), message, line, column, logs: logs.map(logJson) };
    }
    case 'cancelled':
      return { _tag: 'Cancelled', logs: result.value.logs.map(logJson) };
    case undefined:
      return {};
  }
}

function attemptJson(attempt: Attempt): object {
  const endedAt = attempt.endedAtMs;
  return {
    number: attempt.number,
    startedAt: Number(attempt.startedAtMs),
    ...(endedAt === undefined ? {} : { endedAt: Number(endedAt) }),
    cpuMs: attempt.cpuMs,
    memoryBytes: Number(attempt.memoryBytes),
    replayedCalls: attempt.replayedCalls,
    fingerprint: attempt.fingerprint,
  };
}

function logJson(line: LogLine): object {
  return { index: line.index, level: toLevel(line.level), text: line.text };
}

function callFailureName(failed: CallFailed): string {
  return camel(CallFailureReason[failed.reason]);
}

function parse(json: string): unknown {
  return json === '' ? undefined : JSON.parse(json);
}

/** OUTPUT_TOO_LARGE → OutputTooLarge. */
function camel(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}
