import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { storeContract } from './contract-suite.ts';

storeContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-sqlite-'));
  const path = join(folder, 'runs.db');
  return {
    rows: async () => new SqliteRows({ path, durability: 'power' }),
    stop: async () => rmSync(folder, { recursive: true }),
  };
});
