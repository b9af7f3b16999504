/**
 * Performs one attempt: turns what happens into events of the machine, and its effects into deeds.
 *
 * A1  Events are handled one at a time, in the order in which they came; an effect never runs inside another.
 * A2  What a sandbox says after it was given up is not heard.
 * A3  The stream ends after the last write is known, and exactly once.
 * A4  What it takes in it takes when there is room, and what it holds counts until it is let go: at the end of an
 *     attempt without an end of the run at once, else when the core has read that end or is gone.
 */
import assert from 'node:assert/strict';
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { Machine } from '../core/machine.ts';
import type { Effect, Ending, MachineEvent, StopReason } from '../core/machine-types.ts';
import {
  type Attempt as AttemptCost,
  type Binding,
  isFinal,
  type RunResult,
  type StoredRun,
} from '../core/model.ts';
import type { CodeRunStore, Writer } from '../store/contract.ts';
import { LeaseLost, StoreUnavailable } from '../store/contract.ts';
import type { Clock } from './clock.ts';
import type { ReportedOutcome, RunEvent, Sandbox, SandboxCost } from './contract.ts';
import { digestOf } from './digest.ts';
import { notFound, stoppedError, takenOver, withStore } from './endings.ts';
import { EventQueue } from './event-queue.ts';
import { Lease } from './lease.ts';
import type { Room, Share } from './room.ts';
import { SandboxSession } from './sandbox-session.ts';
import type { RunnerSettings } from './settings.ts';

export interface AttemptParts {
  readonly store: CodeRunStore;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly settings: RunnerSettings;
  readonly room: Room;
  readonly log: Log;
}

/** What an attempt begins with: a run under our claim, and what the core says beside it. */
export interface AttemptStart {
  readonly run: StoredRun;
  readonly journal: Awaited<ReturnType<CodeRunStore['journal']>>;
  readonly currentBindings: readonly Binding[] | undefined;
  readonly knownOutcomes: readonly ReportedOutcome[];
  readonly logLinesReceived: number | undefined;
}

type WriteEffect = Extract<Effect, { tag: 'Append' | 'Suspend' | 'Finish' | 'Release' }>;

export class Attempt {
  /** Resolves when the last write is known and nothing of the attempt is left. */
  readonly ended: Promise<void>;
  readonly #parts: AttemptParts;
  readonly #run: StoredRun;
  readonly #share: Share;
  readonly #writer: Writer;
  readonly #events: EventQueue<RunEvent>;
  readonly #lease: Lease;
  readonly #startedAtMs: number;
  readonly #log: Log;
  readonly #queue: MachineEvent[] = [];
  readonly #markEnded: () => void;
  #handling = false;
  /** Undefined: it is over, and holds nothing of the run. */
  #machine: Machine | undefined;
  #knownOutcomes: readonly ReportedOutcome[];
  #session: SandboxSession | undefined;
  /** The one that was heard last. */
  #lastSession: SandboxSession | undefined;
  #cancelRetry = () => {};
  #cost: SandboxCost = { cpuMs: 0, memoryBytes: 0 };
  #finished: StoredRun | undefined;
  #roomForOutcomes: (() => void) | undefined;
  #outcomes: AsyncIterator<ReportedOutcome> | undefined;

