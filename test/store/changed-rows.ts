/** A database that was changed behind the store's back: what it answers is not what was written. */
import type { BatchRow, ChunkRow, RowStore, RunRow } from '../../services/code-run/store/rows.ts';

export interface Changes {
  readonly run?: (row: RunRow) => RunRow;
  readonly batches?: (all: readonly BatchRow[]) => readonly BatchRow[];
  readonly chunks?: (all: readonly ChunkRow[]) => readonly ChunkRow[];
}

export function changedRows(rows: RowStore, { run, batches, chunks }: Changes): RowStore {
  const changed: RowStore = Object.create(rows);
  const bound = Object.getOwnPropertyNames(Object.getPrototypeOf(rows)).filter(
    (each) => each !== 'constructor',
  );
  for (const method of bound as (keyof RowStore)[]) {
    const original = rows[method];
    if (typeof original === 'function') {
      Object.assign(changed, { [method]: original.bind(rows) });
    }
  }
  changed.run = async (id) => {
    const row = await rows.run(id);
    return row && (run?.(row) ?? row);
  };
  changed.list = async (...query) => (await rows.list(...query)).map((row) => run?.(row) ?? row);
  changed.batches = async (id) => {
    const all = await rows.batches(id);
    return batches?.(all) ?? all;
  };
  changed.chunks = async (...query) => {
    const all = await rows.chunks(...query);
    return chunks?.(all) ?? all;
  };
  return changed;
}

export function flipped(bytes: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const middle = changed.length >> 1;
  changed[middle] = (changed[middle] ?? 0) ^ 0x10;
  return changed;
}
