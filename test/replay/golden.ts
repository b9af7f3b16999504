/**
 * Journals as they were written once, by the journal format they have. A file is never changed: it stands for
 * the runs that wait in somebody's store. New ones are added with record.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type {
  Binding,
  JournalEntry,
  RunLimits,
  RunResult,
  StoredRun,
} from '../../services/code-run/core/model.ts';
import { type CallLimits, initialCallLimits } from '../../services/shared/limits.ts';
import { MemoryStore } from '../sim/memory-store.ts';

export interface Golden {
  readonly journalVersion: number;
  /** What recorded it. */
  readonly fingerprint: string;
  /** The seed of the run follows from its id. */
  readonly runId: string;
  readonly createdAtMs: number;
  readonly code: string;
  readonly bindings: readonly Binding[];
  /** The first ones were recorded before the calls of a run had limits of their own. */
  readonly limits: Omit<RunLimits, keyof CallLimits> & Partial<CallLimits>;
  readonly journal: readonly JournalEntry[];
  readonly result: RunResult;
}

export const goldenFolder = path.join(import.meta.dirname, 'golden', 'v1');

export function goldens(): readonly (readonly [name: string, golden: Golden])[] {
  return readdirSync(goldenFolder)
    .toSorted()
    .map((file) => [
      path.basename(file, '.json'),
      JSON.parse(readFileSync(path.join(goldenFolder, file), 'utf8')) as Golden,
    ]);
}

/** A store in which the run stands as it did when the first `length` entries were written. */
export function storeOf(golden: Golden, length = golden.journal.length): MemoryStore {
  const { runId: id, createdAtMs, code, bindings, fingerprint } = golden;
  const limits = { ...initialCallLimits, ...golden.limits };
  const run: StoredRun = {
    id,
    session: 's-1',
    turn: 't-1',
    callId: 'call-9',
    owner: 'someone',
    code,
    reason: 'to be replayed',
    program: { text: code, columnShifts: [] },
    bindings,
    limits,
    createdAtMs,
    updatedAtMs: createdAtMs,
    status: 'Running',
    lease: { owner: '', epoch: 1, expiresAtMs: 0 },
    journalLength: length,
    logLines: 0,
    waiting: [],
    attempts: [
      {
        number: 1,
        startedAtMs: createdAtMs,
        endedAtMs: createdAtMs,
        cpuMs: 0,
        memoryBytes: 0,
        replayedCalls: 0,
        fingerprint,
      },
    ],
  };
  const store = new MemoryStore();
  store.rows.set(id, { run, journal: golden.journal.slice(0, length) });
  return store;
}

/** Lengths at which a crash can have left the journal: the calls of a step are one write. */
export function cutsOf(journal: readonly JournalEntry[]): readonly number[] {
  return Array.from({ length: journal.length + 1 }, (_, at) => at).filter(
    (at) => !(journal[at - 1]?.kind === 'Called' && journal[at]?.kind === 'Called'),
  );
}
