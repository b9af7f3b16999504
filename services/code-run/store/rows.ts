/**
 * What a database must do for the store: keep rows, insert one only where none is, change one only as
 * expected. Rows hold ids, status, times and sizes in clear and everything else sealed; no database module
 * sees a key or a plaintext. Each operation is one atomic, durable write or one read, and throws
 * `StoreUnavailable` when the database does not do it.
 *
 * D1  `insert…` never replaces: it says that something is there.
 * D2  `changeRun` compares and changes in one atomic step.
 * D3  A write that was acknowledged is seen by every later read, from any process, and survives the kill of
 *     any process.
 */
import { type FinalStatus, isFinal, type RunStatus } from '../core/model.ts';
import type { PlatformSettings } from './contract.ts';

/**
 * Status of a row: Released is a Running run that nobody holds; Deleted is what stays of a deleted run until
 * retention takes it, so that a writer that still believes in its lease finds its place taken.
 */
export type RowStatus = RunStatus | 'Released' | 'Deleted';

export function isFinalRow(status: RowStatus): status is FinalStatus {
  return status !== 'Released' && status !== 'Deleted' && isFinal(status);
}

/** The status that the world sees. */
export function outward(status: Exclude<RowStatus, 'Deleted'>): RunStatus {
  return status === 'Released' ? 'Running' : status;
}

export interface RunRow {
  readonly id: string;
  readonly session: string;
  readonly turn: string;
  readonly callId: string;
  readonly owner: string;
  readonly status: RowStatus;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly leaseOwner: string;
  readonly epoch: number;
  readonly leaseExpiresAtMs: number;
  /** Entries and log lines when the status was last changed; of a Running run the journal knows better. */
  readonly journalLength: number;
  readonly logLines: number;
  /** JSON of the waiting calls: indexes and ids. */
  readonly waiting: string;
  /** JSON of the attempts: times, sizes, engine versions. */
  readonly attempts: string;
  readonly keyId: string;
  readonly wrappedKey: Uint8Array;
  /** Sealed: program, reason, bindings, limits. */
  readonly start: Uint8Array;
  /** Sealed: result. Empty before the end. */
  readonly end: Uint8Array;
  /** Fields in which the database had what no store writes; what stands here for it is made up (row-shapes.ts). */
  readonly malformed?: readonly string[];
}

/** A row as it is written. */
export type NewRunRow = Omit<RunRow, 'malformed'>;

export type RunRowChange = Partial<Omit<NewRunRow, 'id' | 'createdAtMs'>>;

/** What must be so for a change to happen: equality with each field that is named. */
export type RunRowExpectation = Partial<Pick<RunRow, 'status' | 'epoch' | 'leaseExpiresAtMs' | 'keyId'>>;

/** That nobody has changed a row since it was read. What was made up nobody can have changed. */
export function asRead({ status, epoch, malformed = [] }: RunRow): RunRowExpectation {
  return {
    ...(!malformed.includes('status') && { status }),
    ...(!malformed.includes('epoch') && { epoch }),
  };
}

/**
 * One place in the log of a run. Slots count from 0 without gaps. A batch holds the entries of one append;
 * a fence holds none and takes the place away from writers of an older epoch.
 */
export interface BatchRow {
  readonly runId: string;
  readonly slot: number;
  readonly kind: BatchKind;
  readonly epoch: number;
  /** Entries before this batch, and in it. */
  readonly first: number;
  readonly count: number;
  /** Log lines streamed so far. */
  readonly logLines: number;
  readonly atMs: number;
  /** Sealed: entries. */
  readonly body: Uint8Array;
  /** As of a row. */
  readonly malformed?: readonly string[];
}

export type BatchKind = 'entries' | 'fence';

/** A batch without its body. */
export type BatchHead = Omit<BatchRow, 'body'>;

/** A part of a sealed field that is too large for its row. */
export interface ChunkRow {
  readonly runId: string;
  /** 32 hexadecimal digits. */
  readonly blob: string;
  readonly index: number;
  readonly atMs: number;
  readonly body: Uint8Array;
}

/** Running: Running with a lease that expired, or Released. */
export type UnheldKind = 'Running' | 'Waiting';

/** Place in the list of a session: newest first by (createdAtMs, id). */
export interface ListPosition {
  readonly createdAtMs: number;
  readonly id: string;
}

export interface RowStore {
  /** False: there is a row with this id or this (session, turn, callId). */
  insertRun(row: NewRunRow): Promise<boolean>;
  run(id: string): Promise<RunRow | undefined>;
  runOfCall(session: string, turn: string, callId: string): Promise<RunRow | undefined>;
  /** False: the row is not there or not as expected; nothing changed. */
  changeRun(id: string, expected: RunRowExpectation, change: RunRowChange): Promise<boolean>;

  /** False: the slot is taken. */
  insertBatch(row: BatchRow): Promise<boolean>;
  lastBatch(runId: string): Promise<BatchHead | undefined>;
  batch(runId: string, slot: number): Promise<BatchRow | undefined>;
  /** In the order of slots. */
  batches(runId: string): Promise<readonly BatchRow[]>;
  insertChunks(rows: readonly ChunkRow[]): Promise<void>;
  /** The chunks from 0 to `count - 1` that are there, in order. */
  chunks(runId: string, blob: string, count: number): Promise<readonly ChunkRow[]>;

  /** Newest first, after `after`, without Deleted. */
  list(session: string, max: number, after?: ListPosition): Promise<readonly RunRow[]>;
  /** Ids of the session's runs, and of those whose deletion is not finished: such a row is Deleted and keeps it. */
  idsOfSession(session: string, max: number): Promise<readonly string[]>;
  /** Ids above `afterId`, in their order, of rows of a kind that were nobody's since before `beforeMs`. */
  idsOfUnheld(kind: UnheldKind, beforeMs: number, max: number, afterId: string): Promise<readonly string[]>;
  /** Ids of final and Deleted rows last changed before `beforeMs`. */
  idsOfEnded(beforeMs: number, max: number): Promise<readonly string[]>;
  /** Ids above `afterId` of rows without Deleted whose key is not `keyId`, in the order of id. */
  idsNotUnderKey(keyId: string, afterId: string, max: number): Promise<readonly string[]>;
  /**
   * Removes a run's chunks and its batches. Where `places` stay, each batch becomes a fence without a body: no
   * writer, however late, finds a slot of the log free.
   */
  removeContent(runId: string, places: 'go' | 'stay'): Promise<void>;
  removeRun(id: string): Promise<void>;
  /** Removes chunks written before `beforeMs` that no row's run owns: an insert that was cut off. */
  removeOrphans(beforeMs: number): Promise<void>;

  settings(): Promise<PlatformSettings | undefined>;
  /** Replaces version `next.version - 1` (0: none was stored). False: another version is there. */
  replaceSettings(next: PlatformSettings): Promise<boolean>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
