/**
 * Random programs under random orders, decisions and breakdowns. SIM_CASES says how many (default 2,000), SIM_SEED
 * which; a failing case prints its seed and its shrunk plan.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { Case, type CasePlan, type FaultKind } from './case.ts';
import { dependsOnOrder, programTree, textOf } from './programs.ts';

const { SIM_CASES = '2000', SIM_SEED: seed } = process.env;
const cases = Number(SIM_CASES);

const faultKinds: readonly FaultKind[] = [
  'instanceCrash',
  'sandboxLost',
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

function check(faults: readonly FaultKind[], numRuns: number): Promise<void> {
  return fc.assert(
    fc.asyncProperty(plan(faults), async (one) => {
      await new Case(one).run();
    }),
    { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
}

describe('a run', () => {
  const timeout = 60_000 + cases * 50;

  test('ends as if nothing broke, and nothing is performed twice', { timeout }, () =>
    check(faultKinds, Math.ceil(cases * 0.8)),
  );

  test('is final after a cancel from anywhere, and calls nothing more', { timeout }, () =>
    check([...faultKinds, 'cancel', 'cancel', 'cancel'], Math.ceil(cases * 0.2)),
  );
});
