/** A second, plain opinion on whether a program diverges from a journal: it runs it and compares texts. */

import { nameOf } from '../../services/code-run/core/mismatch.ts';
import type { Binding, JournalEntry } from '../../services/code-run/core/model.ts';
import { type RealmStep, SimRealm } from './realm.ts';

/** The calls recorded between each two outcomes, as text. */
function groupsOf(journal: readonly JournalEntry[]): readonly (readonly string[])[] {
  const groups: string[][] = [[]];
  for (const entry of journal) {
    if (entry.kind === 'Settled') groups.push([]);
    else groups.at(-1)?.push(textOf(entry.index, entry.binding, entry.source, entry.argumentsJson));
  }
  return groups;
}

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
  const groups = groupsOf(journal);
  const outcomes = journal.filter((entry) => entry.kind === 'Settled');
  const realm = new SimRealm();
  let step = await realm.start(code, bindings);
  for (const [at, recorded] of groups.entries()) {
    const last = at === groups.length - 1;
    const calls = made(step);
    // What is recorded last is a whole step or none of it.
    if (!(last && recorded.length === 0) && JSON.stringify(calls) !== JSON.stringify(recorded)) return true;
    const outcome = outcomes[at];
    if (outcome === undefined) return false;
    if (step.end !== undefined) return groups.slice(at + 1).some((group) => group.length > 0);
    step = await realm.settle(outcome.index, outcome.outcome);
  }
  return false;
}
