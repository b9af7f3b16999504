/**
 * The core's own record of app calls, one operation for each, keyed by its call id. Kept in SQLite: a file
 * that outlives the process, or memory.
 *
 * R1  What `put` was given is durable when it returns.
 * R2  An operation is forgotten only with its whole run, once the run is final and asks for nothing any more.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Outcome } from '../words.ts';
import type { CallToDecide } from './decider.ts';

export type OperationState =
  /** Nobody decided yet. */
  | { readonly tag: 'Waiting' }
  /** It may be performed, and was not. */
  | { readonly tag: 'Allowed' }
  /** It was sent to the app, or is about to be. */
  | { readonly tag: 'Performing' }
  | { readonly tag: 'Settled'; readonly outcome: Outcome };

export interface AppOperation {
  readonly call: CallToDecide;
  /** SHA-256 of the arguments: the same call id with other arguments is another call. */
  readonly argumentsDigest: string;
  readonly state: OperationState;
}

/** The call id of the run that a call belongs to. */
export function runCallIdOf(callId: string): string {
  return callId.slice(0, callId.lastIndexOf(':'));
}

export class OperationRecord implements Disposable {
  readonly #database: DatabaseSync;

  /** `file`: a path, or ":memory:". */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA busy_timeout = 5000;
      CREATE TABLE IF NOT EXISTS runs (run_call_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS operations (
        call_id TEXT PRIMARY KEY,
        run_call_id TEXT NOT NULL,
        operation TEXT NOT NULL
      ) STRICT;
      CREATE INDEX IF NOT EXISTS operations_run ON operations (run_call_id);
    `);
  }

  /** Notes that a run starts under this record, before its first call. */
  begin(runCallId: string): void {
    this.#database.prepare('INSERT OR IGNORE INTO runs VALUES (?)').run(runCallId);
  }

  /** Whether every call of the run that was ever performed is in this record. */
  covers(runCallId: string): boolean {
    return this.#database.prepare('SELECT 1 FROM runs WHERE run_call_id = ?').get(runCallId) !== undefined;
  }

  get(callId: string): AppOperation | undefined {
    const row = this.#database.prepare('SELECT operation FROM operations WHERE call_id = ?').get(callId);
    return row === undefined ? undefined : JSON.parse(String(Object.values(row)[0]));
  }

  put(operation: AppOperation): void {
    const { callId } = operation.call;
    this.#database
      .prepare(
        'INSERT INTO operations VALUES (?, ?, ?) ON CONFLICT (call_id) DO UPDATE SET operation = excluded.operation',
      )
      .run(callId, runCallIdOf(callId), JSON.stringify(operation));
  }

  /** Forgets a run that is final. */
  forget(runCallId: string): void {
    this.#database.prepare('DELETE FROM operations WHERE run_call_id = ?').run(runCallId);
    this.#database.prepare('DELETE FROM runs WHERE run_call_id = ?').run(runCallId);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
