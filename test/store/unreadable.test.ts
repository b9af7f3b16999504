/** What may still be done with a run that cannot be read: it is listed, cancelled, deleted, and goes with age. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseLost, RunUnreadable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { type Backend, backends } from './backends.ts';
import { type Changes, changedRows, flipped } from './changed-rows.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const cancelled = { status: 'Cancelled', result: { tag: 'Cancelled', logs: [] } } as const;

for (const { name, available, start } of backends('unreadable runs')) {
  describe.runIf(available)(`an unreadable run on ${name}`, () => {
    let backend: Backend;
    let rows: RowStore;
    let store: SealedStore;
    /** Without the key of the runs. */
    let keyless: SealedStore;

    beforeAll(async () => {
      backend = await start();
      rows = await backend.rows();
      store = new SealedStore({ rows, keys });
      keyless = new SealedStore({ rows, keys: localKeeper('k9') });
    });
    afterAll(async () => {
      await rows?.close();
      await backend?.stop();
    });

    function storeOnChanged(change: Changes): { store: SealedStore; alarms: string[] } {
      const alarms: string[] = [];
      const changed = changedRows(rows, change);
      return {
        store: new SealedStore({ rows: changed, keys, onUnreadable: (id) => alarms.push(id) }),
        alarms,
      };
    }

    async function running(createdAtMs = t0, session?: string) {
      const run = newRun({ createdAtMs, ...(session !== undefined && { session }) });
      await store.create(run, claimBy('a', createdAtMs));
      const writer = { runId: run.id, epoch: 1 };
      await store.append(writer, 0, [called(0)], 3, createdAtMs);
      return { run, writer };
    }

    test('a list shows an unreadable run as Failed / Unavailable and the others as they are', async () => {
      const session = `session-damage-${name}`;
      const store = new SealedStore({ rows, keys });
      const good = newRun({ session, callId: 'good' });
      const bad = newRun({ session, callId: 'bad' });
      await store.create(good, claimBy('a'));
      await store.create(bad, claimBy('a'));
      const { store: reading, alarms } = storeOnChanged({
        run: (row) => (row.id === bad.id ? { ...row, start: flipped(row.start) } : row),
      });
      const { runs } = await reading.list(session, 10);
      expect(runs.find(({ id }) => id === good.id)).toStrictEqual(await store.get(good.id));
      expect(runs.find(({ id }) => id === bad.id)).toMatchObject({
        status: 'Failed',
        code: '',
        result: {
          tag: 'Failed',
          reason: 'Unavailable',
          message: `run ${bad.id} cannot be read: it was sealed with another key, for another place, or was changed`,
        },
      });
      expect(alarms).toStrictEqual([bad.id]);
    });

    test('an unreadable run is refused to whoever claims it, and stays as it is', async () => {
      const store = new SealedStore({ rows, keys });
      const run = newRun();
      await store.create(run, claimBy('a'));
      const { store: changed } = storeOnChanged({ run: (row) => ({ ...row, start: flipped(row.start) }) });
      await expect(changed.claim(run.id, claimBy('b', t0 + 10_000))).rejects.toBeInstanceOf(RunUnreadable);
      expect((await store.get(run.id))?.lease.epoch).toBe(1);
    });

    test('an unreadable run can be deleted', async () => {
      const session = `session-delete-damaged-${name}`;
      const store = new SealedStore({ rows, keys });
      await store.create(newRun({ session }), claimBy('a'));
      const withoutKey = new SealedStore({ rows, keys: localKeeper('k9') });
      expect(await withoutKey.deleteSession(session)).toBe(1);
      expect((await store.list(session, 1)).runs).toStrictEqual([]);
    });

    test('is cancelled where its content was changed, and stays readable to who has it whole', async () => {
      const { run, writer } = await running();
      const { store: changed, alarms } = storeOnChanged({
        run: (row) => ({ ...row, start: flipped(row.start) }),
      });
      expect(await changed.cancel(run.id, t0 + 5)).toMatchObject({ id: run.id, ...cancelled, code: '' });
      expect(alarms).toStrictEqual([run.id]);
      await expect(store.append(writer, 1, [settled(0)], 3, t0)).rejects.toBeInstanceOf(LeaseLost);
      await expect(store.finish(writer, cancelled.result, attempt(), t0)).rejects.toBeInstanceOf(LeaseLost);
      expect(await changed.cancel(run.id, t0 + 9)).toMatchObject(cancelled);
      await expect(changed.get(run.id)).rejects.toBeInstanceOf(RunUnreadable);
      expect(await store.get(run.id)).toMatchObject({ ...cancelled, code: run.code, updatedAtMs: t0 + 5 });
      expect(await store.journal(run.id)).toStrictEqual([called(0)]);
    });

    test('is cancelled where its key is out of reach, for good', async () => {
      const { run, writer } = await running();
      expect(await keyless.cancel(run.id, t0 + 5)).toMatchObject({
        ...{ id: run.id, owner: run.owner, journalLength: 1, logLines: 3 },
        ...cancelled,
      });
      expect(await keyless.cancel(run.id, t0 + 9)).toMatchObject(cancelled);
      await expect(store.append(writer, 1, [settled(0)], 3, t0)).rejects.toBeInstanceOf(LeaseLost);
      expect(await rows.run(run.id)).toMatchObject({ status: 'Cancelled', epoch: 2, updatedAtMs: t0 + 5 });
      await expect(store.get(run.id)).rejects.toThrow(
        new RunUnreadable(
          `run ${run.id} cannot be read: it was ended while its key was out of reach, or was changed`,
        ),
      );
      await expect(store.claim(run.id, claimBy('b', t0 + 99_999))).rejects.toBeInstanceOf(RunUnreadable);
    });

    test('is cancelled where its wrapped key was changed', async () => {
      const { run } = await running();
      const { store: changed } = storeOnChanged({
        run: (row) => ({ ...row, wrappedKey: flipped(row.wrappedKey) }),
      });
      expect(await changed.cancel(run.id, t0)).toMatchObject(cancelled);
      expect((await rows.run(run.id))?.status).toBe('Cancelled');
    });

    test('is cancelled where its journal holds an epoch that nobody had', async () => {
      const { run } = await running();
      const forged = { runId: run.id, slot: 1, kind: 'fence', epoch: 999, first: 1, count: 0 } as const;
      await rows.insertBatch({ ...forged, logLines: 3, atMs: t0, body: new Uint8Array(0) });
      expect(await store.cancel(run.id, t0)).toMatchObject({ ...cancelled, lease: { epoch: 999 } });
      await expect(store.journal(run.id)).rejects.toBeInstanceOf(RunUnreadable);
    });

    test('that waits is cancelled too', async () => {
      const { run, writer } = await running();
      await store.wait(writer, [{ index: 0, after: 0 }], attempt(), 3, t0);
      expect(await keyless.cancel(run.id, t0)).toMatchObject(cancelled);
    });

    test('that ended in another way is not cancelled', async () => {
      const { run, writer } = await running();
      await store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), t0);
      await expect(keyless.cancel(run.id, t0)).rejects.toBeInstanceOf(RunUnreadable);
      expect((await rows.run(run.id))?.status).toBe('Completed');
    });

    test('goes with age when it is nobody’s, and those that can be read stay', async () => {
      const old = t0 - 1_000_000;
      const lost = async () => (await running(old)).run.id;
      const abandoned = await lost();
      const waiting = await running(old);
      await store.wait(waiting.writer, [{ index: 0, after: 0 }], attempt(), 3, old + 10_000);
      const damaged = await running(old);
      await store.wait(damaged.writer, [{ index: 0, after: 0 }], attempt(), 3, old + 10_000);
      const whole = await running(old);
      await store.wait(whole.writer, [{ index: 0, after: 0 }], attempt(), 3, old + 10_000);
      const young = (await running(old + 1)).run.id;
      const unreadable = [abandoned, waiting.run.id, young];
      const { store: changed } = storeOnChanged({
        run: (row) => (unreadable.includes(row.id) ? { ...row, start: flipped(row.start) } : row),
        batches: (all) =>
          all.map((row) => (row.runId === damaged.run.id ? { ...row, body: flipped(row.body) } : row)),
      });

      expect(await changed.purge(old + 10_000)).toBe(0);
      expect(await changed.purge(old + 10_001)).toBe(3);

      for (const id of [abandoned, waiting.run.id, damaged.run.id])
        expect(await store.get(id)).toBeUndefined();
      expect(await store.get(whole.run.id)).toMatchObject({ status: 'Waiting' });
      expect(await store.get(young)).toMatchObject({ status: 'Running' });
      await changed.purge(old + 10_001);
      expect(await rows.run(abandoned)).toBeUndefined();
    });
  });
}
