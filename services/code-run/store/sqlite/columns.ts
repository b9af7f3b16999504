/** Between rows and SQLite's records. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { BatchHead, BatchKind, BatchRow, ChunkRow, RowStatus, RunRow } from '../rows.ts';

export type Cells = Record<string, SQLOutputValue>;

/** Column of each field of a run's row. */
export const runColumns = {
  id: 'id',
  session: 'session',
  turn: 'turn',
  callId: 'call_id',
  owner: 'owner',
  status: 'status',
  createdAtMs: 'created_at_ms',
  updatedAtMs: 'updated_at_ms',
  leaseOwner: 'lease_owner',
  epoch: 'epoch',
  leaseExpiresAtMs: 'lease_expires_at_ms',
  journalLength: 'journal_length',
  logLines: 'log_lines',
  waiting: 'waiting',
  attempts: 'attempts',
  keyId: 'key_id',
  wrappedKey: 'wrapped_key',
  start: 'start',
  end: '"end"',
} as const satisfies Record<keyof RunRow, string>;

export const runFields = Object.keys(runColumns) as (keyof RunRow)[];

export function cellsOf(row: RunRow): SQLInputValue[] {
  return runFields.map((field) => row[field]);
}

export function runRow(cells: Cells): RunRow {
  return {
    id: text(cells, 'id'),
    session: text(cells, 'session'),
    turn: text(cells, 'turn'),
    callId: text(cells, 'call_id'),
    owner: text(cells, 'owner'),
    status: text(cells, 'status') as RowStatus,
    createdAtMs: number(cells, 'created_at_ms'),
    updatedAtMs: number(cells, 'updated_at_ms'),
    leaseOwner: text(cells, 'lease_owner'),
    epoch: number(cells, 'epoch'),
    leaseExpiresAtMs: number(cells, 'lease_expires_at_ms'),
    journalLength: number(cells, 'journal_length'),
    logLines: number(cells, 'log_lines'),
    waiting: text(cells, 'waiting'),
    attempts: text(cells, 'attempts'),
    keyId: text(cells, 'key_id'),
    wrappedKey: bytes(cells, 'wrapped_key'),
    start: bytes(cells, 'start'),
    end: bytes(cells, 'end'),
  };
}

export function batchHead(cells: Cells): BatchHead {
  return {
    runId: text(cells, 'run_id'),
    slot: number(cells, 'slot'),
    kind: text(cells, 'kind') as BatchKind,
    epoch: number(cells, 'epoch'),
    first: number(cells, 'first'),
    count: number(cells, 'count'),
    logLines: number(cells, 'log_lines'),
    atMs: number(cells, 'at_ms'),
  };
}

export function batchRow(cells: Cells): BatchRow {
  return { ...batchHead(cells), body: bytes(cells, 'body') };
}

export function chunkRow(cells: Cells): ChunkRow {
  return {
    runId: text(cells, 'run_id'),
    blob: text(cells, 'blob'),
    index: number(cells, 'part'),
    atMs: number(cells, 'at_ms'),
    body: bytes(cells, 'body'),
  };
}

/** STRICT tables hold what they declare; anything else is a mistake here. */
export function text(cells: Cells, column: string): string {
  const value = cells[column];
  if (typeof value !== 'string') {
    throw new TypeError(`column ${column} is not text`);
  }
  return value;
}

export function number(cells: Cells, column: string): number {
  const value = cells[column];
  if (typeof value !== 'number') {
    throw new TypeError(`column ${column} is not a number`);
  }
  return value;
}

function bytes(cells: Cells, column: string): Uint8Array {
  const value = cells[column];
  if (!(value instanceof Uint8Array)) {
    throw new TypeError(`column ${column} is not bytes`);
  }
  return value;
}
