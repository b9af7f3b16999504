/** A deletion that is cut off, and one that others read beside: a run is whole or gone, and nobody is alarmed. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Writer } from '../../services/code-run/store/contract.ts';
import { LeaseLost, StoreUnavailable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { changedRows } from './changed-rows.ts';
import { cutAt, cuts, rowsAround } from './cut-rows.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
/** Of the longest deletion: mark, fence, content, row. */
const writesMax = 4;
/** Too large for the row, and no smaller when compressed. */
const inChunks = randomBytes(limits.storeInlineBytesMax).toString('hex');
const farOff = t0 + 1_000_000_000;
const longAgo = t0 - 1_000_000_000;

type Ending = (store: SealedStore, writer: Writer) => Promise<unknown>;

const endings: Record<string, Ending> = {
  Running: async () => {},
  Waiting: (store, writer) => store.wait(writer, [{ index: 0, after: 0 }], attempt(), 3, t0),
  Released: (store, writer) => store.release(writer, attempt(), t0),
  Completed: (store, writer) => store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), t0),
};

for (const { name, available, start } of backends('deletion')) {
  describe.runIf(available)(`a deletion on ${name}`, () => {
    let backend: Backend;
    let rows: RowStore;

    beforeAll(async () => {
      backend = await start();
      rows = await backend.rows();
    });
    afterAll(async () => {
      await rows?.close();
      await backend?.stop();
    });

    /** Without what another instance remembers. */
    function reading(of = rows): { store: SealedStore; alarms: string[] } {
      const alarms: string[] = [];
      return { store: new SealedStore({ rows: of, keys, onUnreadable: (id) => alarms.push(id) }), alarms };
    }

    async function stored(ending: Ending) {
      const { store } = reading();
      const run = newRun({ code: inChunks });
      await store.create(run, claimBy('a'));
      const writer = { runId: run.id, epoch: 1 };
      await store.append(writer, 0, [called(0)], 3, t0);
      await ending(store, writer);
      return { store, run, writer, whole: await seen(run) };
    }

    async function seen({ id, session }: { id: string; session: string }) {
      const { store, alarms } = reading();
      const { runs } = await store.list(session, 10);
      return { run: await store.get(id), journal: await store.journal(id), runs, alarms };
    }

    const gone = { run: undefined, journal: [], runs: [], alarms: [] };
    describe.each(Object.keys(endings))('of a %s run', (status) => {
      describe.each(['the key', 'no key'])('by who has %s', (has) => {
        const deleting = (of: RowStore) =>
          new SealedStore({ rows: of, keys: has === 'the key' ? keys : localKeeper('k9') });
        const ending = endings[status] ?? expect.unreachable();

        test.each(cuts(writesMax))(
          'that is cut off $when write $at leaves it whole or gone; the next finishes it',
          async ({ at, when }) => {
            const { store, run, writer, whole } = await stored(ending);
            const cut = deleting(rowsAround(rows, cutAt(at, when))).deleteSession(run.session);
            // What takes fewer writes is not cut off.
            await cut.catch((error) => expect(error).toBeInstanceOf(StoreUnavailable));

            const vanished = at > 0 || when === 'after';
            expect(await seen(run)).toStrictEqual(vanished ? gone : whole);

            expect(await deleting(rows).deleteSession(run.session)).toBe(vanished ? 0 : 1);
            await expectPlacesAlone(run);
            await expect(store.append(writer, 1, [settled(0)], 3, t0)).rejects.toBeInstanceOf(LeaseLost);
          },
        );

        test.each(cuts(writesMax))(
          'that is cut off $when write $at is finished by the next purge',
          async ({ at, when }) => {
            const { run, whole } = await stored(ending);
            await deleting(rowsAround(rows, cutAt(at, when)))
              .deleteSession(run.session)
              .catch((error) => expect(error).toBeInstanceOf(StoreUnavailable));

            await reading().store.purge(t0 - 1_000_000);

            if (at === 0 && when === 'before') {
              expect(await seen(run)).toStrictEqual(whole);
            } else {
              await expectPlacesAlone(run);
              await reading().store.purge(farOff);
              expect(await rows.run(run.id)).toBeUndefined();
              expect(await rows.batches(run.id)).toStrictEqual([]);
            }
          },
        );
      });

      test('raises no alarm with those who read beside each of its writes', async () => {
        const { run, whole } = await stored(endings[status] ?? expect.unreachable());
        const states: unknown[] = [];
        const beside = rowsAround(rows, async (write) => {
          const done = await write();
          states.push(await seen(run));
          return done;
        });
        expect(whole.alarms).toStrictEqual([]);
        expect(await new SealedStore({ rows: beside, keys }).deleteSession(run.session)).toBe(1);
        expect(states.length).toBeGreaterThan(2);
        for (const state of states) expect(state).toStrictEqual(gone);
      });

      const readings: Record<string, (store: SealedStore, run: { id: string; session: string }) => unknown> =
        {
          get: async (store, { id }) => expect(await store.get(id)).toBeUndefined(),
          journal: async (store, { id }) => expect(await store.journal(id)).toStrictEqual([]),
          list: async (store, { session }) =>
            expect(await store.list(session, 10)).toStrictEqual({ runs: [] }),
          claim: async (store, { id }) =>
            expect(await store.claim(id, claimBy('b', farOff))).toStrictEqual({ tag: 'NotFound' }),
        };
      test.each(Object.keys(readings))(
        'raises no alarm where it comes between the reads of %s',
        async (what) => {
          const { run } = await stored(endings[status] ?? expect.unreachable());
          const between = changedRows(rows, {});
          const deleted = async () => reading().store.deleteSession(run.session);
          between.batches = (id) => deleted().then(() => rows.batches(id));
          between.chunks = (...query) => deleted().then(() => rows.chunks(...query));
          const { store, alarms } = reading(between);
          await readings[what]?.(store, run);
          expect(alarms).toStrictEqual([]);
          expect(await rows.idsOfSession(run.session, 1)).toStrictEqual([]);
        },
      );
    });

    test.each(cuts(writesMax))(
      'by age that is cut off $when write $at leaves a run whole or gone; the next purge leaves nothing',
      async ({ at, when }) => {
        const { run, whole } = await stored((store, writer) =>
          store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), longAgo),
        );
        await reading(rowsAround(rows, cutAt(at, when)))
          .store.purge(longAgo + 1)
          .catch((error) => expect(error).toBeInstanceOf(StoreUnavailable));

        const vanished = at > 0 || when === 'after';
        expect(await seen(run)).toStrictEqual(vanished ? gone : whole);

        expect(await reading().store.purge(longAgo + 1)).toBe(vanished ? 0 : 1);
        expect(await rows.run(run.id)).toBeUndefined();
        expect(await rows.batches(run.id)).toStrictEqual([]);
      },
    );

    async function expectPlacesAlone(run: { id: string; session: string }): Promise<void> {
      expect(await rows.idsOfSession(run.session, 1)).toStrictEqual([]);
      expect(await seen(run)).toStrictEqual(gone);
      expect(await rows.run(run.id)).toMatchObject({ status: 'Deleted', session: '', keyId: '' });
      const batches = await rows.batches(run.id);
      // Of the append, and of the fence.
      expect(batches).toMatchObject([
        { kind: 'fence', epoch: 1, slot: 0 },
        { kind: 'fence', epoch: 2, slot: 1, count: 0 },
      ]);
      expect(batches.map(({ body }) => body.length)).toStrictEqual([0, 0]);
    }
  });
}
