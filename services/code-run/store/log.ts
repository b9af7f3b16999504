/**
 * The log of a run: its batches, numbered by slots. The log decides who may write.
 *
 * L1  A slot is written once. An append takes the next slot, so of two appends after the same entries one
 *     fails: that is S3.
 * L2  Whoever takes a run over (claim, cancel, delete) puts a fence of its own epoch into the next slot before
 *     it is done. A writer of an older epoch that still appends finds its slot taken: that is S2, with one
 *     plain insert for an append and no second document to compare with.
 * L3  Epochs in a log never fall: whoever finds a newer one than its own has lost.
 */
import assert from 'node:assert/strict';
import type { JournalEntry } from '../core/model.ts';
import { RunUnreadable } from './contract.ts';
import type { BatchHead, BatchRow, RowStore } from './rows.ts';
import type { RunCodec, RunKey } from './run-codec.ts';

/** Where the next append goes. */
export interface LogEnd {
  readonly slot: number;
  readonly length: number;
  readonly logLines: number;
}

export const emptyLog: LogEnd = { slot: 0, length: 0, logLines: 0 };

export class RunLog {
  readonly #rows: RowStore;
  readonly #codec: RunCodec;

  constructor(rows: RowStore, codec: RunCodec) {
    this.#rows = rows;
    this.#codec = codec;
  }

  async end(runId: string): Promise<LogEnd> {
    return endAfter(await this.#rows.lastBatch(runId));
  }

  /** Writes entries into the slot at `end`. False: the slot is taken. */
  async append(
    key: RunKey,
    epoch: number,
    end: LogEnd,
    entries: readonly JournalEntry[],
    logLines: number,
    atMs: number,
  ): Promise<boolean> {
    const { slot, length: first } = end;
    const count = entries.length;
    return this.#insert(
      key,
      { runId: key.runId, slot, kind: 'entries', epoch, first, count, logLines, atMs },
      entries,
    );
  }

  /** Puts a fence of `epoch` after the last batch. Undefined: a newer epoch is there already. */
  async fence(key: RunKey, epoch: number, logLinesMin: number, atMs: number): Promise<LogEnd | undefined> {
    const head = await this.#put(
      key.runId,
      (last) => {
        if (last?.malformed !== undefined) throw unreadable(key.runId, 'its last place was changed');
        return last !== undefined && last.epoch > epoch
          ? undefined
          : fenceAfter(last, key.runId, epoch, logLinesMin, atMs);
      },
      (fence) => this.#insert(key, fence, []),
    );
    return head && endAfter(head);
  }

  /** The last fence of a run, after which nothing comes: of `epoch`, or of a newer one that the log has. */
  async lastFence(key: RunKey, epoch: number, logLinesMin: number, atMs: number): Promise<BatchHead> {
    const head = await this.#put(
      key.runId,
      (last) => fenceAfter(last, key.runId, Math.max(epoch, last?.epoch ?? 0), logLinesMin, atMs),
      (fence) => this.#insert(key, fence, []),
    );
    assert(head !== undefined, 'there is always a fence to put');
    return head;
  }

  /**
   * The last fence of a run without a key: of one that is deleted, whose key goes with it, or whose key is out of
   * reach. It cannot be sealed, and what is not sealed makes a log unreadable: so it comes after the run's row was
   * marked as over by `epoch`, which no epoch in the log is above. Once it is there, again is nothing. A log that was
   * changed so that it takes no fence is left without.
   */
  async unsealedFence(runId: string, epoch: number, atMs: number): Promise<void> {
    const put = this.#put(
      runId,
      (last) =>
        last?.kind === 'fence' && last.epoch === epoch ? undefined : fenceAfter(last, runId, epoch, 0, atMs),
      (fence) => this.#rows.insertBatch({ ...fence, body: new Uint8Array(0) }),
    );
    await put.catch((error: unknown) => {
      if (!(error instanceof RunUnreadable)) throw error;
    });
  }

  /** The entries of the batch in a slot, if `epoch` wrote them there after `first` entries. */
  async written(
    key: RunKey,
    slot: number,
    epoch: number,
    first: number,
  ): Promise<readonly JournalEntry[] | undefined> {
    const batch = slot < 0 ? undefined : await this.#rows.batch(key.runId, slot);
    return batch?.kind === 'entries' && batch.epoch === epoch && batch.first === first
      ? this.#codec.openBatches(key, [batch])
      : undefined;
  }

  /** All entries, checked to be without gap. At least `lengthMin` of them. */
  async entries(key: RunKey, lengthMin: number): Promise<JournalEntry[]> {
    const batches = await this.#rows.batches(key.runId);
    let length = 0;
    let epoch = 0;
    for (const [slot, batch] of batches.entries()) {
      if (batch.slot !== slot || batch.first !== length || batch.epoch < epoch) {
        throw unreadable(key.runId, `its journal has a gap at slot ${slot}`);
      }
      epoch = batch.epoch;
      length += batch.count;
    }
    if (length < lengthMin) {
      throw unreadable(key.runId, `its journal had ${lengthMin} entries and has ${length}`);
    }
    return this.#codec.openBatches(key, batches);
  }

  /**
   * Puts what `after` gives into the place after the last one, or nothing where it gives nothing. A place that was
   * taken meanwhile is the last one then: where it is not, somebody changed the numbers of places.
   */
  async #put(
    runId: string,
    after: (last: BatchHead | undefined) => BatchHead | undefined,
    insert: (head: BatchHead) => Promise<boolean>,
  ): Promise<BatchHead | undefined> {
    let slot = -1;
    for (;;) {
      const last = await this.#rows.lastBatch(runId);
      if (last?.slot === slot) throw unreadable(runId, 'its journal takes no more');
      slot = last?.slot ?? slot;
      const head = after(last);
      if (head === undefined || (await insert(head))) {
        return head;
      }
    }
  }

  async #insert(key: RunKey, head: BatchHead, entries: readonly JournalEntry[]): Promise<boolean> {
    const { sealed, chunks } = await this.#codec.sealBatch(key, head, entries);
    if (chunks.length > 0) {
      await this.#rows.insertChunks(chunks);
    }
    const batch: BatchRow = { ...head, body: sealed };
    return this.#rows.insertBatch(batch);
  }
}

function unreadable(runId: string, why: string): RunUnreadable {
  return new RunUnreadable(`run ${runId} cannot be read: ${why}`);
}

export function endAfter(last: BatchHead | undefined): LogEnd {
  return last === undefined
    ? emptyLog
    : { slot: last.slot + 1, length: last.first + last.count, logLines: last.logLines };
}

function fenceAfter(
  last: BatchHead | undefined,
  runId: string,
  epoch: number,
  logLinesMin: number,
  atMs: number,
): BatchHead {
  const { slot, length: first, logLines } = endAfter(last);
  return {
    runId,
    slot,
    kind: 'fence',
    epoch,
    first,
    count: 0,
    logLines: Math.max(logLines, logLinesMin),
    atMs,
  };
}
