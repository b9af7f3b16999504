/**
 * Performs one attempt: turns what happens into events of the machine, and its effects into deeds.
 *
 * A1  Events are handled one at a time, in the order in which they came; an effect never runs inside another.
 * A2  The stream ends after the last write is known, and exactly once.
 * A3  What it takes in it takes when there is room, and what it holds counts until it is let go: at the end of an
 *     attempt without an end of the run at once, else when the core has read that end or is gone.
 */
import assert from 'node:assert/strict';
import type { Log } from '../../shared/log.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { Machine } from '../core/machine.ts';
import type { Effect, Ending, MachineEvent, StopReason } from '../core/machine-types.ts';
import type { Attempt as AttemptCost, Binding, StoredRun } from '../core/model.ts';
import { type CodeRunStore, LeaseLost, type Writer } from '../store/contract.ts';
import { AttemptWrites, type WriteEffect } from './attempt-writes.ts';
import type { Clock } from './clock.ts';
import type { ReportedOutcome, RunEvent, Sandbox } from './contract.ts';
import { digestOf } from './digest.ts';
import { stoppedError, withStore } from './endings.ts';
import { EventQueue } from './event-queue.ts';
import { foundElsewhere } from './found-elsewhere.ts';
import { Lease } from './lease.ts';
import type { Room, Share } from './room.ts';
import { Sandboxes } from './sandboxes.ts';
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

export class Attempt {
  /** Resolves when the last write is known and nothing of the attempt is left. */
  readonly ended: Promise<void>;
  readonly #parts: AttemptParts;
  readonly #run: StoredRun;
  readonly #share: Share;
  readonly #writer: Writer;
  readonly #events: EventQueue<RunEvent>;
  readonly #lease: Lease;
  readonly #writes: AttemptWrites;
  readonly #sandboxes: Sandboxes;
  readonly #startedAtMs: number;
  readonly #log: Log;
  readonly #queue: MachineEvent[] = [];
  readonly #markEnded: () => void;
  #handling = false;
  /** Undefined: it is over, and holds nothing of the run. */
  #machine: Machine | undefined;
  #knownOutcomes: readonly ReportedOutcome[];
  #cancelRetry = () => {};
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
    this.#events = new EventQueue(
      () => this.stop('CoreLost'),
      () => void this.ended.then(() => this.#share.leave()),
    );
    this.#lease = new Lease(parts, this.#writer, run.lease.expiresAtMs, () =>
      this.#dispatch({ tag: 'LeaseLost' }),
    );
    this.#writes = new AttemptWrites(parts.store, this.#writer, this.#lease, (nowMs) => this.#costs(nowMs));
    const { sandbox, room } = parts;
    this.#sandboxes = new Sandboxes({ sandbox, room, log: this.#log }, run, (event) => this.#dispatch(event));
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
  begin(outcomes: AsyncIterable<ReportedOutcome>, signal: AbortSignal): AsyncIterable<RunEvent> {
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
    this.#cancelRetry();
    this.#sandboxes.close();
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
        this.#sandboxes.execute(effect.outcomes);
        break;
      case 'Deliver':
        this.#sandboxes.deliver(effect.outcomes);
        break;
      case 'Kill':
        this.#sandboxes.kill();
        this.#cancelRetry();
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

  #retryLater(tries: number): void {
    const { clock, settings } = this.#parts;
    const delayMs = settings.sandboxRetryMs * 4 ** (tries - 1);
    this.#cancelRetry = clock.after(delayMs, () => this.#dispatch({ tag: 'RetryDue' }));
  }

  #write(effect: WriteEffect): void {
    if (effect.tag !== 'Append') this.#stopSending();
    this.#writes.perform(effect, this.#parts.clock.now()).then(
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

  /** The attempt is over: the lease is kept no longer, and calls that the core did not read go out no more. */
  #stopSending(): void {
    this.#lease.letGo();
    this.#events.retract(({ tag }) => tag === 'Call');
  }

  #costs(endedAtMs: number): AttemptCost {
    const { fingerprint, replayedCalls } = this.#held;
    const number = this.#writer.epoch;
    return {
      number,
      startedAtMs: this.#startedAtMs,
      endedAtMs,
      ...this.#sandboxes.cost,
      replayedCalls,
      fingerprint,
    };
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
      this.#sandboxes.close();
      this.#markEnded();
    }
  }

  async #lastEvent(ending: Ending): Promise<RunEvent> {
    const run = this.#run;
    switch (ending.tag) {
      case 'Finished':
        assert(this.#writes.finished !== undefined, 'a finished run was written');
        return { tag: 'Finished', record: { run: this.#writes.finished, journal: this.#held.journal } };
      case 'Waiting':
        return { tag: 'Waiting', run, requests: ending.requests };
      case 'Stopped':
        throw stoppedError(ending.why, run.id);
      case 'LeaseLost':
        return foundElsewhere(this.#parts.store, this.#writer);
      default:
        return unreachable(ending);
    }
  }
}
