/** A second, plain opinion on whether a program diverges from a journal: it runs it and compares texts. */

import { nameOf } from '../../services/code-run/core/mismatch.ts';
import type { Binding, JournalEntry } from '../../services/code-run/core/model.ts';
import { groupsOf, restsOf } from '../core/seen-order.ts';
import { type RealmStep, SimRealm } from './realm.ts';

function textOf(index: number, binding: string, source: unknown, argumentsJson: string): string {
  return JSON.stringify([index, binding, source, argumentsJson]);
}

/** Whether a program with this table, given the outcomes of the journal, does anything but what is recorded. */
export async function diverges(
  code: string,
  bindings: readonly Binding[],
  journal: readonly JournalEntry[],
): Promise<boolean> {
  const sources = new Map(bindings.map((binding) => [nameOf(binding), binding.source]));
  const made = (step: RealmStep) =>
    step.calls.map((call) => textOf(call.index, call.binding, sources.get(call.binding), call.argumentsJson));
  const groups = groupsOf(journal).map((group) =>
    group.flatMap((entry) =>
      entry.kind === 'Called' ? [textOf(entry.index, entry.binding, entry.source, entry.argumentsJson)] : [],
    ),
  );
  // Nothing is known of what the program did past the last rest at which something was written.
  const lastWritten = Math.max(-1, ...restsOf(journal));
  const outcomes = journal.filter((entry) => entry.kind === 'Settled');
  const realm = new SimRealm();
  let step = await realm.start(code, bindings);
  for (const [at, recorded] of groups.entries()) {
    const calls = made(step);
    if (at > lastWritten && calls.length > 0) return false;
    if (at <= lastWritten && JSON.stringify(calls) !== JSON.stringify(recorded)) return true;
    const outcome = outcomes[at];
    if (outcome === undefined) return false;
    if (step.end !== undefined) return groups.slice(at + 1).some((group) => group.length > 0);
    step = await realm.settle(outcome.index, outcome.outcome);
  }
  return false;
}
