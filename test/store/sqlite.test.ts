/** What only the SQLite store has: its files. */
import { appendFileSync, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';

const mib = 1024 * 1024;
const body = new Uint8Array(16 * 1024);
const batch = { runId: 'run', kind: 'entries', epoch: 1, count: 1, logLines: 0, atMs: 0, body } as const;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'code-mode-sqlite-'));
  file = path.join(folder, 'runs.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function fill(rows: SqliteRows, count: number): Promise<void> {
  for (let slot = 0; slot < count; slot++) await rows.insertBatch({ ...batch, slot, first: slot });
}

test('the write-ahead log stays at 16 MiB, however much is written', async () => {
  const rows = new SqliteRows({ path: file, durability: 'process' });
  await fill(rows, 2_500); // Of more than four pages each: more than twice the log.
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(12 * mib);
  expect(statSync(`${file}-wal`).size).toBeLessThan(17 * mib);
  await rows.close();
});

test('a log that is synced has its size from the start, and keeps it', async () => {
  const rows = new SqliteRows({ path: file, durability: 'power' });
  const { size } = statSync(`${file}-wal`);
  expect(size).toBeGreaterThan(15 * mib);
  await fill(rows, 50);
  expect(statSync(`${file}-wal`).size).toBe(size);
  await rows.close();
});

test('what is in such a log is there after a crash, and zeros or an older log behind it are not', async () => {
  const rows = new SqliteRows({ path: file, durability: 'power' });
  await fill(rows, 50);
  const copy = path.join(folder, 'copy.db');
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  appendFileSync(`${copy}-wal`, new Uint8Array(mib));
  await rows.close();
  const again = new SqliteRows({ path: copy, durability: 'power' });
  expect((await again.batches('run')).map(({ slot }) => slot)).toEqual(
    Array.from({ length: 50 }, (_, n) => n),
  );
  await fill(again, 60);
  expect(await again.batches('run')).toHaveLength(60);
  await again.close();
});
