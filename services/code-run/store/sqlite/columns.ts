/** Between rows and SQLite's records. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { runFields, shapedBytes, shapedHead, shapedRun, shapedTime } from '../row-shapes.ts';
import type { BatchHead, BatchRow, ChunkRow, NewRunRow, RunRow } from '../rows.ts';

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
} as const satisfies Record<keyof NewRunRow, string>;

const headColumns = {
  runId: 'run_id',
  slot: 'slot',
  kind: 'kind',
  epoch: 'epoch',
  first: 'first',
  count: 'count',
  logLines: 'log_lines',
  atMs: 'at_ms',
} as const satisfies Record<Exclude<keyof BatchHead, 'malformed'>, string>;

export function cellsOf(row: NewRunRow): SQLInputValue[] {
  return runFields.map((field) => row[field]);
}

export function runRow(cells: Cells): RunRow {
  return shapedRun((field) => cells[field === 'end' ? 'end' : runColumns[field]]);
}

export function batchHead(cells: Cells): BatchHead {
  return shapedHead((field) => cells[headColumns[field]]);
}

export function batchRow(cells: Cells): BatchRow {
  return { ...batchHead(cells), body: shapedBytes(cells['body']) };
}

export function chunkRow(cells: Cells): ChunkRow {
  return {
    runId: text(cells, 'run_id'),
    blob: text(cells, 'blob'),
    index: number(cells, 'part'),
    atMs: shapedTime(cells['at_ms']),
    body: shapedBytes(cells['body']),
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
