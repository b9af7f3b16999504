/**
 * Opens the store that a URL names: `sqlite:<path>`, `sqlite::memory:`, `mongodb://…` or `mongodb+srv://…`.
 * The only module that knows which stores there are.
 */
import type { KeyKeeper } from '../crypto/keys.ts';
import { type CodeRunStore, type KeyRotation, StoreUnusable, StoreUrlInvalid } from './contract.ts';
import { type OpeningParts, OpeningStore } from './opening.ts';
import { PatientStore, patienceDefault } from './patient-store.ts';
import type { RowStore } from './rows.ts';
import { SealedStore } from './sealed-store.ts';
import { SqliteRows } from './sqlite/sqlite-rows.ts';

export { StoreUnusable, StoreUrlInvalid };

export interface StoreOptions {
  readonly url: string;
  readonly openKeys: () => Promise<KeyKeeper>;
  /** SQLite only: what an acknowledged write survives, see SqliteOptions. Default: power. */
  readonly sqliteDurability?: 'power' | 'process';
  /** Called for each run found unreadable: it deserves an alarm. The message holds no content. */
  readonly onUnreadable?: (runId: string, message: string) => void;
}

/** One try, for who cannot go on without. A database that is away is StoreUnavailable. */
export async function openStore(options: StoreOptions): Promise<CodeRunStore & KeyRotation> {
  const store = await openSealed(options);
  return new PatientStore(() => store, patienceDefault);
}

export interface StoreInTime {
  /** To be used at once: away until it was opened. */
  readonly store: CodeRunStore & KeyRotation;
  readonly opening: OpeningStore;
}

/** Tries until the database is there; `open` is one try, by `openSealed`. */
export function openStoreInTime(parts: OpeningParts): StoreInTime {
  const opening = new OpeningStore(parts);
  return { opening, store: new PatientStore(() => opening.store, patienceDefault) };
}

/**
 * The store without its patience. A start that fails at a file makes no key, so there the keys come last; with a
 * database that instances share no key is ever made, and a mistake in them is told before it is waited for.
 */
export async function openSealed(options: StoreOptions): Promise<CodeRunStore & KeyRotation> {
  const { url, openKeys, onUnreadable } = options;
  const early = isSqlite(url) ? undefined : await openKeys();
  const rows = await openRows(options);
  try {
    const keys = early ?? (await openKeys());
    return new SealedStore({ rows, keys, ...(onUnreadable && { onUnreadable }) });
  } catch (error) {
    await rows.close();
    throw error;
  }
}

function isSqlite(url: string): boolean {
  return url.startsWith('sqlite:');
}

async function openRows({ url, sqliteDurability = 'power' }: StoreOptions): Promise<RowStore> {
  if (isMongo(url)) {
    // The driver takes as long to load as all the rest of the store: only where it is used.
    const { MongoRows } = await import('./mongodb/mongo-rows.ts');
    return MongoRows.open(url);
  }
  if (!isSqlite(url) || url === 'sqlite:') {
    throw new StoreUrlInvalid(
      'must be "sqlite:<path>", "sqlite::memory:", "mongodb://…" or "mongodb+srv://…"',
    );
  }
  return new SqliteRows({ path: url.slice('sqlite:'.length), durability: sqliteDurability });
}

/** What is wrong with a URL, without connecting; undefined: nothing. Never with a password. */
export async function checkStoreUrl(url: string): Promise<string | undefined> {
  if (!isMongo(url)) return undefined;
  const { mongoClient } = await import('./mongodb/client.ts');
  try {
    mongoClient(url);
    return undefined;
  } catch (error) {
    if (error instanceof StoreUrlInvalid) return error.message;
    throw error;
  }
}

/** The file of a store; undefined: it has none. */
export function sqlitePath(url: string): string | undefined {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ':memory:';
  return path === ':memory:' ? undefined : path;
}

/** Which store it is, for people: without user, password and options. */
export function storeName(url: string): string {
  return isMongo(url) ? url.replace(/\/\/(?:[^/?]*@)?([^?]*).*$/s, '//$1') : url;
}

function isMongo(url: string): boolean {
  return /^mongodb(\+srv)?:\/\//.test(url);
}
