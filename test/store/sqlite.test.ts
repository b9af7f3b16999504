/** What only the SQLite store has: its files. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'code-mode-sqlite-'));
afterEach(() => rmSync(folder, { recursive: true }));

test('the write-ahead log stays at 16 MiB, however much is written', async () => {
  const file = path.join(folder, 'runs.db');
  const rows = new SqliteRows({ path: file, durability: 'process' });
  const body = new Uint8Array(16 * 1024);
  const batch = { runId: 'run', kind: 'entries', epoch: 1, count: 1, logLines: 0, atMs: 0, body } as const;
  for (let slot = 0; slot < 2_500; slot++) await rows.insertBatch({ ...batch, slot, first: slot });
  // 2,500 rows of more than four pages each: more than twice the log.
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(12 * 1024 * 1024);
  expect(statSync(`${file}-wal`).size).toBeLessThan(17 * 1024 * 1024);
  await rows.close();
});
