/**
 * One case of a simulation: a program, a core, instances that break down, and what must hold of it all.
 *
 * P1  A run ends as an undisturbed attempt that gets the recorded outcomes in their order: same calls, same
 *     end, same log. Where order cannot matter, it ends as a run in which nothing broke.
 * P2  A core that keys on the call id performs each call at most once.
 * P3  No call reaches the core that is not in the journal, no outcome the program that is not there at its
 *     place.
 * P4  No replay is called a mismatch.
 * P5  Every outcome that does not fit is refused, and none that fits.
 * P6  At most `callsInFlightMax` calls that do not wait are with the core on one stream.
 * P7  A log line is streamed once to a core that says how many it has.
 * P8  After a cancel came back, the run is final and no call that was made after it goes out.
 */

import { expect } from 'vitest';
import { isFinal, type JournalEntry, type StoredRun } from '../../services/code-run/core/model.ts';
import type { ReportedOutcome, RunEvent, RunRecord } from '../../services/code-run/runner/contract.ts';
import { EventQueue } from '../../services/code-run/runner/event-queue.ts';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { AppError } from '../../services/shared/errors.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';
import { restsOf, seenOrder } from '../core/seen-order.ts';
import { appAnswer, type CoreHabits, SimCore } from './core.ts';
import { Instance } from './instance.ts';
import { MemoryStore } from './memory-store.ts';
import { simBindings } from './programs.ts';
import { SimRealm } from './realm.ts';
import { SimSandbox } from './sandbox.ts';
import { World } from './world.ts';

export type FaultKind =
  | 'instanceCrash'
  | 'sandboxLost'
  /** Of several in a case the first alone: the second may end the run. */
  | 'processDied'
  | 'coreGone'
  | 'coreBreakDown'
  | 'storeBefore'
  | 'storeAfter'
  | 'cancel'
  | 'secondCore';

export interface Fault {
  /** The step of the world before which it comes. */
  readonly step: number;
  readonly kind: FaultKind;
}

export interface CasePlan {
  readonly code: string;
  /** No order of outcomes shows in the result, as long as every call succeeds. */
  readonly orderFree: boolean;
  readonly seed: number;
  readonly habits: CoreHabits;
  readonly faults: readonly Fault[];
}

const start = {
  session: 's-1',
  turn: 't-1',
  callId: 'call-9',
  owner: 'someone',
  reason: 'to test',
  bindings: simBindings,
  limits: { timeoutMs: 1000, memoryMb: 64, outputBytes: 65_536, ...initialCallLimits, callsInFlightMax: 3 },
} as const;

/** The one store of a case, as each instance opens it for itself. */
export interface CaseStore {
  open(): CodeRunStore;
}

/** All instances share one object in memory. */
function sharedMemory(): CaseStore {
  const store = new MemoryStore();
  return { open: () => store };
}

export interface CaseEnd {
  readonly record: RunRecord;
  readonly core: SimCore;
  readonly attempts: number;
}

export class Case {
  readonly #plan: CasePlan;
  readonly #world: World;
  readonly #store: CaseStore;
  /** What the store has of the journal. */
  readonly #journal: JournalEntry[] = [];
  readonly #core: SimCore;
  #instances: Instance[] = [];
  #instanceCount = 0;
  #stream = new AbortController();
  #runId: string | undefined;
  #end: RunRecord | undefined;
  #error: unknown;
  #attempts = 0;
  readonly #streamed: string[] = [];
  #cancelled: { readonly journalLength: number } | undefined;
  #refused = 0;
  #lostRefusals = false;
  #died = false;

  constructor(plan: CasePlan, store: CaseStore = sharedMemory()) {
    this.#plan = plan;
    this.#store = store;
    this.#world = new World(plan.seed);
    this.#core = new SimCore(this.#world, plan.habits);
    this.#instances = [this.#newInstance(), this.#newInstance()];
  }

