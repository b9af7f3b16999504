/**
 * Takes the descriptor by which the log is synced away, so that the kernel refuses the sync, and says what became
 * of writes as JSON. SQLite's own descriptors stay: it goes on writing.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import type { RunResult } from '../../services/code-run/core/model.ts';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { attempt, called, claimBy, newRun, settled, t0 } from './example-runs.ts';

const [, , path = ''] = process.argv;
const keys = new LocalKeeper([{ id: 'k1', secret: randomBytes(32) }]);
const open = () => new SealedStore({ rows: new SqliteRows({ path, durability: 'power' }), keys });
const completed: RunResult = { tag: 'Completed', valueJson: '1', logs: [] };

async function fate(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'done',
    (error: unknown) => String(error),
  );
}

/** The one that was opened last is that of the sync. */
function descriptorOfSync(): number {
  const open = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === `${path}-wal`;
    } catch {
      return false; // That of the listing itself.
    }
  });
  return Math.max(...open.map(Number));
}

const store = open();
const run = newRun();
await store.create(run, claimBy('a'));
const writer = { runId: run.id, epoch: 1 };
await store.append(writer, 0, [called(0)], 0, t0);

closeSync(descriptorOfSync());
const failed = await fate(store.append(writer, 1, [settled(0)], 0, t0));
const repeated = await fate(store.append(writer, 1, [settled(0)], 0, t0));
const finished = await fate(store.finish(writer, completed, attempt(), t0));
const pinged = await fate(store.ping());

// As after the kill of the process: the first store is left as it is.
const again = open();
const found = await again.get(run.id);
const journal = await again.journal(run.id);
const first = journal[0]?.kind === 'Called';
const whole = journal.length === found?.journalLength;
await again.append(writer, 1, [settled(0)], 0, t0);
const { status: end } = await again.finish(writer, completed, attempt(), t0);
const goesOn = end === 'Completed' && (await again.journal(run.id)).length === 2;
const reopened = { status: found?.status, first, whole, afterwards: goesOn ? 'goes on' : 'does not' };
process.stdout.write(JSON.stringify({ failed, repeated, finished, pinged, reopened }));
process.exit(0);
