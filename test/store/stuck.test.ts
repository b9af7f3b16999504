/** Rows that were changed so that they stay where they are: every deletion comes to its end, and harms no other run. */
import { randomBytes, randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { attempt, claimBy, localKeeper, newRun, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
/** More than are looked at together. */
const many = 101;

for (const { name, available, start } of backends('stuck')) {
  describe.runIf(available)(`on ${name}`, () => {
    let backend: Backend;
    let rows: RowStore;
    let store: SealedStore;
    const alarms: string[] = [];
    beforeAll(async () => {
      backend = await start();
      rows = await backend.rows();
      store = new SealedStore({ rows, keys, onUnreadable: (id) => alarms.push(id) });
    });
    afterAll(async () => {
      await rows?.close();
      await backend?.stop();
    });

    async function ended(session: string, code = 'return 1') {
      const run = newRun({ session, callId: randomUUID(), code });
      await store.create(run, claimBy('a'));
      await store.finish({ runId: run.id, epoch: 1 }, { tag: 'Completed', logs: [] }, attempt(), t0);
      return run;
    }

    test('deleting no session ends, however many runs were deleted', async () => {
      for (let at = 0; at < many; at++) await ended('many');
      expect(await store.deleteSession('many')).toBe(many);
      expect(await store.deleteSession('')).toBe(0);
    }, 180_000);

    // A hundred rows take this server of MongoDB's protocol half a minute, and what is asked of it is the same.
    test.runIf(name === 'SQLite')(
      'deleted rows whose epoch was changed hold up no deletion and no purge',
      async () => {
        for (let at = 0; at < many; at++) await ended('changed');
        await store.deleteSession('changed');
        alterDeleted(backend.url);
        await store.purge(t0 - 1);
        expect(await store.deleteSession('changed')).toBe(0);
        const whole = await ended('changed');
        expect((await store.list('changed', 10)).runs).toMatchObject([{ id: whole.id }]);
      },
      180_000,
    );

    test.runIf(name === 'MongoDB')(
      'a document under an id of another type is deleted like others',
      async () => {
        const { id } = await ended('odd');
        const client = await MongoClient.connect(backend.url);
        const runs = client.db().collection<{ _id: string | number; callId: string }>('code_runs');
        const found = (await runs.findOne({ _id: id })) ?? expect.unreachable();
        await runs.insertOne({ ...found, _id: 5, callId: 'another' });
        await store.deleteSession('odd');
        await store.purge(t0 + 1_000_000_000);
        expect(await runs.countDocuments({ _id: { $in: [5, id] } })).toBe(0);
        await client.close();
      },
    );

    test.runIf(name === 'SQLite')('a chunk whose time was changed hides no run', async () => {
      const code = randomBytes(limits.storeInlineBytesMax).toString('hex');
      const [large, small] = [await ended('chunks', code), await ended('chunks')];
      const database = new DatabaseSync(backend.url.slice('sqlite:'.length));
      database.prepare('UPDATE code_run_chunks SET at_ms = ? WHERE run_id = ?').run(2n ** 60n, large.id);
      database.close();
      const { runs } = await store.list('chunks', 10);
      expect(runs.map(({ id }) => id).toSorted()).toStrictEqual([large.id, small.id].toSorted());
      await store.purge(t0 + 1_000_000_000);
      expect((await store.list('chunks', 10)).runs).toStrictEqual([]);
    });
  });
}

/** As if none of them were finished. */
function alterDeleted(url: string): void {
  const database = new DatabaseSync(url.slice('sqlite:'.length));
  database
    .prepare(
      `UPDATE code_runs SET epoch = ?, updated_at_ms = 0, session = 'changed' WHERE status = 'Deleted'`,
    )
    .run(2n ** 60n);
  database.close();
}
