/**
 * Every operation of several writes, cut off at each of them: afterwards the run is readable and nobody is alarmed, or
 * it was given up by who has no key; doing it again, or taking the run over, brings it to its end.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry, NewRun, RunResult } from '../../services/code-run/core/model.ts';
import { LeaseLost, StoreUnavailable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { cutAt, cuts, rowsAround } from './cut-rows.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const later = t0 + 1_000_000;
/** Of the longest: chunks, fence or batch, row. */
const writesMax = 3;

/** Too large for one document, and no smaller when compressed. */
const inChunks = (bytesMax: number) => randomBytes(bytesMax).toString('base64');
const large = settled(0, JSON.stringify(inChunks(limits.storeChunkBytesMax)));
const ended: RunResult = {
  tag: 'Completed',
  valueJson: JSON.stringify(inChunks(limits.storeInlineBytesMax)),
  logs: [],
};

interface Operation {
  readonly writes: number;
  readonly run: (store: SealedStore, run: NewRun) => Promise<unknown>;
  /** What may stand in the journal after the first call, when it was done. */
  readonly entries?: readonly JournalEntry[];
  /** How the run stands when it was done at last. */
  readonly end: string;
}

const writer = ({ id }: NewRun) => ({ runId: id, epoch: 1 });

const operations: Record<string, Operation> = {
  'an append in chunks': {
    writes: 2,
    run: (store, run) => store.append(writer(run), 1, [large], 3, t0),
    entries: [large],
    end: 'Running',
  },
  'a wait': {
    writes: 1,
    run: (store, run) => store.wait(writer(run), [{ index: 0, after: 0 }], attempt(), 3, t0),
    end: 'Waiting',
  },
  'a release': {
    writes: 1,
    run: (store, run) => store.release(writer(run), attempt(), t0),
    end: 'Running',
  },
  'an end in chunks': {
    writes: 2,
    run: (store, run) => store.finish(writer(run), ended, attempt(), t0),
    end: 'Completed',
  },
  'a cancel': { writes: 2, run: (store, run) => store.cancel(run.id, t0), end: 'Cancelled' },
};

for (const { name, available, start } of backends('cut-off')) {
  describe.runIf(available)(`on ${name}`, () => {
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

    /** Another instance, that remembers nothing. */
    function fresh(of = rows, by = keys): { store: SealedStore; alarms: string[] } {
      const alarms: string[] = [];
      const onUnreadable = (id: string) => alarms.push(id);
      return { store: new SealedStore({ rows: of, keys: by, onUnreadable }), alarms };
    }

    async function running(): Promise<{ run: NewRun; store: SealedStore }> {
      const { store } = fresh();
      const run = newRun();
      await store.create(run, claimBy('a'));
      await store.append(writer(run), 0, [called(0)], 3, t0);
      return { run, store };
    }

    async function cutOff(work: () => Promise<unknown>): Promise<void> {
      await expect(work()).rejects.toBeInstanceOf(StoreUnavailable);
    }

    describe.each(Object.entries(operations))('%s', (_, { writes, run: perform, entries = [], end }) => {
      test.each(cuts(writes))(
        'that is cut off $when write $at leaves the run readable; again, or a claim, brings it on',
        async ({ at, when }) => {
          const { run } = await running();
          await cutOff(() => perform(fresh(rowsAround(rows, cutAt(at, when))).store, run));

          const { store, alarms } = fresh();
          const journal = await store.journal(run.id);
          expect([[called(0)], [called(0), ...entries]]).toContainEqual(journal);
          expect(await store.get(run.id)).toMatchObject({ code: run.code });
          expect((await store.list(run.session, 10)).runs).toMatchObject([{ id: run.id, code: run.code }]);

          await perform(store, run);
          expect(await fresh().store.get(run.id)).toMatchObject({ status: end });
          expect(await store.journal(run.id)).toStrictEqual([called(0), ...entries]);
          if (end === 'Running' || end === 'Waiting') {
            const claimed = await fresh().store.claim(run.id, claimBy('b', later));
            expect(claimed).toMatchObject({ tag: 'Claimed', run: { journalLength: 1 + entries.length } });
          }
          expect(alarms).toStrictEqual([]);
        },
      );

      test(`takes ${writes} writes`, async () => {
        const { run } = await running();
        let count = 0;
        const counting = rowsAround(rows, (write) => {
          count += 1;
          return write();
        });
        await perform(fresh(counting).store, run);
        expect(count).toBe(writes);
      });
    });

    test.each(cuts(writesMax))(
      'a start in chunks that is cut off $when write $at is done by another; nothing half-written is seen',
      async ({ at, when }) => {
        const run = newRun({ code: inChunks(2 * limits.storeChunkBytesMax) });
        const started = fresh(rowsAround(rows, cutAt(at, when))).store.create(run, claimBy('a'));
        await started.catch((error) => expect(error).toBeInstanceOf(StoreUnavailable));
        const { store, alarms } = fresh();
        expect([undefined, run.code]).toContain((await store.get(run.id))?.code);
        const again = await store.create({ ...run, id: newRun().id }, claimBy('b'));
        expect(again.run.code).toBe(run.code);
        expect((await store.list(run.session, 10)).runs).toHaveLength(1);
        expect(alarms).toStrictEqual([]);
      },
    );

    test.each(cuts(2))(
      'a claim that is cut off $when write $at leaves the run readable, and to the next when its lease is over',
      async ({ at, when }) => {
        const { run, store: first } = await running();
        await cutOff(() => fresh(rowsAround(rows, cutAt(at, when))).store.claim(run.id, claimBy('b', later)));
        const { store, alarms } = fresh();
        expect(await store.journal(run.id)).toStrictEqual([called(0)]);
        expect(await store.claim(run.id, claimBy('c', later + 1_000_000))).toMatchObject({ tag: 'Claimed' });
        await expect(first.append(writer(run), 1, [settled(0)], 3, t0)).rejects.toBeInstanceOf(LeaseLost);
        expect(alarms).toStrictEqual([]);
      },
    );

    test.each(cuts(2))(
      'a cancel without the key that is cut off $when write $at leaves the run whole or cancelled; again finishes it',
      async ({ at, when }) => {
        const { run, store: first } = await running();
        const keyless = localKeeper('k9');
        await cutOff(() => fresh(rowsAround(rows, cutAt(at, when)), keyless).store.cancel(run.id, t0));

        const { store, alarms } = fresh();
        const untouched = at === 0 && when === 'before';
        const { status } = (await rows.run(run.id)) ?? expect.unreachable();
        expect(status).toBe(untouched ? 'Running' : 'Cancelled');
        if (untouched) {
          expect(await store.journal(run.id)).toStrictEqual([called(0)]);
          expect(alarms).toStrictEqual([]);
        } else {
          const why = `run ${run.id} cannot be read: it was ended while its key was out of reach, or was changed`;
          await expect(store.get(run.id)).rejects.toThrow(why);
          await expect(store.journal(run.id)).rejects.toThrow(why);
        }

        const cancelled = { status: 'Cancelled', result: { tag: 'Cancelled' } };
        expect(await fresh(rows, keyless).store.cancel(run.id, t0)).toMatchObject(cancelled);
        await expect(first.append(writer(run), 1, [settled(0)], 3, t0)).rejects.toBeInstanceOf(LeaseLost);
        expect((await rows.batches(run.id)).map(({ kind }) => kind)).toStrictEqual(['entries', 'fence']);
      },
    );
  });
}
