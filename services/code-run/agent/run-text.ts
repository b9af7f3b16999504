/**
 * What an agent reads about its run: how it ended, where and why it did not, what to do instead, the calls that
 * were made, the log, the result. Pure.
 *
 * A1: value, calls and log share one budget: the run's outputBytes and agentTextSpareBytes beside it. A2: what
 * apps and the program wrote cannot pass for one of the headings: it stands last, or every line is indented.
 */
import { limits } from '../../shared/limits.ts';
import { utf8Bytes } from '../../shared/text.ts';
import { unreachable } from '../../shared/unreachable.ts';
import type { LogLine, RunResult, StoredRun } from '../core/model.ts';
import type { DecisionRequest, RunRecord } from '../runner/contract.ts';
import { adviceFor } from './advice.ts';
import { callLines, countCalls, countDenied } from './calls.ts';
import { clip, clipLines } from './clip.ts';
import { excerpt } from './excerpt.ts';

type Failed = Extract<RunResult, { tag: 'Failed' }>;

/** Of a run that is final. */
export function finishedText(record: RunRecord): string {
  const { result } = record.run;
  if (result === undefined) return `The run is ${record.run.status}.`;
  const calls = countCalls(record.journal);
  switch (result.tag) {
    case 'Completed': {
      const value = valueText(result.valueJson);
      return sections(
        [`Completed after ${counted(calls, 'call')}.`],
        callSection(record),
        logSection(result.logs, record.run.limits.outputBytes - utf8Bytes(value)),
        [value],
        // As of a program that only defines functions.
        calls + result.logs.length === 0 && result.valueJson === undefined ? [didNothing] : [],
      );
    }
    case 'Failed':
      return sections(
        failure(record, result, calls),
        callSection(record),
        logSection(result.logs, record.run.limits.outputBytes),
      );
    case 'Cancelled':
      return sections(
        [`Cancelled: the run was stopped after ${counted(calls, 'call')}. It makes no more calls.`],
        callSection(record),
        logSection(result.logs, record.run.limits.outputBytes),
      );
    default:
      return unreachable(result);
  }
}

/** Of a run that waits for decisions. */
export function waitingText(run: StoredRun, requests: readonly DecisionRequest[]): string {
  const names = new Map(
    run.bindings.map(({ source, connection, capability }) => [
      `${source.kind} ${source.connectionId} ${source.name}`,
      `${connection}.${capability}`,
    ]),
  );
  const rows = requests.map(({ index, source, argumentsJson }) => {
    const name = names.get(`${source.kind} ${source.connectionId} ${source.name}`) ?? source.name;
    return `  ${index} ${name} ${clip(argumentsJson, limits.agentArgumentsBytesMax)}`;
  });
  const one = requests.length === 1;
  return sections(
    [
      `Waiting: ${counted(requests.length, 'call')} ${one ? 'needs' : 'need'} a decision before the run goes on.`,
      'It goes on by itself after that. Do not run the program again.',
    ],
    [`Waiting for:`, ...clipLines(rows, limits.agentCallsBytesMax, 'calls')],
  );
}

// ---- A failure -----------------------------------------------------------------------------------

function failure(record: RunRecord, result: Failed, calls: number): string[] {
  const { reason, message, line, column } = result;
  const place = line > 0 ? ` at line ${line}, column ${column}` : '';
  return [
    `Failed (${reason})${place}: ${clip(message, limits.agentMessageBytesMax)}`,
    ...excerpt(record.run.code, line, column),
    ...adviceFor(record, reason, message),
    ...(calls === 0 ? [] : madeText(calls, countDenied(record.journal))),
  ];
}

/** A call that was denied was never made. */
function madeText(calls: number, denied: number): string[] {
  if (denied === calls) return [];
  const which = denied === 0 ? 'The calls below' : 'The calls below that were not denied';
  return [`${which} were made and stay made: do not repeat them blindly.`];
}

// ---- Sections ------------------------------------------------------------------------------------

function callSection({ run, journal }: RunRecord): string[] {
  const waiting = new Set(run.status === 'Waiting' ? run.waiting.map(({ index }) => index) : []);
  const lines = callLines(journal, waiting).map((line) => indented(line));
  return lines.length === 0 ? [] : ['Calls:', ...clipLines(lines, limits.agentCallsBytesMax, 'lines')];
}

function logSection(logs: readonly LogLine[], room: number): string[] {
  if (logs.length === 0) return [];
  const lines = logs.map(({ level, text }) => indented(level === 'info' ? text : `[${level}] ${text}`));
  return ['Log:', ...clipLines(lines, Math.max(room, limits.agentLogBytesMin), 'lines')];
}

const didNothing =
  'It called no app and wrote nothing either. Call the functions that it defines, and return what you want to see.';

function valueText(valueJson: string | undefined): string {
  if (valueJson === undefined) return 'It returned nothing.';
  const value: unknown = valueJson.startsWith('"') ? JSON.parse(valueJson) : undefined;
  return typeof value === 'string' ? `Result (text):\n${value}` : `Result:\n${valueJson}`;
}

function indented(text: string): string {
  return `  ${text.replace(/\r\n|[\n\r\u2028\u2029]/g, '\n  ')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function sections(...parts: readonly (readonly string[])[]): string {
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
}
