/**
 * Deletes runs: by session at once, by age for retention.
 *
 * R1  A run vanishes in one write that also drops its wrapped data key: from then on nothing of it can be
 *     read, whatever is still to be removed.
 * R2  What is left over when that is cut off (rows marked Deleted, chunks of no run) is removed by the next
 *     purge.
 * R3  A run that is not final and unreadable ends by nobody: nobody can claim it. Retention takes it by the time
 *     since which it is nobody's.
 * R4  The fence of a run that was deleted while it ran stays until retention, so that its writer finds its
 *     place taken.
 */
import type { RunLog } from './log.ts';
import type { RunReader } from './reader.ts';
import { isFinalRow, type RowStore, type RunRow } from './rows.ts';

const idsAtOnce = 100;
const allSlots = Number.POSITIVE_INFINITY;
const nothing = new Uint8Array(0);

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
    for (;;) {
      const ids = await this.#rows.idsOfSession(session, idsAtOnce);
      for (const id of ids) {
        removed += (await this.#delete(id)) ? 1 : 0;
      }
      if (ids.length < idsAtOnce) {
        return removed;
      }
    }
  }

  async purge(beforeMs: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const ids = await this.#rows.idsOfEnded(beforeMs, idsAtOnce);
      for (const id of ids) {
        removed += (await this.#purgeRun(id)) ? 1 : 0;
      }
      if (ids.length < idsAtOnce) {
        break;
      }
    }
    removed += await this.#purgeUnreadable(beforeMs);
    await this.#rows.removeOrphans(beforeMs);
    return removed;
  }

  async #purgeUnreadable(beforeMs: number): Promise<number> {
    let removed = 0;
    for (const kind of ['Running', 'Waiting'] as const) {
      let afterId: string | undefined = '';
      while (afterId !== undefined) {
        const ids: readonly string[] = await this.#rows.idsOfUnheld(kind, beforeMs, idsAtOnce, afterId);
        for (const id of ids) {
          removed += !(await this.#reader.isReadable(id)) && (await this.#delete(id)) ? 1 : 0;
        }
        afterId = ids.length < idsAtOnce ? undefined : ids.at(-1);
      }
    }
    return removed;
  }

  /** False: somebody else did. */
  async #delete(id: string): Promise<boolean> {
    for (;;) {
      const row = await this.#rows.run(id);
      if (row === undefined || row.status === 'Deleted') {
        return false;
      }
      const final = isFinalRow(row.status);
      const fence = final
        ? undefined
        : await this.#log.lastFence({ runId: id }, row.epoch + 1, 0, row.updatedAtMs);
      if (!(await this.#markDeleted(row))) {
        continue;
      }
      await this.#rows.removeContent(id, fence?.slot ?? allSlots);
      if (final) {
        await this.#rows.removeRun(id);
      }
      return true;
    }
  }

  async #purgeRun(id: string): Promise<boolean> {
    const row = await this.#rows.run(id);
    if (row === undefined) {
      return false;
    }
    const ended = isFinalRow(row.status);
    if (ended && !(await this.#markDeleted(row))) {
      return false;
    }
    await this.#rows.removeContent(id, allSlots);
    await this.#rows.removeRun(id);
    return ended;
  }

  /** Its place in the list and the key of its call are free at once. */
  async #markDeleted({ id, status, epoch }: RunRow): Promise<boolean> {
    this.#onRemoved(id);
    return this.#rows.changeRun(
      id,
      { status, epoch },
      {
        status: 'Deleted',
        epoch: epoch + 1,
        session: '',
        turn: '',
        callId: id,
        owner: '',
        leaseOwner: '',
        waiting: '[]',
        attempts: '[]',
        keyId: '',
        wrappedKey: nothing,
        start: nothing,
        end: nothing,
      },
    );
  }
}
