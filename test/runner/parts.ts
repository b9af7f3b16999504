/** What tests of the runner need: a runner on the simulated sandbox, and a core that follows a script. */

import type { Binding } from '../../services/code-run/core/model.ts';
import { systemClock } from '../../services/code-run/runner/clock.ts';
import type {
  PerformCall,
  ReportedOutcome,
  ResumeRun,
  RunEvent,
  Sandbox,
  StartRun,
} from '../../services/code-run/runner/contract.ts';
import { EventQueue } from '../../services/code-run/runner/event-queue.ts';
import { Runner } from '../../services/code-run/runner/runner.ts';
import type { RunnerSettings } from '../../services/code-run/runner/settings.ts';
import { runnerDefaults } from '../../services/code-run/runner/settings.ts';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { silentLog } from '../../services/shared/log.ts';
import { MemoryStore } from '../sim/memory-store.ts';
import { SimSandbox } from '../sim/sandbox.ts';

export const bindings: readonly Binding[] = ['read', 'write', 'send'].map((name) => ({
  connection: 'notes',
  capability: name,
  rawName: name,
  source: { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name },
}));

export function startOf(code: string, callId = 'call-9'): StartRun {
  return {
    session: 's-1',
    turn: 't-1',
    callId,
    owner: 'someone',
    code,
    reason: 'to test',
    program: { text: code, columnShifts: [] },
    bindings,
    limits: { timeoutMs: 1000, memoryMb: 64, outputBytes: 65_536 },
  };
}

export function resumeOf(runId: string, more: Partial<ResumeRun> = {}): ResumeRun {
  return { runId, currentBindings: bindings, outcomes: [], logLinesReceived: 0, ...more };
}

export function runnerOn(
  parts: { store?: CodeRunStore; sandbox?: Sandbox; settings?: Partial<RunnerSettings> } = {},
) {
  const store = parts.store ?? new MemoryStore();
  const sandbox = parts.sandbox ?? new SimSandbox();
  const settings: RunnerSettings = { ...runnerDefaults, instance: 'one', ...parts.settings };
  return {
    store,
    sandbox,
    runner: new Runner({ store, sandbox, clock: systemClock, settings, log: silentLog }),
  };
}

export type Reply = ReportedOutcome['outcome'] | undefined;

export interface Played {
  readonly events: readonly RunEvent[];
  readonly calls: readonly PerformCall[];
  readonly last: RunEvent | undefined;
}

/** Plays the core: answers each call by `answer`, until the stream ends. An error is thrown. */
export async function play(
  begin: (outcomes: AsyncIterable<ReportedOutcome>, signal: AbortSignal) => AsyncIterable<RunEvent>,
  answer: (call: PerformCall) => Reply,
  signal: AbortSignal = new AbortController().signal,
): Promise<Played> {
  const outcomes = new EventQueue<ReportedOutcome>();
  const events: RunEvent[] = [];
  for await (const event of begin(outcomes, signal)) {
    events.push(event);
    if (event.tag !== 'Call') continue;
    const outcome = answer(event.call);
    if (outcome !== undefined) outcomes.push(reported(event.call.index, outcome));
  }
  const calls = events.filter((event) => event.tag === 'Call').map(({ call }) => call);
  return { events, calls, last: events.at(-1) };
}

export function reported(index: number, outcome: ReportedOutcome['outcome']): ReportedOutcome {
  return { index, callId: '', argumentsDigest: '', operationId: '', outcome };
}

export function completed(value: unknown): Reply {
  return { tag: 'Completed', valueJson: JSON.stringify(value) };
}
