/** Builds runs for the tests of texts. */

import type {
  Attempt,
  Binding,
  JournalEntry,
  LogLine,
  Outcome,
  RunResult,
  StoredRun,
} from '../../services/code-run/core/model.ts';
import type { RunRecord } from '../../services/code-run/runner/contract.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';

export function binding(name: string, title = 'App'): Binding {
  const [connection = '', capability = ''] = name.split('.');
  return {
    connection,
    capability,
    source: { connectionId: `conn-${connection}`, connectionName: title, kind: 'tool', name: capability },
    rawName: capability,
  };
}

export const bindings = [binding('notes.read_note'), binding('mail.send_email')];

export function called(index: number, name: string, line = index + 1): JournalEntry {
  const { source } = binding(name);
  return { kind: 'Called', index, binding: name, source, argumentsJson: '{}', line, column: 1, atMs: 1000 };
}

export function settled(index: number, outcome: Outcome): JournalEntry {
  return { kind: 'Settled', index, outcome, atMs: 2000 };
}

export const done: Outcome = { tag: 'Completed', valueJson: '{"content":[]}' };

export function log(...texts: readonly string[]): LogLine[] {
  return texts.map((text, index) => ({ index, level: 'info', text }));
}

const attempt: Attempt = {
  number: 1,
  startedAtMs: 1000,
  cpuMs: 1,
  memoryBytes: 1,
  replayedCalls: 0,
  fingerprint: '',
};

export function record(
  result: RunResult,
  journal: readonly JournalEntry[] = [],
  changes: Partial<StoredRun> = {},
): RunRecord {
  const run: StoredRun = {
    id: '8f1cb2f0-0000-4000-8000-000000000000',
    session: 'c81d',
    turn: 't-77',
    callId: 'call-9',
    owner: 'ada',
    code: 'return 1;',
    reason: 'Send the notes.',
    program: { text: 'return 1;', columnShifts: [] },
    bindings,
    limits: { timeoutMs: 30_000, memoryMb: 64, outputBytes: 65_536, ...initialCallLimits },
    createdAtMs: 1000,
    status: result.tag,
    updatedAtMs: 2000,
    lease: { owner: 'instance', epoch: 1, expiresAtMs: 3000 },
    journalLength: journal.length,
    logLines: 0,
    waiting: [],
    attempts: [attempt],
    result,
    ...changes,
  };
  return { run, journal };
}
