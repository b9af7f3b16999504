/**
 * Random programs under random orders, decisions and breakdowns. SIM_CASES says how many (default 1,500), SIM_SEED
 * which; a failing case prints its seed and its shrunk plan.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { localKeeper } from '../store/example-runs.ts';
import { Case, type CasePlan, type FaultKind } from './case.ts';
import { dependsOnOrder, programTree, textOf } from './programs.ts';

const { SIM_CASES = '1500', SIM_SEED: seed } = process.env;
const cases = Number(SIM_CASES);

const faultKinds: readonly FaultKind[] = [
  'instanceCrash',
  'sandboxLost',
  'processDied',
  'coreGone',
  'coreBreakDown',
  'storeBefore',
  'storeAfter',
  'secondCore',
];

const plan = (faults: readonly FaultKind[]): fc.Arbitrary<CasePlan> =>
  fc
    .record({
      tree: programTree,
      seed: fc.integer(),
      habits: fc.record({
        asks: fc.constantFrom(0, 0.2, 0.6, 1),
        denies: fc.constantFrom(0, 0.3),
        fails: fc.constantFrom(0, 0.3),
        decidesEarly: fc.constantFrom(0, 0.5),
        forges: fc.constantFrom(0, 0.3),
      }),
      faults: fc.array(fc.record({ step: fc.nat(150), kind: fc.constantFrom(...faults) }), { maxLength: 6 }),
    })
    .map(({ tree, ...rest }) => ({ ...rest, code: textOf(tree), orderFree: !dependsOnOrder(tree) }));

function check(
  faults: readonly FaultKind[],
  numRuns: number,
  run: (plan: CasePlan) => Promise<unknown> = (one) => new Case(one).run(),
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(plan(faults), async (one) => {
      await run(one);
    }),
    { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
}

/** Runs a case on a store of its own; each instance opens it anew. */
async function onSqlite(one: CasePlan): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sim-sqlite-'));
  const opened: CodeRunStore[] = [];
  const open = () => {
    const rows = new SqliteRows({ path: path.join(folder, 'runs.db'), durability: 'process' });
    const store = new SealedStore({ rows, keys: localKeeper('k1') });
    opened.push(store);
    return store;
  };
  try {
    await new Case(one, { open }).run();
  } finally {
    await Promise.all(opened.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  }
}

describe('a run', () => {
  const timeout = 60_000 + cases * 50;

  test('ends as if nothing broke, and nothing is performed twice', { timeout }, () =>
    check(faultKinds, Math.ceil(cases * 0.8)),
  );

  test('ends so on the sealed store in SQLite, too', { timeout }, () =>
    check([...faultKinds, 'cancel'], Math.ceil(cases * 0.02), onSqlite),
  );

  test('is final after a cancel from anywhere, and calls nothing more', { timeout }, () =>
    check([...faultKinds, 'cancel', 'cancel', 'cancel'], Math.ceil(cases * 0.2)),
  );
});
