/** Runs as lines for a person. */
import type { CodeRun, LogLine } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type { PerformCall } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type { RunObserver } from '../client/attempt.ts';
import { toLevel } from '../client/convert.ts';
import type { CoreOutcome } from '../operations/operations.ts';
import { failureName } from './run-json.ts';
import { oneLine, printable, type Style, type Terminal } from './terminal.ts';

const logStyles: Readonly<Record<string, Style>> = { debug: 'dim', warn: 'yellow', error: 'red' };
const callColumns = 110;

/** Writes calls and log lines as they come. */
export function liveObserver(terminal: Terminal, calls: boolean): RunObserver {
  return {
    ...(calls
      ? {
          call: (call: PerformCall) =>
            terminal.note(terminal.style('cyan', `→ ${call.index} ${call.binding}`) + args(call)),
          outcome: (call: PerformCall, outcome: CoreOutcome) =>
            terminal.note(terminal.style('cyan', `← ${call.index} `) + outcomeLine(outcome)),
        }
      : {}),
    log: (line) => terminal.note(logText(terminal, line)),
    refused: ({ index, message }) =>
      terminal.note(terminal.style('red', `the outcome of call ${index} was refused: ${message}`)),
    interrupted: (error, delayMs) =>
      terminal.note(terminal.style('yellow', `${error.message}; resuming in ${delayMs} ms`)),
  };
}

function args({ argumentsJson }: PerformCall): string {
  return argumentsJson === '{}' ? '' : ` ${oneLine(argumentsJson, callColumns)}`;
}

function outcomeLine(outcome: CoreOutcome): string {
  switch (outcome.tag) {
    case 'Completed':
      return oneLine(outcome.valueJson, callColumns);
    case 'Failed':
      return `failed: ${outcome.reason}: ${oneLine(outcome.message, callColumns)}`;
    case 'Denied':
      return `denied: ${oneLine(outcome.message, callColumns)}`;
    case 'InputRequired':
      return `needs input: ${outcome.operationId}`;
    case 'Waiting':
      return 'waits for a decision';
    case 'Unknown':
      return `outcome unknown: ${oneLine(outcome.message, callColumns)}`;
  }
}

export function logText(terminal: Terminal, line: LogLine): string {
  const style = logStyles[toLevel(line.level)];
  const text = printable(line.text);
  return style === undefined ? text : terminal.style(style, text);
}

/** The value of a completed run as it goes to the output; undefined if the program returned none. */
export function valueText(run: CodeRun): string | undefined {
  const result = run.result?.result;
  if (result?.case !== 'completed' || result.value.valueJson === undefined) return undefined;
  const value: unknown = JSON.parse(result.value.valueJson);
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Why a run has no value, with the line of the program where there is one. */
export function failureText(terminal: Terminal, run: CodeRun): string | undefined {
  const result = run.result?.result;
  if (result?.case === 'cancelled') return terminal.style('red', 'Cancelled');
  if (result?.case !== 'failed') return undefined;
  const { reason, message, line, column } = result.value;
  const at = line === 0 ? '' : ` at line ${line}, column ${column}`;
  const head = terminal.style('red', `${failureName(reason)}${at}: `) + printable(message);
  // Messages may show the line themselves.
  const shown = message.includes('\n') ? undefined : excerpt(run.code, line, column);
  return shown === undefined ? head : `${head}\n${shown}`;
}

/** The line of the program with a mark under the column. */
function excerpt(code: string, line: number, column: number): string | undefined {
  const text = code.split(/\r\n|\n|\r/)[line - 1];
  if (text === undefined) return undefined;
  const gutter = `${line} | `;
  const mark = column === 0 ? '' : `\n${' '.repeat(gutter.length + column - 1)}^`;
  return `${gutter}${printable(text).replaceAll('\t', ' ')}${mark}`;
}
