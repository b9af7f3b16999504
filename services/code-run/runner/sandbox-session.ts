/** One sandbox of an attempt: hands it the job and the recorded outcomes, and tells what comes of it. */
import { AppError } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import type { SettledEntry } from '../core/ledger.ts';
import type { MachineEvent } from '../core/machine-types.ts';
import type { Outcome, StoredRun } from '../core/model.ts';
import type { Sandbox, SandboxAttempt, SandboxEnd, SandboxEvent } from './contract.ts';
import { seedOf } from './digest.ts';

export interface SandboxListener {
  event(event: MachineEvent): void;
  cost(cpuMs: number, memoryBytes: number): void;
  /** Why, for the log. */
  lost(error: unknown): void;
}

export class SandboxSession {
  readonly #attempt: SandboxAttempt;
  readonly #listener: SandboxListener;
  #killed = false;

  constructor(sandbox: Sandbox, run: StoredRun, listener: SandboxListener) {
    this.#listener = listener;
    this.#attempt = sandbox.execute({
      program: run.program,
      createdAtMs: run.createdAtMs,
      seed: seedOf(run.id),
      limits: run.limits,
      callLimits: limits,
      bindings: run.bindings,
    });
  }

  /** Listens, and sends all outcomes ahead: the sandbox itself delivers one per rest. */
  begin(outcomes: readonly SettledEntry[]): void {
    void this.#listen();
    if (outcomes.length > 0) void this.#deliverAll(outcomes);
  }

  deliver(index: number, outcome: Outcome): void {
    // That it could not be sent shows as the end of the events.
    this.#attempt.deliver(index, outcome).catch(() => {});
  }

  kill(): void {
    this.#killed = true;
    this.#attempt.kill();
  }

  async #deliverAll(outcomes: readonly SettledEntry[]): Promise<void> {
    try {
      for (const { index, outcome } of outcomes) {
        if (this.#killed) return;
        await this.#attempt.deliver(index, outcome);
      }
    } catch {
      // As in deliver.
    }
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.#attempt.events) {
        if (this.#killed) return;
        if (event.tag === 'End') return this.#end(event.end);
        this.#listener.event(toMachine(event));
      }
      this.#lost(new Error('the sandbox ended its stream without an end'));
    } catch (error) {
      if (!this.#killed) this.#lost(error);
    }
  }

  #end({ reason, cpuMs, memoryBytes, ...end }: SandboxEnd): void {
    this.#listener.cost(cpuMs, memoryBytes);
    if (reason === 'Lost') this.#lost(new Error(end.message));
    else this.#listener.event({ tag: 'SandboxEnded', end: { ...end, reason } });
  }

  #lost(error: unknown): void {
    this.#listener.lost(error);
    const busy = error instanceof AppError && error.code === 'RESOURCE_EXHAUSTED';
    this.#listener.event({ tag: 'SandboxLost', busy });
  }
}

function toMachine(event: Exclude<SandboxEvent, { tag: 'End' }>): MachineEvent {
  if (event.tag === 'Started') return { tag: 'SandboxStarted', fingerprint: event.fingerprint };
  const { delivered, calls, logs, atRest } = event;
  return { tag: 'SandboxStep', delivered, calls, logs, atRest };
}
