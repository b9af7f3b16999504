/** Runs, entries and results for tests of stores. */

import { randomBytes, randomUUID } from 'node:crypto';
import type { Attempt, JournalEntry, NewRun } from '../../services/code-run/core/model.ts';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import type { ClaimRequest } from '../../services/code-run/store/contract.ts';

export const t0 = 1_792_486_800_000;

export function newRun(changes: Partial<NewRun> = {}): NewRun {
  const id = changes.id ?? randomUUID();
  return {
    id,
    session: `session-${id}`,
    turn: 't-77',
    callId: 'call-9',
    owner: 'subject-1',
    code: 'return await apps.notes.read_note({ id: 1 });',
    reason: 'Read the note.',
    program: {
      text: 'return await apps.notes.read_note({ id: 1 }); ',
      columnShifts: [{ line: 1, column: 3, length: 2 }],
    },
    bindings: [
      {
        connection: 'notes',
        capability: 'read_note',
        rawName: 'read_note',
        source: { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name: 'read_note' },
      },
    ],
    limits: {
      timeoutMs: 30_000,
      memoryMb: 64,
      outputBytes: 65_536,
      callsMax: 7,
      callsInFlightMax: 3,
      argumentsBytesMax: 2048,
      resultBytesMax: 4096,
    },
    createdAtMs: t0,
    ...changes,
  };
}

export function claimBy(owner: string, nowMs = t0, leaseMs = 10_000): ClaimRequest {
  return { owner, nowMs, leaseMs };
}

export function called(index: number, argumentsJson = `{"id":${index}}`): JournalEntry {
  return {
    kind: 'Called',
    index,
    binding: 'notes.read_note',
    source: { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name: 'read_note' },
    argumentsJson,
    line: 1,
    column: 14,
    atMs: t0 + index,
  };
}

export function settled(index: number, valueJson = `{"content":[${index}]}`): JournalEntry {
  return { kind: 'Settled', index, outcome: { tag: 'Completed', valueJson }, atMs: t0 + index };
}

export function attempt(number = 1): Attempt {
  return {
    number,
    startedAtMs: t0,
    endedAtMs: t0 + 5,
    cpuMs: 3,
    memoryBytes: 1_000_000,
    replayedCalls: 0,
    fingerprint: 'v8-14.1',
  };
}

export function localKeeper(...ids: [string, ...string[]]): LocalKeeper {
  const [active, ...others] = ids;
  return new LocalKeeper([keyNamed(active), ...others.map(keyNamed)]);
}

const secrets = new Map<string, Uint8Array>();

/** The same id gives the same key within a test file. */
function keyNamed(id: string): { id: string; secret: Uint8Array } {
  const secret = secrets.get(id) ?? randomBytes(32);
  secrets.set(id, secret);
  return { id, secret };
}
