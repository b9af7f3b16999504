/**
 * Between rows and documents. Ids carry the order, so that the index that every collection has is the only
 * one that an append touches:
 *
 *   code_runs          <run>
 *   code_run_journal   <run>/<slot, 8 digits>
 *   code_run_chunks    <run>/<blob>/<index, 6 digits>
 */
import type { PlatformSettings } from '../contract.ts';
import type { BatchHead, BatchRow, ChunkRow, RunRow } from '../rows.ts';

export type RunDocument = Omit<RunRow, 'id'> & { readonly _id: string };
export type BatchDocument = Omit<BatchRow, 'runId' | 'slot'> & { readonly _id: string };
export type ChunkDocument = Pick<ChunkRow, 'atMs' | 'body'> & { readonly _id: string };
export type SettingsDocument = PlatformSettings & { readonly _id: string };
/** Beside the settings: what is written to see whether the server takes writes. */
export type ProbeDocument = { readonly _id: string; readonly nonce: string };

const slotDigits = 8;
const indexDigits = 6;

export function runDocument({ id, ...rest }: RunRow): RunDocument {
  return { _id: id, ...rest };
}

export function runRow({ _id, ...rest }: RunDocument): RunRow {
  return { id: _id, ...rest };
}

export function batchId(runId: string, slot: number): string {
  return `${runId}/${String(slot).padStart(slotDigits, '0')}`;
}

export function batchDocument({ runId, slot, ...rest }: BatchRow): BatchDocument {
  return { _id: batchId(runId, slot), ...rest };
}

export function batchHead({ _id, ...rest }: Omit<BatchDocument, 'body'>): BatchHead {
  return { runId: _id.slice(0, -slotDigits - 1), slot: Number(_id.slice(-slotDigits)), ...rest };
}

export function batchRow({ body, ...head }: BatchDocument): BatchRow {
  return { ...batchHead(head), body };
}

export function chunkId(runId: string, blob: string, index: number): string {
  return `${runId}/${blob}/${String(index).padStart(indexDigits, '0')}`;
}

export function chunkDocument({ runId, blob, index, atMs, body }: ChunkRow): ChunkDocument {
  return { _id: chunkId(runId, blob, index), atMs, body };
}

export function chunkRow({ _id, atMs, body }: ChunkDocument): ChunkRow {
  const [runId = '', blob = '', index = ''] = _id.split('/');
  return { runId, blob, index: Number(index), atMs, body };
}

/** Filter on ids under a prefix: the character after "/" is "0". */
export function idsUnder(prefix: string): { $gt: string; $lt: string } {
  return { $gt: `${prefix}/`, $lt: `${prefix}0` };
}
