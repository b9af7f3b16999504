import { describe, expect, test } from 'vitest';
import { Sweeper, type SweeperParts } from '../../services/code-run/runner/sweeper.ts';
import { RunUnreadable } from '../../services/code-run/store/contract.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { limits } from '../../services/shared/limits.ts';
import { silentLog } from '../../services/shared/log.ts';
import { drained } from '../sim/realm.ts';
import { claimBy, localKeeper, newRun } from '../store/example-runs.ts';
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

  test('ends what can be ended among more unreadable runs than it looks at in one go', async () => {
    const rows = new SqliteRows({ path: ':memory:', durability: 'power' });
    const alarms: string[] = [];
    const store = new SealedStore({ rows, keys: localKeeper('k1'), onUnreadable: (id) => alarms.push(id) });
    const keyLost = new SealedStore({ rows, keys: localKeeper('lost') });
    for (let n = 0; n < 250; n++) await keyLost.create(newRun(), claimBy('gone', 0));
    const readable = [newRun({ id: idOf('0') }), newRun({ id: idOf('8') }), newRun({ id: idOf('f') })];
    for (const run of readable) await store.create(run, claimBy('gone', 0));
    const clock = new ManualClock();
    const sweeper = new Sweeper({ store, clock, settings, log: silentLog });
    clock.advance(20_000);

    expect(await sweeper.sweep()).toBe(3);

    for (const { id } of readable) {
      expect(await store.get(id)).toMatchObject({ status: 'Failed', result: { reason: 'Unavailable' } });
    }
    expect(alarms).toHaveLength(250);
    expect(await sweeper.sweep()).toBe(0);
    expect(alarms).toHaveLength(250);
    clock.advance(3_600_000);
    expect(await sweeper.sweep()).toBe(0);
    expect(alarms).toHaveLength(500);
    await store.close();
  });

  test('leaves alone no more unreadable runs than it may remember', async () => {
    const ids = Array.from({ length: limits.sweepLeftRunsMax + 1 }, (_, n) => String(n).padStart(8, '0'));
    const claimed: string[] = [];
    const store = {
      abandoned: async (_: number, max: number, afterId: string) =>
        ids.filter((id) => id > afterId).slice(0, max),
      claim: async (id: string) => {
        claimed.push(id);
        throw new RunUnreadable(id);
      },
    } as unknown as SweeperParts['store'];
    const sweeper = new Sweeper({ store, clock: new ManualClock(), settings, log: silentLog });
    await sweeper.sweep();
    expect(claimed).toStrictEqual(ids);
    claimed.length = 0;
    await sweeper.sweep();
    expect(claimed).toStrictEqual(ids.slice(-1));
  });
});

/** The first, a middle and the last id there can be. */
function idOf(digit: string): string {
  return '00000000-0000-0000-0000-000000000000'.replaceAll('0', digit);
}
