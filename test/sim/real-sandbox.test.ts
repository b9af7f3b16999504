/**
 * Random programs in real sandboxes: a core that answers in any order, decides, breaks down and leaves, and
 * sandboxes that are lost. SIM_REAL_CASES says how many (default 30), SIM_SEED which.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFinal, type JournalEntry, type StoredRun } from '../../services/code-run/core/model.ts';
import type {
  ReportedOutcome,
  Sandbox,
  SandboxAttempt,
  SandboxJob,
} from '../../services/code-run/runner/contract.ts';
import { AppError } from '../../services/shared/errors.ts';
import { resumeOf, runnerOn, Stream, startOf } from '../runner/parts.ts';
import { type RealSandbox, startRealSandbox } from '../runner/real-sandbox.ts';
import { type CoreHabits, SimCore } from './core.ts';
import { MemoryStore } from './memory-store.ts';
import { programTree, simBindings, textOf } from './programs.ts';
import { Chance, type Turns } from './world.ts';

const { SIM_REAL_CASES = '30', SIM_SEED: seed } = process.env;
const cases = Number(SIM_REAL_CASES);

/** Lets each wait for a few turns of the event loop, more or less. */
class LooseTurns implements Turns {
  readonly chance: Chance;

  constructor(number: number) {
    this.chance = new Chance(number);
  }

  async turn(): Promise<void> {
    for (let left = this.chance.below(6); left >= 0; left -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Loses some of its attempts in the middle: what they would have said next is never heard. */
class LossySandbox implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #chance: Chance;
  readonly #share: number;

  constructor(sandbox: Sandbox, chance: Chance, share: number) {
    this.#sandbox = sandbox;
    this.#chance = chance;
    this.#share = share;
  }

  execute(job: SandboxJob): SandboxAttempt {
    const attempt = this.#sandbox.execute(job);
    if (!this.#chance.hits(this.#share)) return attempt;
    let left = this.#chance.below(8);
    const events = (async function* () {
      for await (const event of attempt.events) {
        if (left === 0) return;
        left -= 1;
        yield event;
      }
    })();
    return {
      events,
      deliver: (outcomes) => attempt.deliver(outcomes),
      kill: () => attempt.kill(),
    };
  }
}

const habits: fc.Arbitrary<CoreHabits> = fc.record({
  asks: fc.constantFrom(0, 0.3, 1),
  denies: fc.constantFrom(0, 0.3),
  fails: fc.constantFrom(0, 0.3),
  decidesEarly: fc.constantFrom(0, 0.5),
  forges: fc.constant(0),
});

describe('a run in real sandboxes', () => {
  let real: RealSandbox;
  beforeAll(async () => {
    real = await startRealSandbox();
  });
  afterAll(() => real.stop());

  const property = fc.asyncProperty(programTree, fc.integer(), habits, async (tree, number, habit) => {
    const turns = new LooseTurns(number);
    const core = new SimCore(turns, habit);
    const store = new MemoryStore();
    const lossy = new LossySandbox(real.client, turns.chance, 0.2);
    const settings = { sandboxRetryMs: 1, sandboxTriesMax: 20 };
    const { runner } = runnerOn({ store, sandbox: lossy, settings });
    const { run, journal } = await drive(runner, core, turns, store, textOf(tree));
    expect(run.result?.tag === 'Failed' ? run.result.reason : '').not.toBe('ReplayMismatch');
    for (const { performed } of core.operations.values()) expect(performed).toBeLessThanOrEqual(1);
    // An attempt that gets all of it at once does the same, calls nothing and ends the same.
    store.rows.set(run.id, { run: reopened(run), journal: [...journal] });
    const again = new Stream((o, s) =>
      runnerOn({ store, sandbox: real.client }).runner.resume(resumeOf(run.id), o, s),
    );
    const events = await again.rest();
    const last = events.at(-1);
    expect(events.filter(({ tag }) => tag === 'Call')).toEqual([]);
    expect(last).toMatchObject({ record: { run: { result: run.result }, journal } });
  });

  test('ends as an attempt that gets its journal at once', { timeout: 60_000 + cases * 1000 }, () =>
    fc.assert(property, { numRuns: cases, ...(seed === undefined ? {} : { seed: Number(seed) }) }),
  );
});

/** Streams until the run is final, with a core that leaves now and then. */
async function drive(
  runner: ReturnType<typeof runnerOn>['runner'],
  core: SimCore,
  turns: Turns,
  store: MemoryStore,
  code: string,
): Promise<{ readonly run: StoredRun; readonly journal: readonly JournalEntry[] }> {
  let known: readonly ReportedOutcome[] = [];
  let id: string | undefined;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const stream = new Stream((outcomes, signal) =>
      id === undefined
        ? runner.start({ ...startOf(code), bindings: simBindings }, outcomes, signal)
        : runner.resume(resumeOf(id, { outcomes: known }), outcomes, signal),
    );
    known = [];
    let patience = turns.chance.hits(0.3) ? turns.chance.below(10) : Number.POSITIVE_INFINITY;
    try {
      for (let last = await stream.next(); ; last = await stream.next()) {
        if (last.tag === 'Accepted') id = last.run.id;
        if (last.tag === 'Finished') return last.record;
        if (last.tag === 'Call') void core.handle(last.call, (reported) => stream.outcomes.push(reported));
        if (last.tag === 'Waiting') {
          known = core.decide(last.requests);
          break;
        }
        patience -= 1;
        if (patience === 0) {
          if (turns.chance.hits(0.5)) core.breakDown();
          stream.abort.abort();
        }
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CANCELLED') throw error;
    }
    const row = [...store.rows.values()][0];
    if (row !== undefined && isFinal(row.run.status)) return row;
  }
  throw new Error('no end after 200 attempts');
}

/** As it was before its end. */
function reopened({ result: _, ...run }: StoredRun): StoredRun {
  return { ...run, status: 'Running', logLines: 0, lease: { ...run.lease, expiresAtMs: 0 } };
}
