import { describe, expect, test } from 'vitest';
import { Sweeper, type SweeperParts } from '../../services/code-run/runner/sweeper.ts';
import { silentLog } from '../../services/shared/log.ts';
import { drained } from '../sim/realm.ts';
import { ManualClock } from './manual-clock.ts';

const settings = { instance: 'one', leaseMs: 1000, abandonedAfterMs: 5000, sweepMs: 100 };

/** A store that only counts how often it is asked, and fails when told to. */
function sweeping() {
  const clock = new ManualClock();
  const asked: number[] = [];
  const fails = { next: false };
  const store = {
    abandoned: async (beforeMs: number) => {
      asked.push(clock.now() - beforeMs);
      if (fails.next) throw new Error('no store');
      return [];
    },
  } as unknown as SweeperParts['store'];
  return { clock, asked, fails, sweeper: new Sweeper({ store, clock, settings, log: silentLog }) };
}

describe('the sweeper', () => {
  test('looks for runs now and then, and goes on after a failure', async () => {
    const { clock, asked, fails, sweeper } = sweeping();
    sweeper.start();
    clock.advance(99);
    expect(asked).toEqual([]);
    clock.advance(1);
    expect(asked).toEqual([5000]);
    fails.next = true;
    await drained();
    clock.advance(100);
    await drained();
    clock.advance(100);
    expect(asked).toEqual([5000, 5000, 5000]);
    await sweeper.stop();
  });

  test('looks no more once it was stopped, and leaves no timer', async () => {
    const { clock, asked, sweeper } = sweeping();
    sweeper.start();
    clock.advance(100);
    await sweeper.stop();
    clock.advance(1000);
    sweeper.start();
    clock.advance(1000);
    expect(asked).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });
});
