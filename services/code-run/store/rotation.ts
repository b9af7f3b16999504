/**
 * Wraps every data key again under the active key. Serving goes on: a row changes only in its wrapped key,
 * and only if it still has the key that was read. What is cut off goes on when it is started again: rows under
 * the active key are not looked at any more.
 */
import { setImmediate } from 'node:timers/promises';
import { type KeyKeeper, KeyServiceUnavailable, KeyUnusable } from '../crypto/keys.ts';
import { type RotationReport, StoreUnavailable } from './contract.ts';
import type { RowStore, RunRow } from './rows.ts';

const idsAtOnce = 200;

/** `signal` stops between two runs, and the report says what was done until then. */
export async function rotate(
  rows: RowStore,
  keeper: KeyKeeper,
  signal: AbortSignal | undefined,
): Promise<RotationReport> {
  try {
    const keyId = await keeper.activeKeyId();
    const unreadable: string[] = [];
    let rewrapped = 0;
    let afterId = '';
    for (;;) {
      const ids = await rows.idsNotUnderKey(keyId, afterId, idsAtOnce);
      for (const id of ids) {
        if (signal?.aborted) {
          return { keyId, rewrapped, unreadable };
        }
        const outcome = await rewrap(rows, keeper, id);
        await setImmediate(); // What is unreadable waits for nothing: others have their turn.
        rewrapped += outcome === 'rewrapped' ? 1 : 0;
        if (outcome === 'unreadable') {
          unreadable.push(id);
        }
      }
      const last = ids.at(-1);
      if (last === undefined || ids.length < idsAtOnce) {
        return { keyId, rewrapped, unreadable };
      }
      afterId = last;
    }
  } catch (error) {
    if (error instanceof KeyServiceUnavailable) {
      throw new StoreUnavailable(`the key-management service: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

type Outcome = 'rewrapped' | 'unreadable' | 'gone';

async function rewrap(rows: RowStore, keeper: KeyKeeper, id: string): Promise<Outcome> {
  const row = await rows.run(id);
  if (row === undefined || row.status === 'Deleted') {
    return 'gone';
  }
  const key = await unwrapped(keeper, row);
  if (key === undefined) {
    return 'unreadable';
  }
  const { keyId, wrapped } = await keeper.wrap(key, id);
  const changed = await rows.changeRun(id, { keyId: row.keyId }, { keyId, wrappedKey: wrapped });
  return changed ? 'rewrapped' : 'gone';
}

async function unwrapped(keeper: KeyKeeper, row: RunRow): Promise<Uint8Array | undefined> {
  try {
    return await keeper.unwrap({ keyId: row.keyId, wrapped: row.wrappedKey }, row.id);
  } catch (error) {
    if (error instanceof KeyUnusable) {
      return undefined;
    }
    throw error;
  }
}
