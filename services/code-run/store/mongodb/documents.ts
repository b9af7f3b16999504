/**
 * Between rows and documents. Ids carry the order, so that the index that every collection has is the only
 * one that an append touches:
 *
 *   code_runs          <run>
 *   code_run_journal   <run>/<slot, 8 digits>
 *   code_run_chunks    <run>/<blob>/<index, 6 digits>
 */
import type { PlatformSettings } from '../contract.ts';
import { shapedBytes, shapedHead, shapedRun } from '../row-shapes.ts';
import type { BatchHead, BatchRow, ChunkRow, NewRunRow, RunRow } from '../rows.ts';

export type RunDocument = Omit<NewRunRow, 'id'> & { readonly _id: string };
export type BatchDocument = Omit<BatchRow, 'runId' | 'slot' | 'malformed'> & { readonly _id: string };
export type ChunkDocument = Pick<ChunkRow, 'atMs' | 'body'> & { readonly _id: string };
export type SettingsDocument = PlatformSettings & { readonly _id: string };
/** Beside the settings: what is written to see whether the server takes writes. */
export type ProbeDocument = { readonly _id: string; readonly nonce: string };

const slotDigits = 8;
const indexDigits = 6;

export function runDocument({ id, ...rest }: NewRunRow): RunDocument {
  return { _id: id, ...rest };
}

export function runRow(found: RunDocument): RunRow {
  return shapedRun((field) => (field === 'id' ? found._id : found[field]));
}

export function batchId(runId: string, slot: number): string {
  return `${runId}/${String(slot).padStart(slotDigits, '0')}`;
}

export function batchDocument({ runId, slot, malformed: _, ...rest }: BatchRow): BatchDocument {
  return { _id: batchId(runId, slot), ...rest };
}

export function batchHead(found: Omit<BatchDocument, 'body'>): BatchHead {
  const [runId, slot = ''] = found._id.split('/');
  return shapedHead((field) => {
    if (field === 'runId') return runId;
    return field === 'slot' ? numberIn(slot, slotDigits) : found[field];
  });
}

export function batchRow(found: BatchDocument): BatchRow {
  return { ...batchHead(found), body: shapedBytes(found.body) };
}

export function chunkId(runId: string, blob: string, index: number): string {
  return `${runId}/${blob}/${String(index).padStart(indexDigits, '0')}`;
}

export function chunkDocument({ runId, blob, index, atMs, body }: ChunkRow): ChunkDocument {
  return { _id: chunkId(runId, blob, index), atMs, body };
}

export function chunkRow({ _id, atMs, body }: ChunkDocument): ChunkRow {
  const [runId = '', blob = '', index = ''] = _id.split('/');
  return { runId, blob, index: Number(index), atMs, body: shapedBytes(body) };
}

/** Undefined: it is no number of so many digits. */
function numberIn(text: string, digits: number): number | undefined {
  return text.length === digits && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Filter on ids under a prefix: the character after "/" is "0". */
export function idsUnder(prefix: string): { $gt: string; $lt: string } {
  return { $gt: `${prefix}/`, $lt: `${prefix}0` };
}
