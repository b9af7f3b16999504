/** `code-mode runs`: what there is, and what came of it. */
import { setTimeout as pause } from 'node:timers/promises';
import { type CodeRun, CodeRunStatus } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import { appLimits } from '../../shared/limits.ts';
import type { CodeRunClient } from '../client/attempt.ts';
import { CommandError, type ExitStatus, exitStatus } from './exit.ts';
import { outcomeName, runJson, statusName } from './run-json.ts';
import { failureText, logText, valueText } from './show.ts';
import { oneLine, printable, type Terminal } from './terminal.ts';

export interface ListOptions {
  readonly session: string;
  readonly most: number;
  readonly json: boolean;
}

/** Newest first, one run a line. */
export async function listRuns(
  client: CodeRunClient,
  options: ListOptions,
  terminal: Terminal,
): Promise<void> {
  let left = options.most;
  let pageToken = '';
  do {
    const page = await client.listCodeRuns({
      session: options.session,
      pageSize: Math.min(left, appLimits.runsPageMax),
      pageToken,
    });
    for (const run of page.runs) {
      terminal.result(options.json ? JSON.stringify(runJson(run)) : lineOf(run));
    }
    left -= page.runs.length;
    pageToken = page.nextPageToken;
  } while (pageToken !== '' && left > 0);
}

function lineOf(run: CodeRun): string {
  const at = new Date(Number(run.createdAtMs)).toISOString().replace('T', ' ').slice(0, 19);
  const calls = `${run.calls.length} ${run.calls.length === 1 ? 'call' : 'calls'}`;
  return `${run.id}  ${at}  ${statusName(run.status).padEnd(9)}  ${calls.padStart(9)}  ${oneLine(run.code, 60)}`;
}

export async function showRun(
  client: CodeRunClient,
  runId: string,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const run = await readRun(client, runId);
  if (json) {
    terminal.result(JSON.stringify(runJson(run)));
    return;
  }
  terminal.result(`${run.id}  ${statusName(run.status)}\n${oneLine(run.reason, 200)}\n`);
  terminal.result(`${printable(run.code).trimEnd()}\n`);
  for (const call of run.calls) terminal.result(callLine(run, call.index));
  for (const line of run.result?.result.value?.logs ?? []) terminal.result(logText(terminal, line));
  const end = failureText(terminal, run) ?? valueText(run);
  if (end !== undefined) terminal.result(`\n${end}`);
}

/** Shows calls as they are issued and settled, until the run is final. */
export async function followRun(
  client: CodeRunClient,
  runId: string,
  json: boolean,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const shown = new Map<number, string>();
  let status: CodeRunStatus | undefined;
  for (;;) {
    const run = await readRun(client, runId);
    for (const { index } of run.calls) {
      const line = callLine(run, index);
      if (shown.get(index) !== line) terminal.note(line);
      shown.set(index, line);
    }
    if (run.status !== status) terminal.note(terminal.style('bold', statusName(run.status)));
    status = run.status;
    if (run.result !== undefined) return showResult(run, json, terminal);
    await pause(appLimits.followPauseMs, undefined, { signal });
  }
}

function showResult(run: CodeRun, json: boolean, terminal: Terminal): ExitStatus {
  if (json) terminal.result(JSON.stringify(runJson(run)));
  for (const line of run.result?.result.value?.logs ?? []) terminal.note(logText(terminal, line));
  const failure = failureText(terminal, run);
  if (failure !== undefined) terminal.note(failure);
  const value = valueText(run);
  if (value !== undefined && !json) terminal.result(value);
  return run.status === CodeRunStatus.COMPLETED ? exitStatus.ok : exitStatus.runFailed;
}

export async function cancelRun(
  client: CodeRunClient,
  runId: string,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const { run } = await client.cancelCodeRun({ runId });
  if (run === undefined) return;
  terminal.result(json ? JSON.stringify(runJson(run)) : `${run.id}  ${statusName(run.status)}`);
}

function callLine(run: CodeRun, index: number): string {
  const call = run.calls[index];
  if (call === undefined) return '';
  return `${index}  ${call.binding}  ${outcomeName(call.outcome)}  ${oneLine(call.argumentsJson, 100)}`;
}

export async function readRun(client: CodeRunClient, runId: string): Promise<CodeRun> {
  const { run } = await client.getCodeRun({ runId });
  if (run === undefined) throw new CommandError(exitStatus.unavailable, 'the service sent no run');
  return run;
}
