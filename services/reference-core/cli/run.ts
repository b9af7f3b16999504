/** `code-mode run`: one program, from its start to its end. */
import { randomUUID } from 'node:crypto';
import { ReferenceCore, type RunEnd } from '../client/core.ts';
import { Apps } from '../mcp/apps.ts';
import type { ServerConfig } from '../mcp/config.ts';
import type { Decider } from '../operations/decider.ts';
import { OperationRecord } from '../operations/record.ts';
import { connectApps } from './apps.ts';
import { type ExitStatus, exitStatus } from './exit.ts';
import { runJson } from './run-json.ts';
import type { Service } from './service.ts';
import { failureText, liveObserver, valueText } from './show.ts';
import type { Terminal } from './terminal.ts';

export interface RunOptions {
  readonly code: string;
  readonly reason: string;
  readonly servers: readonly ServerConfig[];
  readonly decider: Decider;
  /** The whole run as JSON instead of its value. */
  readonly json: boolean;
  /** Show the calls as they come. */
  readonly calls: boolean;
}

export async function runProgram(
  service: Service,
  options: RunOptions,
  terminal: Terminal,
  signal: AbortSignal,
  /** Called once the run has ended, before its end is shown. */
  onEnd: () => void = () => {},
): Promise<ExitStatus> {
  const apps = new Apps(options.servers);
  using record = new OperationRecord(':memory:');
  try {
    await connectApps(apps, signal);
    const core = new ReferenceCore({ client: service.client, apps, record, decider: options.decider });
    let runId = '';
    const observer = {
      ...liveObserver(terminal, options.calls),
      accepted: (accepted: { readonly runId: string }) => {
        runId = accepted.runId;
      },
    };
    const id = randomUUID();
    const request = {
      session: id,
      turn: id,
      callId: id,
      owner: 'local',
      code: options.code,
      reason: options.reason,
    };
    try {
      const end = await core.run(request, observer, signal);
      onEnd();
      return showEnd(end, options.json, terminal);
    } catch (error) {
      // The person stopped the program: the run must not look as if it were to go on.
      if (signal.aborted && runId !== '') await service.client.cancelCodeRun({ runId }).catch(() => {});
      throw error;
    }
  } finally {
    await apps.close();
  }
}

function showEnd(end: RunEnd, json: boolean, terminal: Terminal): ExitStatus {
  if (end.tag === 'Waiting') {
    terminal.note(`The run ${end.waiting.runId} waits for a decision, and there is nobody to ask.`);
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