  constructor(parts: AttemptParts, start: AttemptStart) {
    const { run } = start;
    this.#parts = parts;
    this.#run = run;
    this.#knownOutcomes = start.knownOutcomes;
    this.#startedAtMs = parts.clock.now();
    this.#log = parts.log.child({ run: run.id, attempt: run.lease.epoch });
    this.#writer = { runId: run.id, epoch: run.lease.epoch };
    this.#events = new EventQueue(() => this.stop('CoreLost'));
    this.#lease = new Lease(parts, this.#writer, run.lease.expiresAtMs, () =>
      this.#dispatch({ tag: 'LeaseLost' }),
    );
    this.#machine = new Machine({
      callId: run.callId,
      bindings: run.bindings,
      limits: run.limits,
      journal: start.journal,
      waiting: run.waiting,
      logLinesStreamed: start.logLinesReceived ?? run.logLines,
      recordedFingerprint: run.attempts.findLast(({ fingerprint }) => fingerprint !== '')?.fingerprint ?? '',
      currentBindings: start.currentBindings,
      sandboxTriesMax: parts.settings.sandboxTriesMax,
      digestOf,
    });
    this.#events.push({ tag: 'Accepted', run, attempt: run.lease.epoch });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#markEnded = resolve;
    this.#share = parts.room.enter(() => this.#giveUp());
    this.#share.hold(this.#machine.heldBytes);
  }

  /** Begins, and gives what the core gets. To be called once. */
  async *begin(
    outcomes: AsyncIterable<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncGenerator<RunEvent, void, void> {
    try {
      yield* this.#begin(outcomes, signal);
    } finally {
      void this.ended.then(() => this.#share.leave());
    }
  }

  #begin(outcomes: AsyncIterable<ReportedOutcome>, signal: AbortSignal): AsyncIterable<RunEvent> {
    this.#lease.keep();
    this.#dispatch({ tag: 'Begin' });
    for (const reported of this.#knownOutcomes) this.#dispatch({ tag: 'Reported', reported });
    this.#knownOutcomes = [];
    void this.#readOutcomes(outcomes);
    const onAbort = () => this.stop('CoreLost');
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void this.ended.then(() => signal.removeEventListener('abort', onAbort));
    return this.#events;
  }

  cancel(): void {
    this.#dispatch({ tag: 'Cancel' });
    this.#events.retract(({ tag }) => tag === 'Call');
  }

  stop(why: StopReason): void {
    this.#dispatch({ tag: 'Stop', why });
  }

  #giveUp(): void {
    this.#log.warn(
      { heldBytes: this.#parts.room.heldBytes },
      'no room: the attempt that holds most is given up',
    );
    this.stop('NoRoom');
  }

  // ---- Events in -------------------------------------------------------------------------------

  #dispatch(event: MachineEvent): void {
    const machine = this.#machine;
    if (machine === undefined) return;
    this.#queue.push(event);
    if (this.#handling) return;
    this.#handling = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const effects = machine.handle(next, this.#parts.clock.now());
        for (const effect of effects) this.#perform(effect);
      }
      this.#handling = false;
    } catch (error) {
      this.#fail(error);
    }
    this.#share.hold(machine.heldBytes);
    this.#roomForOutcomes?.();
  }

  /** Our own mistake. Nothing more of this attempt is handled; the lease runs out, and the run is resumable. */
  #fail(error: unknown): void {
    this.#log.error({ err: error, phase: this.#machine?.phase }, 'the attempt broke');
    this.#kill();
    this.#lastSession?.close();
    this.#stopSending();
    this.#events.close({ error });
    this.#letGo();
    this.#markEnded();
  }

  /** The machine, where there must be one: a write is under way, or was the last. */
  get #held(): Machine {
    assert(this.#machine !== undefined, 'what an attempt holds is let go at its end');
    return this.#machine;
  }

  get #over(): boolean {
    return this.#machine === undefined || this.#machine.phase === 'Ended';
  }

  /** What it holds of its run is needed no more, however long the core takes to read what there is. */
  #letGo(): void {
    this.#machine = undefined;
    this.#share.leave();
  }

  async #readOutcomes(outcomes: AsyncIterable<ReportedOutcome>): Promise<void> {
    const iterator = outcomes[Symbol.asyncIterator]();
    this.#outcomes = iterator;
    try {
      while (!this.#over) {
        const next = await iterator.next();
        if (next.done === true) break;
        this.#dispatch({ tag: 'Reported', reported: next.value });
        await this.#outcomesFit();
      }
      this.#dispatch({ tag: 'OutcomesEnded' });
    } catch {
      this.stop('CoreLost');
    }
  }

  /** Takes no more outcomes than can be held, here while they wait to be journaled, and in the whole instance. */
  async #outcomesFit(): Promise<void> {
    const { pendingOutcomeCharsMax } = this.#parts.settings;
    while (!this.#over && (this.#machine?.pendingOutcomeChars ?? 0) > pendingOutcomeCharsMax) {
      await new Promise<void>((resolve) => {
        this.#roomForOutcomes = resolve;
      });
    }
    this.#roomForOutcomes = undefined;
    await this.#parts.room.wait();
  }

  // ---- Effects out -----------------------------------------------------------------------------

  #perform(effect: Effect): void {
    switch (effect.tag) {
      case 'Execute':
        this.#execute(effect.outcomes);
        break;
      case 'Deliver':
        this.#session?.deliver(effect.outcomes);
        break;
      case 'Kill':
        this.#kill();
        break;
      case 'RetryLater':
        this.#retryLater(effect.tries);
        break;
      case 'Append':
      case 'Suspend':
      case 'Finish':
      case 'Release':
        this.#write(effect);
        break;
      case 'Send':
        this.#events.push({ tag: 'Call', call: effect.call });
        break;
      case 'Log':
        this.#events.push({ tag: 'Log', line: effect.line });
        break;
      case 'Refuse': {
        const { index, callId, code, message } = effect;
        this.#events.push({ tag: 'OutcomeRefused', index, callId, code, message });
        break;
      }
      case 'Close':
        this.#stopSending();
        void this.#close(effect.ending);
        break;
      default:
        unreachable(effect);
    }
  }

  #kill(): void {
    this.#session?.kill();
    this.#session = undefined;
    this.#cancelRetry();
  }

  #retryLater(tries: number): void {
    const { clock, settings } = this.#parts;
    const delayMs = settings.sandboxRetryMs * 4 ** (tries - 1);
    this.#cancelRetry = clock.after(delayMs, () => this.#dispatch({ tag: 'RetryDue' }));
  }

  #write(effect: WriteEffect): void {
    if (effect.tag !== 'Append') this.#stopSending();
    this.#written(effect, this.#parts.clock.now()).then(
      () => this.#dispatch({ tag: 'Written' }),
      (error: unknown) => this.#writeFailed(effect, error),
    );
  }

  #writeFailed(effect: WriteEffect, error: unknown): void {
    const cause = error instanceof LeaseLost ? 'LeaseLost' : 'StoreUnavailable';
    // A cancel ends the claim, and so does another attempt that takes over a run left alone: both are ordinary.
    if (cause === 'LeaseLost') this.#log.info({ write: effect.tag }, 'the run was ended or taken over');
    else this.#log.warn({ write: effect.tag, err: error }, 'the store cannot write');
    this.#dispatch({ tag: 'WriteFailed', cause });
  }

  #written(effect: WriteEffect, nowMs: number): Promise<void> {
    const { store } = this.#parts;
    switch (effect.tag) {
      case 'Append': {
        const { length, entries, logLines } = effect;
        if (entries.length === 0) return this.#lease.renew();
        return store.append(this.#writer, length, entries, logLines, nowMs);
      }
      case 'Suspend':
        return store.wait(this.#writer, effect.waiting, this.#costs(nowMs), effect.logLines, nowMs);
      case 'Finish':
        return this.#finish(effect.result, nowMs);
      case 'Release':
        return store.release(this.#writer, this.#costs(nowMs), nowMs);
      default:
        return unreachable(effect);
    }
  }

  async #finish(result: RunResult, nowMs: number): Promise<void> {
    this.#finished = await this.#parts.store.finish(this.#writer, result, this.#costs(nowMs), nowMs);
  }

  /** The attempt is over: the lease is kept no longer, and calls that the core did not read go out no more. */
  #stopSending(): void {
    this.#lease.letGo();
    this.#events.retract(({ tag }) => tag === 'Call');
  }

  #execute(outcomes: Extract<Effect, { tag: 'Execute' }>['outcomes']): void {
    const before = this.#cost;
    const session = new SandboxSession(this.#parts.sandbox, this.#run, {
      event: (event) => {
        if (this.#session === session) this.#dispatch(event);
      },
      room: () => this.#parts.room.wait(),
      cost: ({ cpuMs, memoryBytes }) => {
        this.#cost = {
          cpuMs: before.cpuMs + cpuMs,
          memoryBytes: Math.max(before.memoryBytes, memoryBytes),
        };
      },
      lost: (error) => this.#logLoss(error),
    });
    this.#lastSession?.close();
    this.#lastSession = session;
    this.#session = session;
    session.begin(outcomes);
  }

  /** An expected loss is one line; anything else is our own mistake, and its stack is needed. */
  #logLoss(error: unknown): void {
    this.#log.warn(error instanceof AppError ? { reason: error.message } : { err: error }, 'sandbox lost');
  }

  #costs(endedAtMs: number): AttemptCost {
    const { fingerprint, replayedCalls } = this.#held;
    const number = this.#writer.epoch;
    return { number, startedAtMs: this.#startedAtMs, endedAtMs, ...this.#cost, replayedCalls, fingerprint };
  }

  async #close(ending: Ending): Promise<void> {
    try {
      const last = await withStore(() => this.#lastEvent(ending));
      this.#events.push(last);
      this.#events.close();
      this.#share.ended();
    } catch (error) {
      this.#events.close({ error });
      this.#letGo();
    } finally {
      this.#outcomes?.return?.().catch(() => {});
      this.#lastSession?.close();
      this.#markEnded();
    }
  }

  async #lastEvent(ending: Ending): Promise<RunEvent> {
    const run = this.#run;
    switch (ending.tag) {
      case 'Finished':
        assert(this.#finished !== undefined, 'a finished run was written');
        return { tag: 'Finished', record: { run: this.#finished, journal: this.#held.journal } };
      case 'Waiting':
        return { tag: 'Waiting', run, requests: ending.requests };
      case 'Stopped':
        throw stoppedError(ending.why, run.id);
      case 'LeaseLost':
        return this.#foundElsewhere(run.id);
      default:
        return unreachable(ending);
    }
  }

  /** The run was taken from this attempt, or its lease ran out while the store was away: what is it now? */
  async #foundElsewhere(runId: string): Promise<RunEvent> {
    const { store } = this.#parts;
    const run = await store.get(runId).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? stoppedError('StoreUnavailable', runId) : error;
    });
    if (run === undefined) throw notFound(runId);
    if (run.status === 'Running' && run.lease.epoch === this.#writer.epoch) {
      throw stoppedError('StoreUnavailable', runId);
    }
    if (!isFinal(run.status)) throw takenOver(run);
    return { tag: 'Finished', record: { run, journal: await store.journal(runId) } };
  }
}
