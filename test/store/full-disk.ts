/** Run under a file size limit: appends until the disk is full, and says what happened as JSON. */
import { randomBytes } from 'node:crypto';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { StoreUnavailable } from '../../services/code-run/store/contract.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { called, claimBy, newRun, settled, t0 } from './example-runs.ts';

const [, , path = ''] = process.argv;
const keys = new LocalKeeper([{ id: 'k1', secret: randomBytes(32) }]);
const store = new SealedStore({ rows: new SqliteRows({ path, durability: 'power' }), keys });
const run = newRun();
await store.create(run, claimBy('a'));
const writer = { runId: run.id, epoch: 1 };
await store.append(writer, 0, [called(0)], 0, t0);
let appended = 1;
let failed = 'nothing';
try {
  for (; appended < 1_000; appended++) {
    await store.append(writer, appended, [settled(0, randomBytes(20_000).toString('base64'))], 0, t0);
  }
} catch (error) {
  failed = error instanceof StoreUnavailable ? error.name : String(error);
}
const read = (await store.journal(run.id)).length;
process.stdout.write(JSON.stringify({ failed, appended, read }));
await store.close();
