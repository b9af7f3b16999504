/**
 * Reads runs, journals and lists. An unreadable run is reported once each time it is met, and never takes
 * another with it. One that was deleted while it was read is not damaged: it is gone, and nothing is reported.
 */
import assert from 'node:assert/strict';
import { limits } from '../../shared/limits.ts';
import type { JournalEntry, RunLimits, RunResult, StoredRun } from '../core/model.ts';
import { type Page, RunUnreadable } from './contract.ts';
import type { RunLog } from './log.ts';
import { pageToken, readPageToken } from './page-token.ts';
import type { RowStore, RunRow } from './rows.ts';
import type { RunCodec } from './run-codec.ts';

export class RunReader {
  readonly #rows: RowStore;
  readonly #codec: RunCodec;
  readonly #log: RunLog;
  readonly #onUnreadable: (runId: string, message: string) => void;

  constructor(
    rows: RowStore,
    codec: RunCodec,
    log: RunLog,
    onUnreadable: (runId: string, message: string) => void,
  ) {
    this.#rows = rows;
    this.#codec = codec;
    this.#log = log;
    this.#onUnreadable = onUnreadable;
  }

  /** Undefined: there is none, or it was deleted. */
  async row(runId: string): Promise<RunRow | undefined> {
    const row = await this.#rows.run(runId);
    return row?.status === 'Deleted' ? undefined : row;
  }

  /** Undefined: it was deleted meanwhile. */
  open(row: RunRow): Promise<StoredRun | undefined> {
    return this.#reporting(row.id, async () => {
      const growing = row.status === 'Running' || row.status === 'Released';
      return this.#codec.openRun(row, growing ? await this.#rows.lastBatch(row.id) : undefined);
    });
  }

  async get(runId: string): Promise<StoredRun | undefined> {
    const row = await this.row(runId);
    return row && this.open(row);
  }

  async journal(runId: string): Promise<readonly JournalEntry[]> {
    const row = await this.row(runId);
    if (row === undefined) {
      return [];
    }
    const read = this.#reporting(runId, async () => {
      const entries = await this.#log.entries(await this.#codec.readingKeyOf(row), row.journalLength);
      const growing = row.status === 'Running' || row.status === 'Released';
      return growing ? entries : entries.slice(0, row.journalLength);
    });
    return (await read) ?? [];
  }

  /** Both the run and its journal. What is not there hides nothing. */
  async isReadable(runId: string): Promise<boolean> {
    try {
      await this.get(runId);
      await this.journal(runId);
      return true;
    } catch (error) {
      if (!(error instanceof RunUnreadable)) {
        throw error;
      }
      return false;
    }
  }

  /** A run that was cancelled, with what is known in clear if it is unreadable. */
  cancelled(row: RunRow): Promise<StoredRun | undefined> {
    return this.#openOr(row, () => ({ tag: 'Cancelled', logs: [] }));
  }

  /** A page ends early when its runs are large: what one answer holds is bounded by bytes as well. */
  async list(session: string, pageSize: number, token: string | undefined): Promise<Page> {
    assert(pageSize >= 1 && pageSize <= limits.pageSizeMax, 'the edge bounds the size of a page');
    const after = token === undefined ? undefined : readPageToken(session, token);
    const rows = await this.#rows.list(session, pageSize + 1, after);
    const runs: StoredRun[] = [];
    let bytes = 0;
    let last: RunRow | undefined;
    for (const row of rows.slice(0, pageSize)) {
      const run = await this.#openOr(row, unavailable);
      bytes += run === undefined ? 0 : sizeOf(run);
      if (runs.length > 0 && bytes > limits.pageBytesMax) {
        break;
      }
      last = row;
      runs.push(...(run === undefined ? [] : [run]));
    }
    return last === undefined || last === rows.at(-1)
      ? { runs }
      : { runs, nextPageToken: pageToken(session, last) };
  }

  /** An unreadable run stands with what is known in clear, and the result that is said of it. */
  async #openOr(row: RunRow, result: (message: string) => RunResult): Promise<StoredRun | undefined> {
    try {
      return await this.open(row);
    } catch (error) {
      if (!(error instanceof RunUnreadable)) {
        throw error;
      }
      return inClear(row, result(error.message));
    }
  }

  /** Undefined: it was deleted meanwhile. */
  async #reporting<T>(runId: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof RunUnreadable) {
        if ((await this.row(runId)) === undefined) {
          return undefined;
        }
        this.#onUnreadable(runId, error.message);
      }
      throw error;
    }
  }
}

function sizeOf({ code, program, reason, result }: StoredRun): number {
  const logs = (result?.logs ?? []).reduce((sum, { text }) => sum + text.length, 0);
  const value = result?.tag === 'Completed' ? (result.valueJson?.length ?? 0) : 0;
  return code.length + program.text.length + reason.length + logs + value;
}

/** What a list says of an unreadable run. */
function unavailable(message: string): RunResult {
  return { tag: 'Failed', reason: 'Unavailable', message, line: 0, column: 0, logs: [] };
}

function inClear(row: RunRow, result: RunResult): StoredRun {
  const { id, session, turn, callId, owner, createdAtMs, updatedAtMs, journalLength, logLines } = row;
  return {
    id,
    session,
    turn,
    callId,
    owner,
    createdAtMs,
    updatedAtMs,
    journalLength,
    logLines,
    code: '',
    reason: '',
    program: { text: '', columnShifts: [] },
    bindings: [],
    limits: unknownLimits,
    status: result.tag,
    lease: { owner: row.leaseOwner, epoch: row.epoch, expiresAtMs: row.leaseExpiresAtMs },
    waiting: [],
    attempts: [],
    result,
  };
}

const unknownLimits: RunLimits = {
  timeoutMs: 0,
  memoryMb: 0,
  outputBytes: 0,
  callsMax: 0,
  callsInFlightMax: 0,
  argumentsBytesMax: 0,
  resultBytesMax: 0,
};
