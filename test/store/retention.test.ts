/** Runs go by age: at the start, and every hour after; and nobody waits for that. */
import { expect, test } from 'vitest';
import { Retention } from '../../services/code-run/retention.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { silentLog as log } from '../../services/shared/log.ts';
import { until } from '../e2e/proc.ts';
import { ManualClock } from '../runner/manual-clock.ts';
import { attempt, claimBy, localKeeper, newRun, t0 } from './example-runs.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const retentionDays = 2;

function opened() {
  const rows = new SqliteRows({ path: ':memory:', durability: 'power' });
  return new SealedStore({ rows, keys: localKeeper('k1') });
}

async function endedAt(store: SealedStore, endedAtMs: number): Promise<string> {
  const run = newRun();
  await store.create(run, claimBy('a'));
  const writer = { runId: run.id, epoch: 1 };
  await store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), endedAtMs);
  return run.id;
}

test('retention deletes at the start what is older than its days, and every hour what has become so', async () => {
  const store = opened();
  const clock = new ManualClock();
  const keptSinceMs = clock.now() - retentionDays * dayMs;
  const older = await endedAt(store, keptSinceMs - 1);
  const younger = await endedAt(store, keptSinceMs);
  const isThere = async (id: string) => (await store.get(id)) !== undefined;
  const retention = new Retention({ store, clock, retentionDays, log });
  retention.start();
  await until(async () => !(await isThere(older)));
  expect(await isThere(younger)).toBe(true);
  clock.advance(hourMs);
  await until(async () => !(await isThere(younger)));
  await retention.stop();
  expect(clock.timers).toBe(0);
  await store.close();
});

test('a purge that is told to stop ends after the run that it is at, and the next goes on', async () => {
  const store = opened();
  for (let n = 0; n < 5; n++) await endedAt(store, t0 - 9);
  const stop = new AbortController();
  const purging = store.purge(t0, stop.signal);
  stop.abort();
  expect(await purging).toBeLessThan(2);
  expect(await store.purge(t0)).toBeGreaterThan(3);
  await store.close();
});

test('a purge lets others have their turn after each run that it only reads', async () => {
  const store = opened();
  const runs = 30;
  for (let n = 0; n < runs; n++) {
    const run = newRun();
    await store.create(run, claimBy('a'));
    await store.wait({ runId: run.id, epoch: 1 }, [], attempt(), 0, t0);
  }
  let turns = 0;
  let purged = false;
  const others = () => {
    turns += 1;
    if (!purged) setImmediate(others);
  };
  setImmediate(others);
  expect(await store.purge(t0 + 1)).toBe(0);
  purged = true;
  expect(turns).toBeGreaterThanOrEqual(runs);
  await store.close();
});
