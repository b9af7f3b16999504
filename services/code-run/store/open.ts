/**
 * Opens the store that a URL names: `sqlite:<path>`, `sqlite::memory:`, `mongodb://…` or `mongodb+srv://…`.
 * The only module that knows which stores there are.
 */
import type { KeyKeeper } from '../crypto/keys.ts';
import { type CodeRunStore, type KeyRotation, StoreUnusable, StoreUrlInvalid } from './contract.ts';
import { PatientStore, patienceDefault } from './patient-store.ts';
import type { RowStore } from './rows.ts';
import { SealedStore } from './sealed-store.ts';
import { SqliteRows } from './sqlite/sqlite-rows.ts';

export { StoreUnusable, StoreUrlInvalid };

export interface StoreOptions {
  readonly url: string;
  /** Asked for once the database is open: a start that fails there makes no key. */
  readonly openKeys: () => Promise<KeyKeeper>;
  /** SQLite only: what an acknowledged write survives, see SqliteOptions. Default: power. */
  readonly sqliteDurability?: 'power' | 'process';
  /** Called for each run found unreadable: it deserves an alarm. The message holds no content. */
  readonly onUnreadable?: (runId: string, message: string) => void;
}

export async function openStore(options: StoreOptions): Promise<CodeRunStore & KeyRotation> {
  const { openKeys, onUnreadable } = options;
  const rows = await openRows(options);
  try {
    const keys = await openKeys();
    const sealed = new SealedStore({ rows, keys, ...(onUnreadable && { onUnreadable }) });
    return new PatientStore(sealed, patienceDefault);
  } catch (error) {
    await rows.close();
    throw error;
  }
}

async function openRows({ url, sqliteDurability = 'power' }: StoreOptions): Promise<RowStore> {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    return new SqliteRows({ path: url.slice('sqlite:'.length), durability: sqliteDurability });
  }
  if (/^mongodb(\+srv)?:\/\//.test(url)) {
    // The driver takes as long to load as all the rest of the store: only where it is used.
    const { MongoRows } = await import('./mongodb/mongo-rows.ts');
    return MongoRows.open(url);
  }
  throw new StoreUrlInvalid('must be "sqlite:<path>", "sqlite::memory:", "mongodb://…" or "mongodb+srv://…"');
}
