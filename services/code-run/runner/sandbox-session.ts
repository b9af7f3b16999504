/**
 * One sandbox of an attempt: hands it the job and the recorded outcomes, and tells what comes of it.
 *
 * S1  After an end the sandbox closes its stream by itself: to break it off would cost both sides more than the end.
 *     One that goes on instead is broken off at its next word, or when the attempt needs it no more.
 */
import { AppError } from '../../shared/errors.ts';
import type { SettledEntry } from '../core/ledger.ts';
import type { MachineEvent, SandboxLoss } from '../core/machine-types.ts';
import type { StoredRun } from '../core/model.ts';
import type {
  DeliveredOutcome,
  Sandbox,
  SandboxAttempt,
  SandboxCost,
  SandboxEnd,
  SandboxEvent,
} from './contract.ts';
import { seedOf } from './digest.ts';

export interface SandboxListener {
  event(event: MachineEvent): void;
  /** Resolves when another event may come; undefined: now. */
  room(): Promise<void> | undefined;
  /** What this sandbox has cost so far. */
  cost(cost: SandboxCost): void;
  /** Why, for the log. */
  lost(error: unknown): void;
}

export class SandboxSession {
  readonly #attempt: SandboxAttempt;
  readonly #listener: SandboxListener;
  #started = false;
  #ended = false;
  #killed = false;

  constructor(sandbox: Sandbox, run: StoredRun, listener: SandboxListener) {
    this.#listener = listener;
    this.#attempt = sandbox.execute({
      program: run.program,
      createdAtMs: run.createdAtMs,
      seed: seedOf(run.id),
      limits: run.limits,
      bindings: run.bindings,
    });
  }

  /** Listens, and sends all outcomes ahead: the sandbox itself delivers one per rest. */
  begin(outcomes: readonly SettledEntry[]): void {
    void this.#listen();
    if (outcomes.length > 0) this.deliver(outcomes);
  }

  deliver(outcomes: readonly DeliveredOutcome[]): void {
    // That they could not be sent shows as the end of the events.
    this.#attempt.deliver(outcomes).catch(() => {});
  }

  /** Hears no more of it, and ends it unless it has ended. */
  kill(): void {
    this.#killed = true;
    if (!this.#ended) this.#attempt.kill();
  }

  /** Lets go of it, whether it has closed its stream or not. */
  close(): void {
    this.#killed = true;
    this.#attempt.kill();
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.#attempt.events) {
        if (!this.#hears) return this.close();
        if (event.tag === 'End') {
          this.#ended = true;
          this.#end(event.end);
          continue;
        }
        if (event.tag === 'Started') this.#started = true;
        if (event.tag === 'Step') this.#listener.cost(event.cost);
        this.#listener.event(toMachine(event));
        const room = this.#listener.room();
        if (room !== undefined) await room;
      }
      if (this.#hears) this.#lost(new AppError('ABORTED', 'the sandbox ended its stream without an end'));
    } catch (error) {
      if (this.#hears) this.#lost(error);
    }
  }

  get #hears(): boolean {
    return !this.#killed && !this.#ended;
  }

  #end({ reason, cost, ...end }: SandboxEnd): void {
    this.#listener.cost(cost);
    if (reason === 'Lost') this.#died(new AppError('ABORTED', end.message));
    else this.#listener.event({ tag: 'SandboxEnded', end: { ...end, reason } });
  }

  /** The sandbox itself says so: its connection is well. What never began is no fault of the program. */
  #died(error: Error): void {
    if (!this.#started) {
      this.#lost(error);
      return;
    }
    this.#listener.lost(error);
    this.#listener.event({ tag: 'ProcessDied' });
  }

  #lost(error: unknown): void {
    this.#listener.lost(error);
    this.#listener.event({ tag: 'SandboxLost', how: lossOf(error) });
  }
}

function lossOf(error: unknown): SandboxLoss {
  if (!(error instanceof AppError)) return 'Lost';
  if (error.code === 'RESOURCE_EXHAUSTED') return 'Busy';
  return error.code === 'UNAVAILABLE' ? 'Unreached' : 'Lost';
}

function toMachine(event: Exclude<SandboxEvent, { tag: 'End' }>): MachineEvent {
  if (event.tag === 'Started') return { tag: 'SandboxStarted', fingerprint: event.fingerprint };
  const { delivered, calls, logs, atRest } = event;
  return { tag: 'SandboxStep', delivered, calls, logs, atRest };
}
