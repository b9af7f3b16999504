/**
 * Run where the disk is small: appends until it is full, makes room, goes on, and says what happened as JSON. Room
 * is made by a second file that is removed, and by lifting the soft limit on the size of files.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { growthOf } from '../support/disk.ts';
import { called, claimBy, newRun, settled, t0 } from './example-runs.ts';

const [, , path = ''] = process.argv;
const spare = `${path}.spare`;
writeFileSync(spare, randomBytes(300_000));
const keys = new LocalKeeper([{ id: 'k1', secret: randomBytes(32) }]);
const store = new SealedStore({ rows: new SqliteRows({ path, durability: 'power' }), keys });
const run = newRun();
await store.create(run, claimBy('a'));
const writer = { runId: run.id, epoch: 1 };

async function fate(work: () => Promise<unknown>): Promise<string | undefined> {
  return await work().then(
    () => undefined,
    (error: unknown) => String(error),
  );
}

let appended = 0;
let failed: string | undefined;
let pinged: string | undefined;
// The last room is taken by small ones, and by the writes of pings, which are smaller still.
for (const bytes of [15_000, 10, 10, 10, 10]) {
  for (failed = undefined; failed === undefined && appended < 1_000; ) {
    // Noise: nothing of it is compressed away.
    const noise = JSON.stringify(randomBytes(bytes).toString('base64'));
    const entry = appended === 0 ? called(0) : settled(0, noise);
    failed = await fate(() => store.append(writer, appended, [entry], 0, t0));
    if (failed === undefined) appended += 1;
  }
  pinged = (await fate(() => store.ping()))?.split(':')[0];
}
const other = newRun();
const big = { ...other, code: randomBytes(200_000).toString('base64') };
await fate(() => store.create(big, claimBy('a')));
const created = (await store.get(big.id)) !== undefined;
const entries = await store.journal(run.id);
const whole = entries.length === appended && (await store.get(run.id))?.journalLength === appended;

rmSync(spare);
growthOf(process.pid, 'unlimited');
await store.ping();
await store.append(writer, appended, [settled(0)], 0, t0);
await store.create(big, claimBy('a'));
const goesOn =
  (await store.journal(run.id)).length === appended + 1 && (await store.get(big.id))?.code === big.code;
process.stdout.write(
  JSON.stringify({
    failed,
    pinged,
    entries: entries.length,
    whole,
    created,
    afterwards: goesOn ? 'goes on' : 'does not',
  }),
);
await store.close();
