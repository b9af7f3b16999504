/**
 * Cancels runs, also those that cannot be read.
 *
 * C1  Where the key is at hand, the fence comes first: its place in the log says how long the journal is, which the
 *     sealed end binds. Cut off between the two, the run is as before but for its writer, who has lost it.
 * C2  Without the key the row comes first, since no fence can be sealed: from then on nobody expects the run to
 *     be readable. The fence follows; where that was cut off, the next cancel of the run puts it.
 */
import type { StoredRun } from '../core/model.ts';
import { RunUnreadable } from './contract.ts';
import { endAfter, type RunLog } from './log.ts';
import type { RunReader } from './reader.ts';
import { asRead, isFinalRow, type RowStore, type RunRow, type RunRowChange } from './rows.ts';
import type { RunCodec, RunKey } from './run-codec.ts';

/** The end of a run whose key is out of reach. */
const unsealed = new Uint8Array(0);

export interface CancellerParts {
  readonly rows: RowStore;
  readonly codec: RunCodec;
  readonly log: RunLog;
  readonly reader: RunReader;
  readonly onCancelled: (runId: string) => void;
}

export class RunCanceller {
  readonly #parts: CancellerParts;

  constructor(parts: CancellerParts) {
    this.#parts = parts;
  }

  /** The run as it is then; undefined: there is none. */
  async cancel(runId: string, nowMs: number): Promise<StoredRun | undefined> {
    const { rows, codec, reader, onCancelled } = this.#parts;
    for (;;) {
      const row = await reader.row(runId);
      if (row === undefined || isFinalRow(row.status)) {
        return row && (row.status === 'Cancelled' ? this.#cancelled(row) : reader.open(row));
      }
      const key = await codec.keyIfThere(row);
      const sealed = key && (await this.#sealedEnd(key, row, nowMs));
      const end = sealed ?? (await this.#endInClear(row));
      const lease = { leaseOwner: '', leaseExpiresAtMs: nowMs };
      const change = { status: 'Cancelled', updatedAtMs: nowMs, ...lease, ...end } as const;
      if (await rows.changeRun(runId, asRead(row), change)) {
        onCancelled(runId);
        return this.#cancelled({ ...row, ...change });
      }
    }
  }

  /** Undefined: its log was changed so that it takes no fence. */
  async #sealedEnd(key: RunKey, row: RunRow, nowMs: number) {
    const { log, codec } = this.#parts;
    const fence = await log.lastFence(key, row.epoch + 1, row.logLines, nowMs).catch((error: unknown) => {
      if (error instanceof RunUnreadable) return undefined;
      throw error;
    });
    if (fence === undefined) return undefined;
    const { length: journalLength, logLines } = endAfter(fence);
    const head = { epoch: fence.epoch, journalLength, logLines };
    const final = { id: row.id, status: 'Cancelled', updatedAtMs: nowMs, ...head } as const;
    const { sealed } = await codec.sealEnd(key, final, { tag: 'Cancelled', logs: [] });
    return { ...head, end: sealed } satisfies RunRowChange;
  }

  async #endInClear(row: RunRow) {
    const last = await this.#parts.rows.lastBatch(row.id);
    const { length: journalLength, logLines } = endAfter(last);
    return {
      epoch: Math.max(row.epoch + 1, last?.epoch ?? 0),
      journalLength,
      logLines: Math.max(logLines, row.logLines),
      end: unsealed,
    } satisfies RunRowChange;
  }

  async #cancelled(row: RunRow): Promise<StoredRun | undefined> {
    const { log, reader } = this.#parts;
    if (row.end.length === 0) {
      await log.unsealedFence(row.id, row.epoch, row.updatedAtMs);
    }
    return reader.cancelled(row);
  }
}
