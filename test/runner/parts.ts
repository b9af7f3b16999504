/** What tests of the runner need: a runner on the simulated sandbox, and a core that follows a script. */

import type { Binding } from '../../services/code-run/core/model.ts';
import { type Clock, systemClock } from '../../services/code-run/runner/clock.ts';
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
import { initialCallLimits } from '../../services/shared/limits.ts';
import { type Log, silentLog } from '../../services/shared/log.ts';
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
    limits: { timeoutMs: 1000, memoryMb: 64, outputBytes: 65_536, ...initialCallLimits },
  };
}

export function resumeOf(runId: string, more: Partial<ResumeRun> = {}): ResumeRun {
  return { runId, currentBindings: bindings, outcomes: [], logLinesReceived: undefined, ...more };
}

export interface TestParts {
  readonly store?: CodeRunStore;
  readonly sandbox?: Sandbox;
  readonly settings?: Partial<RunnerSettings>;
  readonly clock?: Clock;
  readonly log?: Log;
}

export function runnerOn(given: TestParts = {}) {
  const { store = new MemoryStore(), sandbox = new SimSandbox(), clock = systemClock } = given;
  const settings: RunnerSettings = { ...runnerDefaults, instance: 'one', ...given.settings };
  const parts = { store, sandbox, clock, settings, log: given.log ?? silentLog };
  return { ...parts, runner: new Runner(parts) };
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A log that keeps its lines. */
export function keptLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: LogLine['fields'], message: string) =>
    void lines.push({ level, fields, message });
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return { log, lines };
}

/** One stream that a test holds in its hands. */
export class Stream {
  readonly outcomes = new EventQueue<ReportedOutcome>();
  readonly abort = new AbortController();
  readonly #events: AsyncIterator<RunEvent>;
  #next: Promise<IteratorResult<RunEvent>> | undefined;

  constructor(
    begin: (outcomes: AsyncIterable<ReportedOutcome>, signal: AbortSignal) => AsyncIterable<RunEvent>,
  ) {
    this.#events = begin(this.outcomes, this.abort.signal)[Symbol.asyncIterator]();
  }

  /** Resolves when there is a next event, without taking it. */
  async peek(): Promise<void> {
    this.#next ??= this.#events.next();
    await this.#next;
  }

  /** The next event. Throws what the stream throws. */
  async next(): Promise<RunEvent> {
    const next = await (this.#next ?? this.#events.next());
    this.#next = undefined;
    if (next.done === true) throw new Error('the stream has ended');
    return next.value;
  }

  /** Reads on to the first event of a kind. */
  async until<Tag extends RunEvent['tag']>(tag: Tag): Promise<Extract<RunEvent, { tag: Tag }>> {
    for (;;) {
      const event = await this.next();
      if (event.tag === tag) return event as Extract<RunEvent, { tag: Tag }>;
    }
  }

  /** The rest of the events. */
  async rest(): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    for (let next = await this.#events.next(); next.done !== true; next = await this.#events.next()) {
      events.push(next.value);
    }
    return events;
  }

  answer(index: number, outcome: ReportedOutcome['outcome']): void {
    this.outcomes.push(reported(index, outcome));
  }

  leave(): Promise<unknown> {
    return this.#events.return?.() ?? Promise.resolve();
  }
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
