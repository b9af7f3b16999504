/**
 * Runs and settings in the JSON of the HTTP routes.
 *
 * J1  Values of programs (arguments, results) are put in as the JSON text that was recorded: they are not
 *     parsed, so that a large run costs no more than its length and no number loses digits.
 * J2  Text comes in pieces, one call a piece, so that a large run is never one string.
 */
import type { Attempt, LogLine, Outcome, RunResult } from '../../core/model.ts';
import type { RunRecord } from '../../runner/contract.ts';
import type { PlatformSettings } from '../../store/contract.ts';
import { type CallView, callsOf } from '../calls.ts';

/** JSON text that is put in as it is. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Raw | string | number | boolean | readonly Value[] | Fields;
interface Fields {
  readonly [name: string]: Value | undefined;
}

export function* runJson(record: RunRecord): Generator<string, void, void> {
  const { run } = record;
  const head = {
    id: run.id,
    session: run.session,
    turn: run.turn,
    callId: run.callId,
    owner: run.owner,
    status: run.status,
    code: run.code,
    reason: run.reason,
  };
  const tail = {
    result: run.result === undefined ? undefined : resultJson(run.result),
    limits: { ...run.limits },
    attempts: run.attempts.map(attemptJson),
    createdAt: run.createdAtMs,
    updatedAt: run.updatedAtMs,
  };
  yield `${text(head).slice(0, -1)},"calls":[`;
  let separator = '';
  for (const call of callsOf(record)) {
    yield separator + text(callJson(call));
    separator = ',';
  }
  yield `],${text(tail).slice(1)}`;
}

export function* pageJson(
  records: readonly RunRecord[],
  nextPageToken: string | undefined,
): Generator<string> {
  yield '{"runs":[';
  for (const [index, record] of records.entries()) {
    if (index > 0) yield ',';
    yield* runJson(record);
  }
  yield nextPageToken === undefined ? ']}' : `],"nextPageToken":${JSON.stringify(nextPageToken)}}`;
}

export function settingsJson({ version, ...codeMode }: PlatformSettings): object {
  return { version, codeMode };
}

function callJson(call: CallView): Fields {
  const { connectionId, connectionName, kind, name } = call.source;
  return {
    index: call.index,
    binding: call.binding,
    source: { connectionId, connectionName, kind, name },
    operationId: call.operationId,
    callId: call.callId,
    arguments: new Raw(call.argumentsJson),
    argumentsDigest: call.argumentsDigest,
    outcome: call.outcome === undefined ? undefined : outcomeJson(call.outcome),
    issuedAt: call.issuedAtMs,
    settledAt: call.settledAtMs,
    line: call.line,
    column: call.column,
  };
}

function outcomeJson(outcome: Outcome | { readonly tag: 'Waiting' }): Fields {
  switch (outcome.tag) {
    case 'Waiting':
      return { _tag: 'Waiting' };
    case 'Denied':
      return { _tag: 'Denied', message: outcome.message };
    case 'Completed':
      return { _tag: 'Done', result: { _tag: 'Completed', value: new Raw(outcome.valueJson) } };
    case 'Failed': {
      const { reason, message } = outcome;
      return { _tag: 'Done', result: { _tag: 'Failed', reason, message } };
    }
    case 'InputRequired':
      return { _tag: 'Done', result: { _tag: 'InputRequired', operationId: outcome.operationId } };
  }
}

function resultJson(result: RunResult): Fields {
  const logs = result.logs.map(logJson);
  switch (result.tag) {
    case 'Completed': {
      const value = result.valueJson === undefined ? undefined : new Raw(result.valueJson);
      return { _tag: 'Completed', value, logs };
    }
    case 'Failed': {
      const { reason, message, line, column } = result;
      return { _tag: 'Failed', reason, message, line, column, logs };
    }
    case 'Cancelled':
      return { _tag: 'Cancelled', logs };
  }
}

function logJson({ index, level, text: line }: LogLine): Fields {
  return { index, level, text: line };
}

function attemptJson(attempt: Attempt): Fields {
  const { number, startedAtMs, endedAtMs, cpuMs, memoryBytes, replayedCalls, fingerprint } = attempt;
  return {
    number,
    startedAt: startedAtMs,
    endedAt: endedAtMs,
    cpuMs,
    memoryBytes,
    replayedCalls,
    fingerprint,
  };
}

function text(value: Value): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(text).join(',')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}:${text(member)}`],
  );
  return `{${members.join(',')}}`;
}
