/** The calls of a run as people read them: the journal's entries joined by index, in the order of issue. */
import { createHash } from 'node:crypto';
import { callIdOf, type JournalEntry, type Outcome, type Source } from '../core/model.ts';
import type { RunRecord } from '../runner/contract.ts';

export interface CallView {
  readonly index: number;
  readonly callId: string;
  readonly binding: string;
  readonly source: Source;
  readonly argumentsJson: string;
  readonly argumentsDigest: string;
  /** As the core named it; the call id where it named none. */
  readonly operationId: string;
  /** Absent while the call is in flight. */
  readonly outcome?: Outcome | { readonly tag: 'Waiting' };
  readonly issuedAtMs: number;
  readonly settledAtMs?: number;
  readonly line: number;
  readonly column: number;
}

export function callsOf(record: RunRecord): CallView[] {
  const calls = new Map<number, CallView>();
  for (const entry of record.journal) {
    if (entry.kind === 'Called') {
      const { index, binding, source, argumentsJson, line, column, atMs } = entry;
      const callId = callIdOf(record.run.callId, index);
      const argumentsDigest = createHash('sha256').update(argumentsJson).digest('hex');
      const issued = { index, callId, binding, source, argumentsJson, argumentsDigest };
      calls.set(index, { ...issued, operationId: callId, issuedAtMs: atMs, line, column });
    } else {
      const call = calls.get(entry.index);
      if (call === undefined) continue;
      const operationId = entry.operationId ?? call.operationId;
      calls.set(entry.index, { ...call, operationId, outcome: entry.outcome, settledAtMs: entry.atMs });
    }
  }
  for (const { index, operationId } of record.run.waiting) {
    const call = calls.get(index);
    if (call === undefined || call.outcome !== undefined) continue;
    calls.set(index, {
      ...call,
      operationId: operationId ?? call.operationId,
      ...(record.run.status === 'Waiting' ? { outcome: { tag: 'Waiting' } } : {}),
    });
  }
  return [...calls.values()];
}

/** Bytes, about, of what a run holds: its program, arguments and results. UTF-16 length is near enough. */
export function payloadBytes(record: RunRecord): number {
  const { run, journal } = record;
  const result = run.result?.tag === 'Completed' ? (run.result.valueJson?.length ?? 0) : 0;
  const logs = run.result?.logs.reduce((bytes, line) => bytes + line.text.length, 0) ?? 0;
  return journal.reduce((bytes, entry) => bytes + entryBytes(entry), run.code.length + result + logs);
}

export function callBytes(call: CallView): number {
  const result = call.outcome?.tag === 'Completed' ? call.outcome.valueJson.length : 0;
  return call.argumentsJson.length + result;
}

function entryBytes(entry: JournalEntry): number {
  if (entry.kind === 'Called') return entry.argumentsJson.length;
  return entry.outcome.tag === 'Completed' ? entry.outcome.valueJson.length : 0;
}
