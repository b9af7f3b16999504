/** Writers that come back after others took their run over, and after it was deleted: no place of the log is free. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseLost, StoreUnavailable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { type Backend, backends } from './backends.ts';
import { cutAt, rowsAround } from './cut-rows.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const later = (claims: number) => t0 + claims * 1_000_000;

for (const { name, available, start } of backends('late-writers')) {
  describe.runIf(available)(`a deleted run on ${name}`, () => {
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

    test.each([
      ['was running', undefined],
      ['had ended', 'Completed'],
    ])(
      'that %s takes nothing of a writer of two claims ago, nor an append again that had no answer',
      async (_, end) => {
        const [first, second, third] = [1, 2, 3].map(() => new SealedStore({ rows, keys }));
        if (first === undefined || second === undefined || third === undefined) return expect.unreachable();
        const run = newRun();
        const of = (epoch: number) => ({ runId: run.id, epoch });
        await first.create(run, claimBy('a'));
        await first.append(of(1), 0, [called(0)], 0, t0);
        // The next place of the first is the fence of the second.
        await second.claim(run.id, claimBy('b', later(1)));
        const unanswered = new SealedStore({ rows: rowsAround(rows, cutAt(0, 'after')), keys });
        await expect(unanswered.append(of(2), 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(
          StoreUnavailable,
        );
        expect(await third.claim(run.id, claimBy('c', later(2)))).toMatchObject({ tag: 'Claimed' });

        if (end !== undefined) await third.finish(of(3), { tag: 'Completed', logs: [] }, attempt(), later(2));
        expect(await rows.batches(run.id)).toHaveLength(4);

        expect(await third.deleteSession(run.session)).toBe(1);

        await expect(first.append(of(1), 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(LeaseLost);
        await expect(second.append(of(2), 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(LeaseLost);
        const places = (await rows.batches(run.id)).map(({ slot, kind, body }) => [slot, kind, body.length]);
        expect(places).toStrictEqual([0, 1, 2, 3, 4].map((slot) => [slot, 'fence', 0]));
      },
    );
  });
}
