/**
 * Between core types and rows: what is sealed, under which key, bound to what. The only module of the store
 * that sees plaintext of a program, arguments or results.
 *
 * Failures are sorted here: what will never open is `RunUnreadable` for that run alone; a key-management
 * service that does not answer is `StoreUnavailable`.
 */
import { randomBytes } from 'node:crypto';
import { limits } from '../../shared/limits.ts';
import type { JournalEntry, NewRun, RunResult, StoredRun } from '../core/model.ts';
import { isFinal } from '../core/model.ts';
import { type Context, keyBytes, Unauthentic } from '../crypto/envelope.ts';
import { type KeyKeeper, KeyServiceUnavailable, KeyUnusable } from '../crypto/keys.ts';
import { batchContext, packEntries, unpackEntries } from './codec/batch.ts';
import { readAttempts, readWaiting } from './codec/clear.ts';
import { endContext, type FinalHead, packEnd, unpackEnd } from './codec/end.ts';
import { openField, type SealedField, sealField } from './codec/field.ts';
import { packStart, startContext, unpackStart } from './codec/start.ts';
import { type ClaimRequest, RunUnreadable, StoreUnavailable } from './contract.ts';
import { DataKeys } from './data-keys.ts';
import {
  type BatchHead,
  type BatchRow,
  type ChunkRow,
  isFinalRow,
  outward,
  type RowStore,
  type RunRow,
} from './rows.ts';

const nothing = new Uint8Array(0);

/** A run and the data key that seals it. Rotation changes how the key is wrapped, never the key. */
export interface RunKey {
  readonly runId: string;
  readonly key: Uint8Array;
}

export class RunCodec {
  readonly #rows: Pick<RowStore, 'chunks'>;
  readonly #keeper: KeyKeeper;
  readonly #keys: DataKeys;

  constructor(rows: Pick<RowStore, 'chunks'>, keeper: KeyKeeper) {
    this.#rows = rows;
    this.#keeper = keeper;
    this.#keys = new DataKeys(keeper, limits.storeDataKeysMax);
  }

  /** A new run under a new data key. */
  async sealRun(
    run: NewRun,
    claim: ClaimRequest,
  ): Promise<{ row: RunRow; chunks: readonly ChunkRow[]; key: RunKey }> {
    const key = randomBytes(keyBytes);
    const { keyId, wrapped } = await sorted(run.id, () => this.#keeper.wrap(key, run.id));
    this.#keys.put(run.id, key);
    const { id, session, turn, callId, owner, createdAtMs } = run;
    const head = { id, session, turn, callId, owner, createdAtMs };
    const { sealed, chunks } = await this.#seal(
      { runId: id, key },
      startContext(head),
      packStart(run),
      limits.storeInlineBytesMax,
      createdAtMs,
    );
    const row: RunRow = {
      ...head,
      status: 'Running',
      updatedAtMs: createdAtMs,
      leaseOwner: claim.owner,
      epoch: 1,
      leaseExpiresAtMs: claim.nowMs + claim.leaseMs,
      journalLength: 0,
      logLines: 0,
      waiting: '[]',
      attempts: '[]',
      keyId,
      wrappedKey: wrapped,
      start: sealed,
      end: nothing,
    };
    return { row, chunks, key: { runId: id, key } };
  }

