/**
 * The sandboxes of an attempt, one after another, and what they cost together.
 *
 * B1  What a sandbox says after it was given up is not heard.
 * B2  One that has ended may close its stream by itself, until the next one begins or the attempt is over.
 */
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { SettledEntry } from '../core/ledger.ts';
import type { MachineEvent } from '../core/machine-types.ts';
import type { StoredRun } from '../core/model.ts';
import type { Sandbox, SandboxCost } from './contract.ts';
import type { Room } from './room.ts';
import { SandboxSession } from './sandbox-session.ts';

export interface SandboxesParts {
  readonly sandbox: Sandbox;
  readonly room: Pick<Room, 'wait'>;
  readonly log: Log;
}

export class Sandboxes {
  readonly #parts: SandboxesParts;
  readonly #run: StoredRun;
  readonly #hear: (event: MachineEvent) => void;
  #current: SandboxSession | undefined;
  #last: SandboxSession | undefined;
  #cost: SandboxCost = { cpuMs: 0, memoryBytes: 0 };

  constructor(parts: SandboxesParts, run: StoredRun, hear: (event: MachineEvent) => void) {
    this.#parts = parts;
    this.#run = run;
    this.#hear = hear;
  }

  get cost(): SandboxCost {
    return this.#cost;
  }

  execute(outcomes: readonly SettledEntry[]): void {
    const before = this.#cost;
    const session = new SandboxSession(this.#parts.sandbox, this.#run, {
      event: (event) => {
        if (this.#current === session) this.#hear(event);
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
    this.#last?.close();
    this.#last = session;
    this.#current = session;
    session.begin(outcomes);
  }

  deliver(outcomes: readonly SettledEntry[]): void {
    this.#current?.deliver(outcomes);
  }

  kill(): void {
    this.#current?.kill();
    this.#current = undefined;
  }

  close(): void {
    this.kill();
    this.#last?.close();
  }

  /** An expected loss is one line; anything else is our own mistake, and its stack is needed. */
  #logLoss(error: unknown): void {
    this.#parts.log.warn(
      error instanceof AppError ? { reason: error.message } : { err: error },
      'sandbox lost',
    );
  }
}
