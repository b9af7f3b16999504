/**
 * The contract that every store keeps, in terms of core types; sealing is the store's inside.
 *
 * S1  A write is either whole or not there.
 * S2  A write to a run names the epoch of the claim it was made under; with an older one it fails with
 *     `LeaseLost` and changes nothing.
 * S3  An append names the number of entries before it; with another one it fails with `LeaseLost`.
 * S4  A final run never changes again, except to be deleted.
 * S5  (session, turn, callId) names at most one run.
 * S6  A write that ended in `StoreUnavailable` may be repeated with the same arguments: if it had happened
 *     after all, the repeat succeeds and changes nothing. A claim is not: its lease has to expire.
 * S7  One writer makes one write at a time, but for `renew`.
 */
import type { Attempt, JournalEntry, NewRun, RunResult, StoredRun, WaitingCall } from '../core/model.ts';

/** The run was claimed by another, cancelled or ended: this writer must stop at once. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The store cannot be reached or cannot write. Whether the write happened is unknown. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The store can be read and takes no write: its disk is full, say. */
export class StoreReadOnly extends StoreUnavailable {}

/** The URL names no store, or asks for what no store may do. Never repeats the URL: it may hold a password. */
export class StoreUrlInvalid extends Error {
  override readonly name = 'StoreUrlInvalid';
}

/**
 * What the URL names can never be used as it is: no way to make the file, no database, no right, no such user.
 * To try again is no help. The message says what is wrong and what to do, never the URL.
 */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}

/** No earlier page of the session gave this token. */
export class PageTokenInvalid extends Error {
  override readonly name = 'PageTokenInvalid';
}

/** A run that is there but cannot be read: wrong or missing key, tampered or damaged. That run alone. */
export class RunUnreadable extends Error {
  override readonly name = 'RunUnreadable';
}

/** Who claims, and until when without renewal. Times come from the caller: stores read no clock. */
export interface ClaimRequest {
  readonly owner: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

export type ClaimResult =
  | { readonly tag: 'Claimed'; readonly run: StoredRun }
  /** Final, or another owner's lease has not expired. `run` says which. */
  | { readonly tag: 'Refused'; readonly run: StoredRun }
  | { readonly tag: 'NotFound' };

/** An attempt that writes: run and epoch of its claim. */
export interface Writer {
  readonly runId: string;
  readonly epoch: number;
}

export interface Page {
  /**
   * At most as many as asked for; fewer before the last page too, when they are large. A run that is
   * unreadable stands here as Failed / Unavailable, without program, bindings and calls.
   */
  readonly runs: readonly StoredRun[];
  /** Opaque; absent on the last page. Survives inserts. */
  readonly nextPageToken?: string;
}

export interface PlatformSettings {
  readonly version: number;
  readonly enabled: boolean;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
}

export interface RotationReport {
  /** The key that was active. */
  readonly keyId: string;
  readonly rewrapped: number;
  /** Ids of runs whose key is missing or does not fit; they stay as they are. */
  readonly unreadable: readonly string[];
}

export interface KeyRotation {
  /** Wraps the data keys of all runs under the active key, while serving. Cut off, it goes on when called again. */
  rotate(signal?: AbortSignal): Promise<RotationReport>;
}

export interface CodeRunStore {
  /** Stores a run as Running under a first lease (epoch 1), or gives the one that exists for its key. */
  create(run: NewRun, claim: ClaimRequest): Promise<{ readonly created: boolean; readonly run: StoredRun }>;
  /** Takes a run that is not final and whose lease is free or expired: Running, epoch + 1. */
  claim(runId: string, claim: ClaimRequest): Promise<ClaimResult>;
  renew(writer: Writer, expiresAtMs: number): Promise<void>;
  /** Gives the lease up and leaves the run Running: resumable at once. */
  release(writer: Writer, attempt: Attempt, nowMs: number): Promise<void>;
  /** Appends entries after `length` entries, and notes how many log lines were streamed. */
  append(
    writer: Writer,
    length: number,
    entries: readonly JournalEntry[],
    logLines: number,
    nowMs: number,
  ): Promise<void>;
  /** Makes the run Waiting and gives the lease up. */
  wait(
    writer: Writer,
    waiting: readonly WaitingCall[],
    attempt: Attempt,
    logLines: number,
    nowMs: number,
  ): Promise<void>;
  /** Makes the run final. */
  finish(writer: Writer, result: RunResult, attempt: Attempt, nowMs: number): Promise<StoredRun>;
  /**
   * Makes a run that is not final Cancelled, whoever owns it (epoch + 1), and gives it as it is now. One that is
   * unreadable too: what is given then holds what stands in clear.
   */
  cancel(runId: string, nowMs: number): Promise<StoredRun | undefined>;
  get(runId: string): Promise<StoredRun | undefined>;
  journal(runId: string): Promise<readonly JournalEntry[]>;
  /** Newest first by (createdAtMs, id). Throws PageTokenInvalid for a token of another session or a broken one. */
  list(session: string, pageSize: number, pageToken?: string): Promise<Page>;
  /** Deletes every run of the session, running or not (running ones lose their lease). Gives how many. */
  deleteSession(session: string): Promise<number>;
  /**
   * Deletes final runs last changed before `beforeMs`, and those that can never end by themselves: unreadable,
   * and nobody's since before `beforeMs`. Gives how many. `signal` stops it; what is left comes with the next.
   */
  purge(beforeMs: number, signal?: AbortSignal): Promise<number>;
  /**
   * Ids of runs that are Running with a lease that expired before `beforeMs`: at most `max`, in order, those
   * after `afterId` ("": from the first).
   */
  abandoned(beforeMs: number, max: number, afterId: string): Promise<readonly string[]>;
  settings(): Promise<PlatformSettings>;
  /** Replaces the settings if `next.version - 1` is the version there; false if not. */
  replaceSettings(next: PlatformSettings): Promise<boolean>;
  /** Throws StoreUnavailable if the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
