/** A journal in the order in which the program saw it: of each rest its calls, then the outcome that ended it. */
import type { JournalEntry } from '../../services/code-run/core/model.ts';

export function seenOrder(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  const outcomes = journal.filter(({ kind }) => kind === 'Settled');
  const seen = groupsOf(journal).flatMap((calls, rest) => {
    const outcome = outcomes[rest];
    return outcome === undefined ? calls : [...calls, outcome];
  });
  return seen.map(({ after: _, ...entry }) => entry as JournalEntry);
}

/** The recorded calls of each rest. */
export function groupsOf(journal: readonly JournalEntry[]): readonly (readonly JournalEntry[])[] {
  const rests = restsOf(journal);
  const last = journal.filter(({ kind }) => kind === 'Settled').length;
  return Array.from({ length: last + 1 }, (_, rest) =>
    journal.filter(({ kind }, at) => kind === 'Called' && rests[at] === rest),
  );
}

/** The rest at which each entry was written. */
export function restsOf(journal: readonly JournalEntry[]): readonly number[] {
  let outcomes = 0;
  return journal.map(({ kind, after }) => {
    const rest = after ?? outcomes;
    if (kind === 'Settled') outcomes += 1;
    return rest;
  });
}