  async run(): Promise<CaseEnd> {
    this.#drive().catch((error: unknown) => {
      this.#error ??= error;
    });
    const faults = this.#plan.faults.toSorted((a, b) => a.step - b.step);
    await this.#world.run(
      () => this.#end !== undefined || this.#error !== undefined,
      () => {
        while (faults[0] !== undefined && faults[0].step <= this.#world.steps) {
          this.#inject(faults[0].kind);
          faults.shift();
        }
      },
      200_000,
    );
    if (this.#error !== undefined) throw this.#error;
    if (this.#end === undefined) throw new Error('no end');
    await this.#check(this.#end);
    return { record: this.#end, core: this.#core, attempts: this.#attempts };
  }

  // ---- The core's side -------------------------------------------------------------------------

  async #drive(): Promise<void> {
    let known: readonly ReportedOutcome[] = [];
    const { after } = this.#world.clock(() => true);
    while (this.#end === undefined) {
      await new Promise<void>((resolve) => after(this.#world.chance.below(500), resolve));
      const last = await this.#attempt(known);
      known = [];
      if (last?.tag === 'Finished') this.#end = last.record;
      if (last?.tag === 'Waiting') {
        this.#checkWaiting(last);
        known = this.#core.decide(last.requests);
      }
    }
  }

  /** One stream; gives its last event, or nothing if it broke. */
  async #attempt(known: readonly ReportedOutcome[]): Promise<RunEvent | undefined> {
    const instance = this.#world.chance.of(this.#instances);
    this.#stream = new AbortController();
    const { signal } = this.#stream;
    const outcomes = new EventQueue<ReportedOutcome>();
    const events = this.#open(instance, known, outcomes, signal)[Symbol.asyncIterator]();
    const inFlight = new Set<number>();
    this.#attempts += 1;
    if (this.#attempts > 500) throw new Error('too many attempts');
    try {
      for (;;) {
        const next = await Promise.race([events.next(), instance.crashed, aborted(signal)]);
        if (next === undefined || next.done === true) {
          this.#lostRefusals = true;
          return undefined;
        }
        const event = next.value;
        if (event.tag === 'Finished' || event.tag === 'Waiting') {
          this.#lostRefusals = true; // What was reported after the end is answered by nobody.
          return event;
        }
        this.#take(event, outcomes, inFlight);
      }
    } catch (error) {
      this.#lostRefusals = true;
      await this.#expected(error);
      return undefined;
    }
  }

  #open(
    instance: Instance,
    known: readonly ReportedOutcome[],
    outcomes: EventQueue<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent> {
    const { code } = this.#plan;
    if (this.#runId === undefined) {
      const program = { text: code, columnShifts: [] };
      return instance.runner.start({ ...start, code, program }, outcomes, signal);
    }
    const logLinesReceived = this.#streamed.length;
    const command = { runId: this.#runId, currentBindings: simBindings, outcomes: known, logLinesReceived };
    return instance.runner.resume(command, outcomes, signal);
  }

  #take(event: RunEvent, outcomes: EventQueue<ReportedOutcome>, inFlight: Set<number>): void {
    switch (event.tag) {
      case 'Accepted':
        this.#runId = event.run.id;
        break;
      case 'Log':
        expect(event.line.index).toBe(this.#streamed.length); // P7
        this.#streamed.push(event.line.text);
        break;
      case 'OutcomeRefused':
        if (event.message !== 'This attempt is over.') this.#refused += 1;
        break;
      case 'Call': {
        const { call } = event;
        this.#checkSent(call);
        inFlight.add(call.index);
        expect(inFlight.size).toBeLessThanOrEqual(start.limits.callsInFlightMax); // P6
        void this.#core.handle(call, (reported) => {
          // The place is free as soon as an answer was given.
          if (fits(reported, call.index)) inFlight.delete(call.index);
          outcomes.push(reported);
        });
        break;
      }
      default:
        throw new Error(`an event that is not expected here: ${event.tag}`);
    }
  }

  async #expected(error: unknown): Promise<void> {
    if (!(error instanceof AppError)) throw error;
    const id = /code run ([\w-]+)/i.exec(error.message)?.[1];
    if (error.code === 'FAILED_PRECONDITION' && this.#runId === undefined && id !== undefined) {
      this.#runId = id;
      return;
    }
    // A run that became final while nobody listened is read.
    if (error.code === 'FAILED_PRECONDITION' && this.#runId !== undefined) {
      const store = this.#store.open();
      const run = await store.get(this.#runId);
      if (run === undefined || !isFinal(run.status)) throw error;
      this.#end = { run, journal: await store.journal(this.#runId) };
      return;
    }
    expect(['ABORTED', 'UNAVAILABLE', 'CANCELLED']).toContain(error.code);
  }

  // ---- What breaks -----------------------------------------------------------------------------

  #inject(kind: FaultKind): void {
    const { chance } = this.#world;
    switch (kind) {
      case 'instanceCrash': {
        const at = chance.below(this.#instances.length);
        this.#instances[at]?.crash();
        this.#instances[at] = this.#newInstance();
        break;
      }
      case 'sandboxLost': {
        const open = this.#instances.flatMap(({ sandbox }) => sandbox.attempts.filter(({ over }) => !over));
        if (open.length > 0) chance.of(open).lose();
        break;
      }
      case 'processDied': {
        const open = this.#instances.flatMap(({ sandbox }) => sandbox.attempts.filter(({ over }) => !over));
        if (open.length > 0 && !this.#died) {
          this.#died = true;
          chance.of(open).die();
        }
        break;
      }
      case 'coreBreakDown':
        this.#core.breakDown();
        this.#stream.abort();
        break;
      case 'coreGone':
        this.#stream.abort();
        break;
      case 'storeBefore':
      case 'storeAfter':
        chance.of(this.#instances).storeFault = kind === 'storeBefore' ? 'before' : 'after';
        break;
      case 'cancel':
        void this.#cancel(chance.of(this.#instances));
        break;
      case 'secondCore':
        void this.#secondCore(chance.of(this.#instances));
        break;
    }
  }

  async #cancel(instance: Instance): Promise<void> {
    if (this.#runId === undefined) return;
    try {
      const record = await instance.runner.cancel(this.#runId);
      if (record === undefined || !isFinal(record.run.status)) throw new Error('a cancel left a run open');
      if (record.run.status === 'Cancelled') {
        this.#cancelled ??= { journalLength: record.journal.length };
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') this.#error ??= error;
    }
  }

  /** Another core resumes the same run at the same time: it must lose, or have won for good. */
  async #secondCore(instance: Instance): Promise<void> {
    if (this.#runId === undefined) return;
    const command = { runId: this.#runId, currentBindings: simBindings, outcomes: [], logLinesReceived: 0 };
    const signal = new AbortController();
    try {
      for await (const event of instance.runner.resume(command, new EventQueue(), signal.signal)) {
        if (event.tag === 'Call') this.#checkSent(event.call);
        signal.abort();
      }
    } catch (error) {
      const code = error instanceof AppError ? error.code : undefined;
      if (code === undefined) this.#error ??= error;
    }
  }

  #newInstance(): Instance {
    const name = `instance-${this.#instanceCount}`;
    this.#instanceCount += 1;
    const sandbox = new SimSandbox({
      turn: () => this.#world.turn(),
      inPieces: () => this.#world.chance.hits(0.2),
      delivered: (count, index) => this.#checkDelivered(count, index),
    });
    let ids = 0;
    const newId = () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(this.#instanceCount * 1000 + ids).padStart(12, '0')}`;
    };
    return new Instance(name, this.#world, this.#store.open(), sandbox, newId, (entries) =>
      this.#journal.push(...entries),
    );
  }

  // ---- What must hold --------------------------------------------------------------------------

  #checkSent(call: Extract<RunEvent, { tag: 'Call' }>['call']): void {
    const at = this.#journal.findIndex((entry) => entry.kind === 'Called' && entry.index === call.index);
    const entry = this.#journal[at];
    if (entry?.kind !== 'Called' || entry.argumentsJson !== call.argumentsJson) {
      throw new Error(`call ${call.index} was sent before it was durable`); // P3
    }
    if (this.#cancelled !== undefined && at >= this.#cancelled.journalLength) {
      throw new Error(`call ${call.index} went out after a cancel`); // P8
    }
  }

  #checkDelivered(count: number, index: number): void {
    const settled = this.#journal.filter(({ kind }) => kind === 'Settled');
    if (settled[count]?.index !== index)
      this.#error ??= new Error(`outcome ${count} is not the recorded one`); // P3
  }

  #checkWaiting({ requests }: Extract<RunEvent, { tag: 'Waiting' }>): void {
    const open = openCalls(this.#journal);
    expect(requests.map(({ index }) => index)).toEqual(open);
    for (const { callId } of requests) expect(this.#core.operations.has(callId)).toBe(true);
  }

  async #check({ run, journal }: RunRecord): Promise<void> {
    expect(isFinal(run.status)).toBe(true);
    for (const { performed } of this.#core.operations.values()) expect(performed).toBeLessThanOrEqual(1); // P2
    if (run.result?.tag === 'Failed') expect(run.result.reason).toBe('Error'); // P4, and never Unavailable
    if (!this.#lostRefusals || run.status !== 'Cancelled') {
      expect(this.#refused).toBeLessThanOrEqual(this.#core.forged); // P5
    }
    expect(journal.map(line)).toEqual(this.#journal.map(line));
    await this.#checkEnd(run, journal);
  }

  /** P1 and the rest of P7. */
  async #checkEnd(run: StoredRun, journal: readonly JournalEntry[]): Promise<void> {
    const undisturbed = await reference(run.program.text, journal);
    expect(seenOrder(journal).map(line)).toEqual(undisturbed.recorded);
    expect(this.#streamed).toEqual(undisturbed.logs.slice(0, this.#streamed.length));
    if (run.result?.tag === 'Completed') {
      expect(undisturbed.transcript).toHaveLength(journal.length);
      expect(run.result.valueJson).toBe(undisturbed.end?.valueJson);
      expect(run.result.logs.map(({ text }) => text)).toEqual(undisturbed.logs);
      const succeeded = journal.every(
        (entry) => entry.kind === 'Called' || entry.outcome.tag === 'Completed',
      );
      if (this.#plan.orderFree && succeeded) {
        expect(run.result.valueJson).toBe(await undisturbedResult(run.program.text));
      }
    }
    if (run.result?.tag === 'Failed') {
      const { errorName, message } = undisturbed.end ?? { errorName: '', message: '' };
      expect(run.result.message).toBe(errorName === '' ? message : `${errorName}: ${message}`);
    }
  }
}

/**
 * What an undisturbed attempt does that gets the outcomes of a journal in their order; `recorded` leaves out the
 * calls past the last rest at which something was written.
 */
export async function reference(code: string, journal: readonly JournalEntry[]) {
  const realm = new SimRealm();
  const transcript: string[] = [];
  const recorded: string[] = [];
  const lastWritten = Math.max(-1, ...restsOf(journal));
  let rest = 0;
  const logs: string[] = [];
  let step = await realm.start(code, simBindings);
  const note = () => {
    for (const { index, binding, argumentsJson } of step.calls) {
      const text = `called ${index} ${binding} ${argumentsJson}`;
      transcript.push(text);
      if (rest <= lastWritten) recorded.push(text);
    }
    rest += 1;
    logs.push(...step.logs.map(({ text }) => text));
  };
  note();
  for (const entry of journal) {
    if (entry.kind !== 'Settled') continue;
    transcript.push(line(entry));
    recorded.push(line(entry));
    // What was written ahead of a program that ended never reaches it.
    if (step.end !== undefined) continue;
    step = await realm.settle(entry.index, entry.outcome);
    note();
  }
  return { transcript, recorded, logs, end: step.end };
}

/** The result of a run in which every call succeeds at once. */
async function undisturbedResult(code: string): Promise<string | undefined> {
  const realm = new SimRealm();
  let step = await realm.start(code, simBindings);
  const open = [...step.calls];
  for (let call = open.shift(); call !== undefined; call = open.shift()) {
    step = await realm.settle(call.index, appAnswer(call, 0));
    open.push(...step.calls);
  }
  return step.end?.valueJson;
}

function line(entry: JournalEntry): string {
  return entry.kind === 'Called'
    ? `called ${entry.index} ${entry.binding} ${entry.argumentsJson}`
    : `settled ${entry.index} ${JSON.stringify(entry.outcome)}`;
}

function openCalls(journal: readonly JournalEntry[]): readonly number[] {
  const open = new Set<number>();
  for (const { kind, index } of journal) {
    if (kind === 'Called') open.add(index);
    else open.delete(index);
  }
  return [...open];
}

function fits(reported: ReportedOutcome, index: number): boolean {
  return reported.index === index && (reported.callId === '' || reported.callId.endsWith(`:${index}`));
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
