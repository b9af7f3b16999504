/** Rows whose writes somebody stands around: to cut them off, or to look beside them. */
import { StoreUnavailable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { changedRows } from './changed-rows.ts';

const writes = [
  'insertRun',
  'insertChunks',
  'insertBatch',
  'changeRun',
  'removeContent',
  'removeRun',
  'replaceSettings',
] as const satisfies readonly (keyof RowStore)[];

export type Around = (write: () => Promise<unknown>) => Promise<unknown>;

/** Rows whose writes are done by `around`. */
export function rowsAround(rows: RowStore, around: Around): RowStore {
  const changed = changedRows(rows, {});
  for (const method of writes) {
    const write = changed[method] as (...values: unknown[]) => Promise<unknown>;
    Object.assign(changed, { [method]: (...values: unknown[]) => around(() => write(...values)) });
  }
  return changed;
}

/** The connection is lost before a write, counted from 0, or before its answer, and does not come back. */
export function cutAt(at: number, when: 'before' | 'after'): Around {
  let count = 0;
  return async (write) => {
    const index = count++;
    const done = index < at || (index === at && when === 'after') ? await write() : undefined;
    if (index >= at) throw new StoreUnavailable('cut off');
    return done;
  };
}

/** Every place of up to `writesMax` writes at which they can be cut off. */
export function cuts(writesMax: number): { at: number; when: 'before' | 'after' }[] {
  return Array.from({ length: writesMax }, (_, at) => at).flatMap((at) => [
    { at, when: 'before' as const },
    { at, when: 'after' as const },
  ]);
}
