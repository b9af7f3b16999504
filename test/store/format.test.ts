/**
 * Rows as format version 1 wrote them, kept as they were: what is stored must stay readable. A change that
 * breaks this test needs a new format version that still reads the old one, never a new fixture.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import type { BatchRow, ChunkRow, RunRow } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';

interface Fixture {
  readonly run: RunRow;
  readonly batches: readonly BatchRow[];
  readonly chunks: readonly ChunkRow[];
  readonly expected: { readonly run: { readonly limits: object }; readonly journal: unknown };
}

function fixture(name: string): Fixture {
  const text = readFileSync(join(import.meta.dirname, '../fixtures/store', name), 'utf8');
  return JSON.parse(text, (_, value) =>
    typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value,
  ) as Fixture;
}

test('format version 1 is read as it was written', async () => {
  const { run, batches, chunks, expected } = fixture('format-1.json');
  const rows = new SqliteRows({ path: ':memory:', durability: 'process' });
  await rows.insertRun(run);
  await rows.insertChunks(chunks);
  for (const batch of batches) {
    await rows.insertBatch(batch);
  }
  const keys = new LocalKeeper([{ id: 'k1', secret: Buffer.alloc(32, 'golden key of the tests') }]);
  const store = new SealedStore({ rows, keys });
  expect(chunks.length).toBeGreaterThan(0);
  // Written before the calls of a run had limits of their own: it has those that all had then.
  const { limits, ...rest } = expected.run;
  expect(await store.get(run.id)).toStrictEqual({ ...rest, limits: { ...limits, ...initialCallLimits } });
  expect(await store.journal(run.id)).toStrictEqual(expected.journal);
  await store.close();
});
