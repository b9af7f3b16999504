/**
 * The world of a simulation: time, chance, and the one place where it is decided what happens next. Whoever
 * acts waits for its turn; the seed decides who gets it, so a seed repeats a whole case.
 */
import type { Clock } from '../../services/code-run/runner/clock.ts';
import { drained } from './realm.ts';

/** Small seeded generator (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  hits(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** Decides when those who act may go on. */
export interface Turns {
  readonly chance: Chance;
  /** Resolves when it is the caller's turn. */
  turn(): Promise<void>;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export class World implements Turns {
  readonly chance: Chance;
  nowMs = 1_800_000_000_000;
  steps = 0;
  readonly #turns: (() => void)[] = [];
  readonly #timers = new Set<Timer>();

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  /** Resolves when it is the caller's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#turns.push(resolve));
  }

  /** A clock whose timers fire only while `alive`. */
  clock(alive: () => boolean): Clock {
    return {
      now: () => this.nowMs,
      after: (delayMs, run) => {
        const timer = { atMs: this.nowMs + delayMs, run: () => alive() && run() };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    };
  }

  /** Lets things happen until `done`; `onStep` is called before each. Throws when nothing can happen any more. */
  async run(done: () => boolean, onStep: () => void, stepsMax: number): Promise<void> {
    for (;;) {
      await drained();
      if (this.#turns.length === 0) await drained();
      if (done()) return;
      this.steps += 1;
      if (this.steps > stepsMax) throw new Error(`nothing ended within ${stepsMax} steps`);
      onStep();
      // Time passes now and then while others could act: a slow instance loses its lease.
      if (this.#turns.length > 0 && !this.chance.hits(0.01)) this.#takeTurn();
      else this.#fireTimer();
    }
  }

  #takeTurn(): void {
    const at = this.chance.below(this.#turns.length);
    const [resolve] = this.#turns.splice(at, 1);
    resolve?.();
  }

  #fireTimer(): void {
    const first = [...this.#timers].reduce<Timer | undefined>(
      (best, timer) => (best === undefined || timer.atMs < best.atMs ? timer : best),
      undefined,
    );
    if (first !== undefined) {
      this.#timers.delete(first);
      this.nowMs = Math.max(this.nowMs, first.atMs);
      first.run();
    } else if (this.#turns.length > 0) this.#takeTurn();
    else throw new Error('nothing can happen any more');
  }
}
