/**
 * A sandbox on the simulated realm. Every move (a step reported, an outcome delivered) waits for `turn`, so
 * that a simulation decides what happens next; without one it goes on by itself.
 */

import type { Outcome } from '../../services/code-run/core/model.ts';
import type {
  DeliveredOutcome,
  Sandbox,
  SandboxAttempt,
  SandboxEvent,
  SandboxJob,
} from '../../services/code-run/runner/contract.ts';
import { EventQueue } from '../../services/code-run/runner/event-queue.ts';
import { AppError } from '../../services/shared/errors.ts';
import { type RealmStep, SimRealm } from './realm.ts';

export interface SandboxHooks {
  /** Called before every move; the move goes on when it resolves. */
  turn?(): Promise<void>;
  /** Called when an outcome reaches the program: the n-th (from 0). */
  delivered?(count: number, index: number, outcome: Outcome): void;
  /** Whether this step is reported in pieces. */
  inPieces?(): boolean;
  fingerprint?: string;
}

export class SimSandbox implements Sandbox {
  readonly attempts: SimAttempt[] = [];
  readonly #hooks: SandboxHooks;

  constructor(hooks: SandboxHooks = {}) {
    this.#hooks = hooks;
  }

  execute(job: SandboxJob): SandboxAttempt {
    const attempt = new SimAttempt(job, this.#hooks);
    this.attempts.push(attempt);
    return attempt;
  }
}

export class SimAttempt implements SandboxAttempt {
  readonly #queue = new EventQueue<SandboxEvent>();
  readonly #outcomes: DeliveredOutcome[] = [];
  readonly #realm = new SimRealm();
  readonly #hooks: SandboxHooks;
  #delivered = 0;
  #atRest = false;
  #over = false;
  #started = false;

  constructor(job: SandboxJob, hooks: SandboxHooks) {
    this.#hooks = hooks;
    void this.#run(() => this.#realm.start(job.program.text, job.bindings));
  }

  get events(): AsyncIterable<SandboxEvent> {
    return this.#queue;
  }

  get over(): boolean {
    return this.#over;
  }

  deliver(outcomes: readonly DeliveredOutcome[]): Promise<void> {
    this.#outcomes.push(...outcomes);
    if (this.#atRest) this.#next();
    return Promise.resolve();
  }

  kill(): void {
    this.#over = true;
    this.#queue.close();
  }

  /** The connection is gone. */
  lose(): void {
    if (this.#over) return;
    this.#over = true;
    this.#queue.close({ error: new AppError('ABORTED', 'the connection is gone') });
  }

  /** The program's process is gone. */
  die(): void {
    if (this.#over) return;
    this.#queue.push({ tag: 'End', end: { ...endBase, reason: 'Lost' } });
    this.kill();
  }

  async #run(move: () => Promise<RealmStep>): Promise<void> {
    this.#atRest = false;
    await this.#hooks.turn?.();
    if (this.#over) return;
    if (!this.#started) {
      this.#started = true;
      this.#queue.push({ tag: 'Started', fingerprint: this.#hooks.fingerprint ?? 'sim' });
    }
    const step = await move();
    await this.#hooks.turn?.();
    if (this.#over) return;
    this.#report(step);
  }
  #report({ calls, logs, end }: RealmStep): void {
    const delivered = this.#delivered;
    // As the real one does: what comes before an end is a piece, and the end says that no rest follows.
    const atRest = end === undefined;
    if (this.#hooks.inPieces?.() === true) {
      for (const call of calls) {
        this.#queue.push({ tag: 'Step', delivered, calls: [call], logs: [], atRest: false, cost });
      }
      this.#queue.push({ tag: 'Step', delivered, calls: [], logs, atRest, cost });
    } else if (atRest || calls.length > 0 || logs.length > 0) {
      this.#queue.push({ tag: 'Step', delivered, calls, logs, atRest, cost });
    }
    if (end !== undefined) {
      this.#queue.push({ tag: 'End', end: { ...endBase, ...end } });
      this.kill();
      return;
    }
    this.#atRest = true;
    if (this.#outcomes.length > 0) this.#next();
  }

  #next(): void {
    const next = this.#outcomes.shift();
    if (next === undefined) return;
    void this.#run(() => {
      this.#hooks.delivered?.(this.#delivered, next.index, next.outcome);
      this.#delivered += 1;
      return this.#realm.settle(next.index, next.outcome);
    });
  }
}

const endBase = {
  reason: 'Returned',
  message: '',
  errorName: '',
  line: 0,
  column: 0,
  cost: { cpuMs: 2, memoryBytes: 1 },
} as const;

const cost = { cpuMs: 1, memoryBytes: 1 } as const;
