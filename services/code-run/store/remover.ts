/**
 * Deletes runs: by session at once, by age for retention.
 *
 * R1  A run vanishes in its first write, which also drops its wrapped data key: from then on it is there for
 *     nobody, and nothing of it can be read, whatever is still to be removed. Before that write it is untouched.
 * R2  Until all is done the row keeps its session and is older than anything: a deletion that was cut off is
 *     finished by the next one of the session and by the next purge.
 * R3  A run that is not final and unreadable ends by nobody: nobody can claim it. Retention takes it by the time
 *     since which it is nobody's.
 * R4  The places of the log of a run that is deleted with its session stay until retention, without content and with
 *     a fence after them: none of its writers, however late, finds a place free. One that has ended may have late
 *     writers too: of an attempt that it was taken from. By the time of retention there are none.
 */
import { setImmediate } from 'node:timers/promises';
import type { RunLog } from './log.ts';
import type { RunReader } from './reader.ts';
import {
  asRead,
  isFinalRow,
  type RowStore,
  type RunRow,
  type RunRowChange,
  type UnheldKind,
} from './rows.ts';

const idsAtOnce = 100;
const nothing = new Uint8Array(0);
/** Of a row whose deletion is not finished: before any retention. */
const sinceEver = 0;
/** When a writer had the row last, of one that goes at once: no writer is left to be kept out. */
const noWriter = 0;

type Places = 'go' | 'stay';

export class RunRemover {
  readonly #rows: RowStore;
  readonly #log: RunLog;
  readonly #reader: RunReader;
  readonly #onRemoved: (runId: string) => void;

  constructor(rows: RowStore, log: RunLog, reader: RunReader, onRemoved: (runId: string) => void) {
    this.#rows = rows;
    this.#log = log;
    this.#reader = reader;
    this.#onRemoved = onRemoved;
  }

  async deleteSession(session: string): Promise<number> {
    let removed = 0;
    // Of no session are the rows of runs whose deletion is finished.
    let ids: readonly string[] = session === '' ? [] : await this.#rows.idsOfSession(session, idsAtOnce);
    while (ids.length > 0) {
      removed += await count(ids, (id) => this.#delete(id, 'stay'));
      ids = await this.#others(ids, () => this.#rows.idsOfSession(session, idsAtOnce));
    }
    return removed;
  }

  /** `signal` stops between two runs. */
  async purge(beforeMs: number, signal?: AbortSignal): Promise<number> {
    let removed = 0;
    let ids = await this.#rows.idsOfEnded(beforeMs, idsAtOnce);
    while (ids.length > 0) {
      removed += await count(ids, (id) => this.#purgeRun(id), signal);
      ids = signal?.aborted ? [] : await this.#others(ids, () => this.#rows.idsOfEnded(beforeMs, idsAtOnce));
    }
    for (const kind of ['Running', 'Waiting'] as const) {
      removed += await this.#purgeUnreadable(kind, beforeMs, signal);
    }
    if (!signal?.aborted) await this.#rows.removeOrphans(beforeMs);
    return removed;
  }

  async #purgeUnreadable(
    kind: UnheldKind,
    beforeMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0;
    let afterId: string | undefined = '';
    while (afterId !== undefined && !signal?.aborted) {
      const ids: readonly string[] = await this.#rows.idsOfUnheld(kind, beforeMs, idsAtOnce, afterId);
      const purge = async (id: string) =>
        !(await this.#reader.isReadable(id)) && (await this.#delete(id, 'go'));
      removed += await count(ids, purge, signal);
      afterId = ids.length < idsAtOnce ? undefined : ids.at(-1);
    }
    return removed;
  }

  /** The next page after a full one; none where it holds nothing new: a row may have been changed so that it stays. */
  async #others(
    before: readonly string[],
    read: () => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    if (before.length < idsAtOnce) return [];
    const ids = await read();
    return ids.every((id) => before.includes(id)) ? [] : ids;
  }

  /** Under the id it was found by, whatever stands in it. */
  async #row(id: string): Promise<RunRow | undefined> {
    const row = await this.#rows.run(id);
    return row && { ...row, id };
  }

  /** Whether it vanished by this. */
  async #delete(id: string, places: Places): Promise<boolean> {
    for (;;) {
      const row = await this.#row(id);
      if (row === undefined || row.status === 'Deleted') {
        await (row && this.#finish(row));
        return false;
      }
      const deleted = await this.#markDeleted(row, places);
      if (deleted !== undefined) {
        await this.#finish(deleted);
        return true;
      }
    }
  }

  async #purgeRun(id: string): Promise<boolean> {
    const row = await this.#row(id);
    if (row === undefined) {
      return false;
    }
    if (row.status !== 'Deleted') {
      return isFinalRow(row.status) && this.#delete(id, 'go');
    }
    if (row.updatedAtMs === sinceEver) {
      await this.#finish(row);
      return false;
    }
    await this.#rows.removeContent(id, 'go');
    await this.#rows.removeRun(id);
    return false;
  }

  /** What is left of a row that was marked. Whoever does it again, or beside another, does no harm. */
  async #finish(row: RunRow): Promise<void> {
    const { id, epoch, leaseExpiresAtMs, updatedAtMs } = row;
    if (leaseExpiresAtMs === noWriter) {
      await this.#rows.removeContent(id, 'go');
      await this.#rows.removeRun(id);
      return;
    }
    if (updatedAtMs !== sinceEver) {
      return;
    }
    await this.#log.unsealedFence(id, epoch, leaseExpiresAtMs);
    await this.#rows.removeContent(id, 'stay');
    await this.#rows.changeRun(id, asRead(row), { session: '', updatedAtMs: leaseExpiresAtMs });
  }

  /** Its place in the list and the key of its call are free at once. Undefined: the row is another by now. */
  async #markDeleted(row: RunRow, places: Places): Promise<RunRow | undefined> {
    const { id, epoch, leaseExpiresAtMs } = row;
    this.#onRemoved(id);
    const change = {
      status: 'Deleted',
      epoch: epoch + 1,
      updatedAtMs: sinceEver,
      turn: '',
      callId: id,
      owner: '',
      leaseOwner: '',
      leaseExpiresAtMs: places === 'go' ? noWriter : leaseExpiresAtMs,
      waiting: '[]',
      attempts: '[]',
      keyId: '',
      wrappedKey: nothing,
      start: nothing,
      end: nothing,
    } as const satisfies RunRowChange;
    return (await this.#rows.changeRun(id, asRead(row), change)) ? { ...row, ...change } : undefined;
  }
}

/**
 * Of how many it is so, one after another. Between two of them everything else of this process has its turn: reads of
 * SQLite take no turn of their own.
 */
async function count(
  ids: readonly string[],
  isSo: (id: string) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  let found = 0;
  for (const id of ids) {
    if (signal?.aborted) break;
    if (await isSo(id)) found += 1;
    await setImmediate();
  }
  return found;
}