  keyOf(row: RunRow): Promise<RunKey> {
    return sorted(row.id, async () => ({ runId: row.id, key: await this.#key(row) }));
  }

  /** Undefined: it is out of reach, or was changed. */
  async keyIfThere(row: RunRow): Promise<RunKey | undefined> {
    try {
      return await this.keyOf(row);
    } catch (error) {
      if (!(error instanceof RunUnreadable)) throw error;
      return undefined;
    }
  }

  /** Of a run whose journal is to be read: one that was ended without its key has a log that is not sealed whole. */
  readingKeyOf(row: RunRow): Promise<RunKey> {
    return sorted(row.id, async () => {
      expectSealedEnd(row);
      return { runId: row.id, key: await this.#key(row) };
    });
  }

  /** `tail`: the last batch, of a run whose journal may have grown since the row was written. */
  openRun(row: RunRow, tail: BatchHead | undefined): Promise<StoredRun> {
    const { id, session, turn, callId, owner, createdAtMs } = row;
    return sorted(id, async () => {
      const key = await this.#key(row);
      if (tail !== undefined) expectWellFormed(tail);
      if (row.status === 'Deleted') {
        throw new Unauthentic('it was deleted');
      }
      const status = outward(row.status);
      const run: StoredRun = {
        id,
        session,
        turn,
        callId,
        owner,
        createdAtMs,
        ...unpackStart(await this.#open({ runId: id, key }, startContext(row), row.start)),
        status,
        updatedAtMs: Math.max(row.updatedAtMs, tail?.atMs ?? 0),
        lease: { owner: row.leaseOwner, epoch: row.epoch, expiresAtMs: row.leaseExpiresAtMs },
        journalLength: Math.max(row.journalLength, tail === undefined ? 0 : tail.first + tail.count),
        logLines: Math.max(row.logLines, tail?.logLines ?? 0),
        waiting: readWaiting(row.waiting),
        attempts: readAttempts(row.attempts),
      };
      if (!isFinal(status)) {
        return run;
      }
      expectSealedEnd(row);
      const end = await this.#open({ runId: id, key }, endContext(row), row.end);
      return { ...run, result: unpackEnd(end) };
    });
  }

  sealBatch(key: RunKey, head: BatchHead, entries: readonly JournalEntry[]): Promise<SealedField> {
    const plain = packEntries(entries);
    return this.#seal(key, batchContext(head), plain, limits.storeChunkBytesMax, head.atMs);
  }

  /** The entries of all batches, in order. */
  openBatches(key: RunKey, batches: readonly BatchRow[]): Promise<JournalEntry[]> {
    return sorted(key.runId, async () => {
      const entries: JournalEntry[] = [];
      for (const batch of batches) {
        expectWellFormed(batch);
        const opened = this.#open(key, batchContext(batch), batch.body);
        const ofBatch = unpackEntries(opened instanceof Promise ? await opened : opened);
        if (ofBatch.length !== batch.count) {
          throw new Unauthentic('a batch does not hold the number of entries it names');
        }
        entries.push(...ofBatch);
      }
      return entries;
    });
  }

  sealEnd(key: RunKey, final: FinalHead, result: RunResult): Promise<SealedField> {
    const plain = packEnd(result);
    return this.#seal(key, endContext(final), plain, limits.storeInlineBytesMax, final.updatedAtMs);
  }

  forget(runId: string): void {
    this.#keys.forget(runId);
  }

  async #key(row: RunRow): Promise<Uint8Array> {
    expectWellFormed(row);
    return this.#keys.of(row.id, { keyId: row.keyId, wrapped: row.wrappedKey });
  }

  #seal(
    { runId, key }: RunKey,
    context: Context,
    plain: Buffer,
    inlineBytesMax: number,
    atMs: number,
  ): Promise<SealedField> {
    return sealField(key, { runId, context }, plain, inlineBytesMax, atMs);
  }

  #open({ runId, key }: RunKey, context: Context, sealed: Uint8Array): Buffer | Promise<Buffer> {
    return openField(key, { runId, context }, sealed, (blob, count) => this.#rows.chunks(runId, blob, count));
  }
}

function expectWellFormed({ malformed = [] }: Pick<RunRow, 'malformed'>): void {
  if (malformed.length > 0) {
    throw new Unauthentic(`what stands in clear was changed (${malformed.join(', ')})`);
  }
}

function expectSealedEnd({ status, end }: RunRow): void {
  if (isFinalRow(status) && end.length === 0) {
    throw new Unauthentic('it was ended while its key was out of reach, or was changed');
  }
}

async function sorted<T>(runId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyServiceUnavailable) {
      throw new StoreUnavailable(`the key-management service: ${error.message}`, { cause: error });
    }
    const known = error instanceof Unauthentic || error instanceof KeyUnusable;
    if (known || error instanceof RangeError || error instanceof SyntaxError || isZlibError(error)) {
      const reason = known ? error.message : 'its content is damaged';
      throw new RunUnreadable(`run ${runId} cannot be read: ${reason}`, { cause: error });
    }
    throw error;
  }
}

function isZlibError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z')
  );
}
