/**
 * Starts, resumes, cancels and drains code runs: the way between the API, the store and the sandbox.
 *
 * N1  A run has at most one attempt that can write, whatever the number of instances: the store's lease says
 *     whose it is.
 * N2  What is stored when a run starts (program, names, limits) is what every attempt of it gets.
 */
import { randomUUID } from 'node:crypto';
import { limits } from '../../shared/limits.ts';
import {
  type Attempt as AttemptCost,
  isFinal,
  type NewRun,
  type RunResult,
  type StoredRun,
} from '../core/model.ts';
import { type ClaimRequest, RunUnreadable } from '../store/contract.ts';
import { Attempt, type AttemptParts, type AttemptStart } from './attempt.ts';
import type {
  CodeRunner,
  ProgramFailure,
  ReportedOutcome,
  ResumeRun,
  RunEvent,
  RunRecord,
  StartRun,
} from './contract.ts';
import { alreadyStarted, cannotResume, draining, notFound, withStore } from './endings.ts';
import { Room } from './room.ts';

export class Runner implements CodeRunner {
  readonly #parts: AttemptParts;
  readonly #newId: () => string;
  /** Attempts of this instance by run. */
  readonly #attempts = new Map<string, Attempt>();
  /** Starts and resumes that have no attempt yet. */
  readonly #arriving = new Set<Promise<unknown>>();
  #draining = false;

  constructor(parts: Omit<AttemptParts, 'room'>, newId: () => string = randomUUID) {
    const room = new Room(parts.settings.heldBytesMax, limits.journalReadsMax);
    this.#parts = { ...parts, room };
    this.#newId = newId;
  }

  async *start(
    command: StartRun,
    outcomes: AsyncIterable<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent> {
    const begun = await this.#arrive(() => this.#begin(command));
    if (begun.tag === 'Known') yield { tag: 'Finished', record: begun.record };
    else yield* begun.attempt.begin(outcomes, signal);
  }

  async *startFailed(command: StartRun, failure: ProgramFailure): AsyncIterable<RunEvent> {
    yield { tag: 'Finished', record: await this.#arrive(() => this.#storeFailed(command, failure)) };
  }

  async *resume(
    command: ResumeRun,
    outcomes: AsyncIterable<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent> {
    const attempt = await this.#arrive(() => this.#parts.room.read(() => this.#claim(command)));
    yield* attempt.begin(outcomes, signal);
  }

  /** Arguments and results that all attempts hold together. */
  get heldBytes(): number {
    return this.#parts.room.heldBytes;
  }

  get heldBytesMax(): number {
    return this.#parts.room.bytesMax;
  }

  async cancel(runId: string): Promise<RunRecord | undefined> {
    const local = this.#attempts.get(runId);
    local?.cancel();
    await local?.ended;
    return withStore(async () => {
      const run = await this.#parts.store.cancel(runId, this.#parts.clock.now());
      return run && this.#cancelled(run);
    });
  }

  /** It is cancelled whether its journal can be read or not. */
  async #cancelled(run: StoredRun): Promise<RunRecord> {
    try {
      return await this.#record(run);
    } catch (error) {
      if (!(error instanceof RunUnreadable)) throw error;
      return { run, journal: [] };
    }
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    const stopAll = () => {
      for (const attempt of this.#attempts.values()) attempt.stop('Draining');
    };
    let late = false;
    const cancelDeadline = this.#parts.clock.after(deadlineMs, () => {
      late = true;
      stopAll();
    });
    while (this.#arriving.size > 0 || this.#attempts.size > 0) {
      if (late) stopAll();
      await Promise.allSettled([...this.#arriving, ...[...this.#attempts.values()].map((one) => one.ended)]);
    }
    cancelDeadline();
  }

  /** Keeps count of what is on its way, so that a drain misses nothing. */
  async #arrive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#draining) throw draining();
    const arriving = withStore(work);
    this.#arriving.add(arriving);
    try {
      return await arriving;
    } finally {
      this.#arriving.delete(arriving);
    }
  }

  async #begin(
    command: StartRun,
  ): Promise<{ tag: 'New'; attempt: Attempt } | { tag: 'Known'; record: RunRecord }> {
    const { created, run } = await this.#create(command);
    if (!created) return { tag: 'Known', record: await this.#known(run) };
    const attempt = this.#attempt({
      run,
      journal: [],
      currentBindings: undefined,
      knownOutcomes: [],
      logLinesReceived: undefined,
    });
    return { tag: 'New', attempt };
  }

  async #storeFailed(command: StartRun, failure: ProgramFailure): Promise<RunRecord> {
    const { clock, store } = this.#parts;
    const { created, run } = await this.#create(command);
    if (!created) return await this.#known(run);
    const result: RunResult = { tag: 'Failed', reason: 'Error', ...failure, logs: [] };
    const nowMs = clock.now();
    const writer = { runId: run.id, epoch: run.lease.epoch };
    return { run: await store.finish(writer, result, unspent(run, nowMs), nowMs), journal: [] };
  }

  async #create(command: StartRun): Promise<{ readonly created: boolean; readonly run: StoredRun }> {
    const { clock, store } = this.#parts;
    const newRun: NewRun = { ...command, id: this.#newId(), createdAtMs: clock.now() };
    return await store.create(newRun, this.#claimRequest());
  }

  /** The run that the tool call has already, if it is final. */
  async #known(run: StoredRun): Promise<RunRecord> {
    if (!isFinal(run.status)) throw alreadyStarted(run);
    return await this.#record(run);
  }

  async #claim(command: ResumeRun): Promise<Attempt> {
    const { store } = this.#parts;
    const claim = await store.claim(command.runId, this.#claimRequest());
    if (claim.tag === 'NotFound') throw notFound(command.runId);
    if (claim.tag === 'Refused') throw cannotResume(claim.run);
    const { currentBindings, outcomes: knownOutcomes, logLinesReceived } = command;
    const { run } = claim;
    try {
      const journal = await store.journal(run.id);
      return this.#attempt({ run, journal, currentBindings, knownOutcomes, logLinesReceived });
    } catch (error) {
      await this.#unclaim(run);
      throw error;
    }
  }

  /** Gives a claim up that led to nothing. If that fails, it runs out by itself. */
  async #unclaim(run: StoredRun): Promise<void> {
    const { clock, store } = this.#parts;
    const nowMs = clock.now();
    const writer = { runId: run.id, epoch: run.lease.epoch };
    await store.release(writer, unspent(run, nowMs), nowMs).catch(() => {});
  }

  #attempt(start: AttemptStart): Attempt {
    const attempt = new Attempt(this.#parts, start);
    const { id } = start.run;
    this.#attempts.set(id, attempt);
    void attempt.ended.then(() => {
      if (this.#attempts.get(id) === attempt) this.#attempts.delete(id);
    });
    return attempt;
  }

  #claimRequest(): ClaimRequest {
    const { clock, settings } = this.#parts;
    return { owner: settings.instance, nowMs: clock.now(), leaseMs: settings.leaseMs };
  }

  async #record(run: StoredRun): Promise<RunRecord> {
    return { run, journal: await this.#parts.store.journal(run.id) };
  }
}

/** What an attempt costs in which nothing ran. */
function unspent(run: StoredRun, endedAtMs: number): AttemptCost {
  const { createdAtMs: startedAtMs, lease } = run;
  return {
    number: lease.epoch,
    startedAtMs,
    endedAtMs,
    cpuMs: 0,
    memoryBytes: 0,
    replayedCalls: 0,
    fingerprint: '',
  };
}
