/**
 * A core that keeps app operations by call id, as the contract asks of it: it performs each at most once,
 * answers a call that was sent before from its operation, and says "unknown" where it broke down in between.
 * What an app answers depends on binding and arguments alone.
 */
import { createHash } from 'node:crypto';
import type { Outcome } from '../../services/code-run/core/model.ts';
import type {
  DecisionRequest,
  PerformCall,
  ReportedOutcome,
} from '../../services/code-run/runner/contract.ts';
import type { Turns } from './world.ts';

export interface CoreHabits {
  /** Share of calls that need a decision, of denials among decisions, of failures among performed calls. */
  readonly asks: number;
  readonly denies: number;
  readonly fails: number;
  /** Share of decisions that come while the program still runs. */
  readonly decidesEarly: number;
  /** Share of outcomes that are accompanied by one that must be refused. */
  readonly forges: number;
}

interface Operation {
  readonly call: PerformCall;
  performed: number;
  standing: 'asking' | 'allowed' | 'denied' | 'performing' | 'done';
  outcome: Outcome | undefined;
  /** While this core performs it. */
  running: Promise<void> | undefined;
}

export type Report = (outcome: ReportedOutcome) => void;

export class SimCore {
  readonly operations = new Map<string, Operation>();
  readonly #world: Turns;
  readonly #habits: CoreHabits;
  /** Grows when the core breaks down: what it was doing is forgotten. */
  #life = 0;
  /** Reports that must be refused. */
  forged = 0;

  constructor(world: Turns, habits: CoreHabits) {
    this.#world = world;
    this.#habits = habits;
  }

  breakDown(): void {
    this.#life += 1;
    for (const operation of this.operations.values()) operation.running = undefined;
  }

  /** Handles a call of a stream. */
  async handle(call: PerformCall, report: Report): Promise<void> {
    const life = this.#life;
    await this.#world.turn();
    if (life !== this.#life) return;
    const operation = this.operations.get(call.callId) ?? this.#newOperation(call);
    await this.#answer(operation, report, life);
  }

  /** Decides some of the requests, at least one; gives what it knows for the resume. */
  decide(requests: readonly DecisionRequest[]): readonly ReportedOutcome[] {
    const { chance } = this.#world;
    const sure = chance.below(requests.length);
    const known: ReportedOutcome[] = [];
    for (const [at, request] of requests.entries()) {
      if (at !== sure && chance.hits(0.3)) continue;
      const operation = this.operations.get(request.callId);
      if (operation === undefined) throw new Error('a request for a call that was never sent');
      this.#decide(operation);
      if (operation.standing === 'denied' && chance.hits(0.5)) {
        known.push(this.#reportOf(operation, denied, true));
      }
    }
    return known;
  }

  #newOperation(call: PerformCall): Operation {
    const asks = share(call, 'asks') < this.#habits.asks;
    const operation: Operation = {
      call,
      performed: 0,
      standing: asks ? 'asking' : 'allowed',
      outcome: undefined,
      running: undefined,
    };
    this.operations.set(call.callId, operation);
    return operation;
  }

  async #answer(operation: Operation, report: Report, life: number): Promise<void> {
    if (operation.standing === 'asking') {
      report(this.#reportOf(operation, { tag: 'Waiting' }));
      if (!this.#world.chance.hits(this.#habits.decidesEarly)) return;
      await this.#world.turn();
      if (life !== this.#life) return;
      this.#decide(operation);
    }
    if (operation.standing === 'denied') return report(this.#reportOf(operation, denied));
    if (operation.standing === 'performing' && operation.running === undefined) {
      // It broke down between performing and noting it.
      operation.standing = 'done';
      operation.outcome = { tag: 'Failed', reason: 'OutcomeUnknown', message: 'lost' };
      return report(this.#reportOf(operation, { tag: 'Unknown', message: 'lost' }));
    }
    if (operation.standing === 'allowed') operation.running = this.#perform(operation, life);
    await operation.running;
    if (life !== this.#life || operation.outcome === undefined) return;
    if (this.#world.chance.hits(this.#habits.forges)) this.#forge(operation, report);
    report(this.#reportOf(operation, operation.outcome));
    if (this.#world.chance.hits(this.#habits.forges)) {
      this.forged += 1;
      report(this.#reportOf(operation, operation.outcome)); // A second time.
    }
  }

  async #perform(operation: Operation, life: number): Promise<void> {
    operation.standing = 'performing';
    operation.performed += 1;
    await this.#world.turn();
    if (life !== this.#life) return;
    operation.standing = 'done';
    operation.outcome = appAnswer(operation.call, this.#habits.fails);
    operation.running = undefined;
  }

  #decide(operation: Operation): void {
    if (operation.standing !== 'asking') return;
    operation.standing = share(operation.call, 'denies') < this.#habits.denies ? 'denied' : 'allowed';
  }

  #reportOf(
    { call }: Operation,
    outcome: ReportedOutcome['outcome'],
    bound = this.#world.chance.hits(0.5),
  ): ReportedOutcome {
    const { index, callId, argumentsDigest } = call;
    if (!bound) return { index, callId: '', argumentsDigest: '', operationId: '', outcome };
    return { index, callId, argumentsDigest, operationId: `op-${callId}`, outcome };
  }

  #forge(operation: Operation, report: Report): void {
    const good = this.#reportOf(operation, { tag: 'Completed', valueJson: '666' }, true);
    this.forged += 1;
    report(
      this.#world.chance.of([
        { ...good, callId: 'call-8:0' },
        { ...good, argumentsDigest: good.argumentsDigest.replace(/^./, (c) => (c === '0' ? '1' : '0')) },
        { ...good, index: 9_999 },
        { ...good, outcome: { tag: 'Completed', valueJson: '{' } } as const,
        { ...good, outcome: { tag: 'Malformed', message: 'unreadable' } } as const,
      ]),
    );
  }
}

type AppCall = Pick<PerformCall, 'binding' | 'argumentsJson'>;

/** What the app answers: it hangs on the call alone. */
export function appAnswer(call: AppCall, fails: number): Outcome {
  if (share(call, 'fails') < fails) return { tag: 'Failed', reason: 'ToolError', message: 'no' };
  return { tag: 'Completed', valueJson: String(Math.floor(share(call, 'value') * 1000)) };
}

/** A number from 0 to 1 that hangs on the call alone. */
function share(call: AppCall, what: string): number {
  const text = `${what} ${call.binding} ${call.argumentsJson}`;
  return createHash('sha256').update(text).digest().readUInt32LE() / 2 ** 32;
}

const denied = { tag: 'Denied', message: 'not this' } as const;
