/** Tables of the SQLite store. Made at start; a file of a newer version is refused. */
import type { DatabaseSync } from 'node:sqlite';
import { StoreUnusable } from '../contract.ts';
import { number } from './columns.ts';

const schemaVersion = 1;

const tables = `
  CREATE TABLE IF NOT EXISTS code_runs (
    id TEXT PRIMARY KEY NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    call_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    lease_owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    lease_expires_at_ms INTEGER NOT NULL,
    journal_length INTEGER NOT NULL,
    log_lines INTEGER NOT NULL,
    waiting TEXT NOT NULL,
    attempts TEXT NOT NULL,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    start BLOB NOT NULL,
    "end" BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS code_runs_call ON code_runs (session, turn, call_id);
  CREATE INDEX IF NOT EXISTS code_runs_list ON code_runs (session, created_at_ms, id);
  CREATE INDEX IF NOT EXISTS code_runs_lease ON code_runs (lease_expires_at_ms)
    WHERE status IN ('Running', 'Released');
  CREATE INDEX IF NOT EXISTS code_runs_waiting ON code_runs (lease_expires_at_ms) WHERE status = 'Waiting';
  CREATE INDEX IF NOT EXISTS code_runs_ended ON code_runs (updated_at_ms)
    WHERE status IN ('Completed', 'Failed', 'Cancelled', 'Deleted');

  CREATE TABLE IF NOT EXISTS code_run_journal (
    run_id TEXT NOT NULL,
    slot INTEGER NOT NULL,
    kind TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    log_lines INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run_id, slot)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS code_run_chunks (
    run_id TEXT NOT NULL,
    blob TEXT NOT NULL,
    part INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (run_id, blob, part)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS code_run_chunks_age ON code_run_chunks (at_ms);

  CREATE TABLE IF NOT EXISTS platform_settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    timeout_ms INTEGER NOT NULL,
    memory_mb INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL
  ) STRICT;
`;

/** Writes, and changes nothing. */
export const rewriteVersion = `PRAGMA user_version = ${schemaVersion}`;

/** Writes nothing where the tables are there: a database on a full disk can be read. */
export function prepareSchema(database: DatabaseSync): void {
  const version = number(database.prepare('PRAGMA user_version').get() ?? {}, 'user_version');
  if (version > schemaVersion) {
    throw new StoreUnusable(
      `has schema version ${version}; this service knows ${schemaVersion}: use a newer service, or another file`,
    );
  }
  if (version < schemaVersion) {
    database.exec(`BEGIN IMMEDIATE; ${tables} PRAGMA user_version = ${schemaVersion}; COMMIT`);
  }
}
