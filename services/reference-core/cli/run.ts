/** `code-mode run` and `code-mode runs resume`: a run to its end, or until nobody can decide. */
import { randomUUID } from 'node:crypto';
import type { RunWaiting } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type { RunObserver } from '../client/attempt.ts';
import { ReferenceCore, type RunEnd } from '../client/core.ts';
import { Apps } from '../mcp/apps.ts';
import type { ServerConfig } from '../mcp/config.ts';
import { type Policy, PolicyDecider } from '../operations/policy.ts';
import { OperationRecord } from '../operations/record.ts';
import { connectApps } from './apps.ts';
import { type Input, terminalAsk } from './ask.ts';
import { type ExitStatus, exitStatus } from './exit.ts';
import { runJson } from './run-json.ts';
import { readRun } from './runs.ts';
import type { Service } from './service.ts';
import { failureText, liveObserver, valueText } from './show.ts';
import { oneLine, type Terminal } from './terminal.ts';

/** The session of every run of the command line. */
export const localSession = 'command-line';

/** With what and how a run is driven. */
export interface DriveOptions {
  readonly servers: readonly ServerConfig[];
  readonly policy: Policy;
  /** Subject that a new run belongs to. */
  readonly owner: string;
  /** Where a person may sit who decides. */
  readonly input: Input;
  /** File of the operation record, or ":memory:". */
  readonly record: string;
  /** The whole run as JSON instead of its value. */
  readonly json: boolean;
  /** Show the calls as they come. */
  readonly calls: boolean;
  /** Called once the run has ended, before its end is shown. */
  readonly onEnd?: () => void;
}

export interface Program {
  readonly code: string;
  readonly reason: string;
}

export function runProgram(
  service: Service,
  { code, reason }: Program,
  options: DriveOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const id = randomUUID();
  const { owner } = options;
  const request = { session: localSession, turn: id, callId: id, owner, code, reason };
  return drive(service, options, terminal, signal, (core, observer) => core.run(request, observer, signal));
}

export function resumeRun(
  service: Service,
  runId: string,
  options: DriveOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitStatus> {
  return drive(service, options, terminal, signal, (core, observer) => core.resume(runId, observer, signal));
}

async function drive(
  service: Service,
  options: DriveOptions,
  terminal: Terminal,
  signal: AbortSignal,
  begin: (core: ReferenceCore, observer: RunObserver) => Promise<RunEnd>,
): Promise<ExitStatus> {
  const apps = new Apps(options.servers);
  using record = new OperationRecord(options.record);
  const decider = new PolicyDecider(
    options.policy,
    (source) => apps.isReadOnly(source),
    terminalAsk(options.input, terminal),
  );
  let runId = '';
  const observer: RunObserver = {
    ...liveObserver(terminal, options.calls),
    accepted: (accepted) => {
      runId = accepted.runId;
    },
  };
  try {
    await connectApps(apps, signal);
    const core = new ReferenceCore({ client: service.client, apps, record, decider });
    const end = await begin(core, observer);
    options.onEnd?.();
    return await showEnd(end, service, options, terminal);
  } catch (error) {
    // The person stopped the program: the run must not look as if it were to go on.
    if (signal.aborted && runId !== '') await service.client.cancelCodeRun({ runId }).catch(() => {});
    throw error;
  } finally {
    await apps.close();
  }
}

async function showEnd(
  end: RunEnd,
  { client }: Service,
  { json, record }: DriveOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (end.tag === 'Waiting') {
    if (json) terminal.result(JSON.stringify(runJson(await readRun(client, end.waiting.runId))));
    showWaiting(end.waiting, record !== ':memory:', terminal);
    return exitStatus.waiting;
  }
  if (json) terminal.result(JSON.stringify(runJson(end.run)));
  const failure = failureText(terminal, end.run);
  if (failure !== undefined) {
    terminal.note(failure);
    return exitStatus.runFailed;
  }
  const value = valueText(end.run);
  if (value !== undefined && !json) terminal.result(value);
  return exitStatus.ok;
}

/** `stays`: the run is kept by a service elsewhere. */
function showWaiting({ runId, requests }: RunWaiting, stays: boolean, terminal: Terminal): void {
  terminal.note(`Run ${runId} waits for decisions, and nobody is there to make them:`);
  for (const { capability, app } of requests) {
    terminal.note(`  ${capability?.target ?? ''} ${oneLine(app?.argumentsJson ?? '', 200)}`);
  }
  terminal.note(
    stays
      ? 'Decide in a terminal with "runs resume", or beforehand with --policy or --yes.'
      : 'It ends with this command. Run it in a terminal to be asked, decide beforehand with --policy or --yes, or have a service keep it with --server.',
  );
}
