/**
 * How an attempt ended, as the sandbox says, and what that makes of the run.
 *
 * E1  The reason comes from facts; a message of the program never changes it.
 * E2  Every message says what to do instead.
 */
import { limits } from '../../shared/limits.ts';
import { exceedsUtf8, truncateUtf8 } from '../../shared/text.ts';
import { unreachable } from '../../shared/unreachable.ts';
import type { FailureReason, LogLine, RunLimits, RunResult } from './model.ts';
import { isJson } from './outcome.ts';

/** Ends that make the run final. */
export type ProgramEndReason = 'Returned' | 'Error' | 'Timeout' | 'Memory' | 'OutputTooLarge' | 'Violation';

export interface ProgramEnd {
  readonly reason: ProgramEndReason;
  /** Absent: undefined, or it did not return. */
  readonly valueJson?: string;
  readonly message: string;
  readonly errorName: string;
  readonly line: number;
  readonly column: number;
}

export function resultOf(end: ProgramEnd, runLimits: RunLimits, logs: readonly LogLine[]): RunResult {
  switch (end.reason) {
    case 'Returned':
      return returned(end, runLimits, logs);
    case 'Error':
      return failed('Error', thrownText(end), end, logs);
    case 'Timeout':
      return failed('Timeout', timeoutText(runLimits), end, logs);
    case 'Memory':
      return failed('Memory', memoryText(runLimits), end, logs);
    case 'OutputTooLarge':
      // The sandbox knows how large the value was; it never left it.
      return failed('OutputTooLarge', end.message === '' ? outputText(runLimits) : end.message, end, logs);
    case 'Violation':
      return failed('Error', violationText, end, logs);
    default:
      return unreachable(end.reason);
  }
}

/** The run could not go on for a reason that is not the program's. */
export function unavailableResult(message: string, logs: readonly LogLine[]): RunResult {
  return failed('Unavailable', message, nowhere, logs);
}

/** The sandbox said what cannot be. */
export function breachResult(detail: string, logs: readonly LogLine[]): RunResult {
  const message = `The sandbox broke its protocol (${detail}). The program is not tried again.`;
  return failed('Error', message, nowhere, logs);
}

export function fullResult(logs: readonly LogLine[]): RunResult {
  const message =
    `The arguments and results of the run's calls take more than ${limits.runBytesMax} bytes. ` +
    'Send and ask for less, or split the work over several runs.';
  return failed('Error', message, nowhere, logs);
}

export function failed(
  reason: FailureReason,
  message: string,
  position: { readonly line: number; readonly column: number },
  logs: readonly LogLine[],
): RunResult {
  const { line, column } = position;
  return {
    tag: 'Failed',
    reason,
    message: truncateUtf8(message, limits.messageBytesMax),
    line,
    column,
    logs,
  };
}

export const nowhere = { line: 0, column: 0 } as const;

function returned(end: ProgramEnd, runLimits: RunLimits, logs: readonly LogLine[]): RunResult {
  const { valueJson } = end;
  if (valueJson === undefined) return { tag: 'Completed', logs };
  if (exceedsUtf8(valueJson, runLimits.outputBytes)) {
    return failed('OutputTooLarge', outputText(runLimits), end, logs);
  }
  if (!isJson(valueJson)) return failed('Error', violationText, end, logs);
  return { tag: 'Completed', valueJson, logs };
}

/** How an end reads where a call was expected. */
export function endText(end: ProgramEnd): string {
  return end.reason === 'Returned' ? 'The program returned.' : `The program ended: ${thrownText(end)}`;
}

function thrownText(end: ProgramEnd): string {
  if (end.errorName === '') return end.message;
  return end.message === '' ? end.errorName : `${end.errorName}: ${end.message}`;
}

function timeoutText({ timeoutMs }: RunLimits): string {
  return (
    `The program used all its processor time (${timeoutMs} ms). Waiting for app calls does not count. ` +
    'Do less work in the program: ask the apps for less, or split the work over several runs. ' +
    'Time stands still in a program, so a loop that waits for Date.now() to pass never ends.'
  );
}

function memoryText({ memoryMb }: RunLimits): string {
  return (
    `The program used all its memory (${memoryMb} MiB). ` +
    'Hold less at once: fetch page by page and keep only the fields that are needed.'
  );
}

function outputText({ outputBytes }: RunLimits): string {
  return (
    `The program returned more than ${outputBytes} bytes of JSON. ` +
    'Return less: only the fields and rows that are needed, a count, or a summary.'
  );
}

export const diedText =
  'The process that ran the program died twice. It is not tried again: write the program in a simpler way, ' +
  'with less data at once.';

const violationText =
  'The process that ran the program broke the rules of its sandbox and was stopped. ' +
  'It is not tried again: write the program in a simpler way.';
