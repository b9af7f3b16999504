/** What is written at a rest: the calls that the program made since the last write, and the outcomes that came. */
import assert from 'node:assert/strict';
import type { Pending } from './inbox.ts';
import type { CalledEntry, Ledger, SettledEntry } from './ledger.ts';
import type { Binding, IssuedCall, JournalEntry, Source } from './model.ts';
import type { Replay } from './replay.ts';

export function restEntries(
  replay: Replay,
  pending: readonly Pending[],
  ledger: Ledger,
  bindings: ReadonlyMap<string, Binding>,
  atMs: number,
): readonly JournalEntry[] {
  let outcomes = ledger.settled.length;
  /** What an entry says of the rest that it belongs to, where its place does not (model.ts). */
  const written = (rest: number) => (rest === outcomes ? { atMs } : { after: rest, atMs });
  const entries: JournalEntry[] = replay
    .takeFresh()
    .map(({ call, rest }) => calledEntry(call, sourceOf(call, bindings), written(rest)));
  for (const one of pending) {
    entries.push(settledEntry(one, written(replay.delivered)));
    outcomes += 1;
  }
  return entries;
}

type Written = Pick<JournalEntry, 'after' | 'atMs'>;

function calledEntry(call: IssuedCall, source: Source, written: Written): CalledEntry {
  const { index, binding, argumentsJson, line, column } = call;
  return { kind: 'Called', index, binding, source, argumentsJson, line, column, ...written };
}

function settledEntry({ call, outcome }: Pending, written: Written): SettledEntry {
  const entry = { kind: 'Settled', index: call.called.index, outcome, ...written } as const;
  return call.operationId === '' ? entry : { ...entry, operationId: call.operationId };
}

function sourceOf({ binding }: IssuedCall, bindings: ReadonlyMap<string, Binding>): Source {
  const found = bindings.get(binding);
  assert(found !== undefined, 'a call was let in whose name is not in the table');
  return found.source;
}
