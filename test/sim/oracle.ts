/** A second, plain opinion on whether a program diverges from a journal: it runs it and compares texts. */

import { nameOf } from '../../services/code-run/core/mismatch.ts';
import type { Binding, JournalEntry } from '../../services/code-run/core/model.ts';
import { groupsOf, restsOf } from '../core/seen-order.ts';
import { type RealmStep, SimRealm } from './realm.ts';

function textOf(index: number, binding: string, source: unknown, argumentsJson: string): string {
  return JSON.stringify([index, binding, source, argumentsJson]);
}

/**
 * Whether a program with this table, given the outcomes of the journal, does anything but what is recorded.
 * `waitedAt` is the rest at which the run last began to wait; -1 if it never did.
 */
export async function diverges(
  code: string,
  bindings: readonly Binding[],
  journal: readonly JournalEntry[],
  waitedAt: number,
): Promise<boolean> {
  const sources = new Map(bindings.map((binding) => [nameOf(binding), binding.source]));
  const made = (step: RealmStep) =>
    step.calls.map((call) => textOf(call.index, call.binding, sources.get(call.binding), call.argumentsJson));
  const groups = groupsOf(journal).map((group) =>
    group.flatMap((entry) =>
      entry.kind === 'Called' ? [textOf(entry.index, entry.binding, entry.source, entry.argumentsJson)] : [],
    ),
  );
  // Nothing is known of what the program did past the last rest at which something was written or a wait began.
  const lastKnown = Math.max(waitedAt, ...restsOf(journal));
  const outcomes = journal.filter((entry) => entry.kind === 'Settled');
  const realm = new SimRealm();
  let step = await realm.start(code, bindings);
  for (const [at, recorded] of groups.entries()) {
    const calls = made(step);
    if (at > lastKnown && calls.length > 0) return false;
    if (at <= lastKnown && JSON.stringify(calls) !== JSON.stringify(recorded)) return true;
    const outcome = outcomes[at];
    if (outcome === undefined) return false;
    if (step.end !== undefined) return groups.slice(at + 1).some((group) => group.length > 0);
    step = await realm.settle(outcome.index, outcome.outcome);
  }
  return false;
}
