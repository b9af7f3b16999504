/**
 * Programs, arguments, names and orders that were changed behind the journal's back: every real divergence is
 * found before anything is sent, and nothing else is called one. SIM_CASES and SIM_SEED as in crashes.test.ts.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Binding, JournalEntry } from '../../services/code-run/core/model.ts';
import { play, type Reply, resumeOf, runnerOn, startOf } from '../runner/parts.ts';
import { appAnswer } from './core.ts';
import { MemoryStore } from './memory-store.ts';
import { diverges } from './oracle.ts';
import { programTree, simBindings, type Tree, textOf } from './programs.ts';
import { Chance } from './world.ts';

const { SIM_CASES = '1500', SIM_SEED: seed } = process.env;
const cases = Number(SIM_CASES);

type Change = 'program' | 'arguments' | 'binding' | 'source' | 'order' | 'outcome' | 'drop' | 'nothing';

interface Changed {
  code: string;
  bindings: readonly Binding[];
  journal: JournalEntry[];
}

/** A part of the tree in the place of the whole, or another call in the place of the first. */
function changedTree(tree: Tree, chance: Chance): Tree {
  if (tree.tag === 'call') return chance.hits(0.5) ? { ...tree, n: tree.n + 1 } : { ...tree, name: 'other' };
  if (!('parts' in tree)) return { tag: 'seq', parts: [tree, { tag: 'call', name: 'read', n: 77 }] };
  const at = chance.below(tree.parts.length);
  switch (chance.below(4)) {
    case 0:
      return { ...tree, parts: tree.parts.toReversed() };
    case 1:
      return { ...tree, parts: tree.parts.filter((_, index) => index !== at) };
    case 2:
      return { ...tree, parts: tree.parts.flatMap((part, index) => (index === at ? [part, part] : [part])) };
    default:
      return {
        ...tree,
        parts: tree.parts.map((part, index) => (index === at ? changedTree(part, chance) : part)),
      };
  }
}

function change(kind: Change, tree: Tree, was: Changed, chance: Chance): Changed {
  const journal = was.journal.slice();
  const at = chance.below(journal.length);
  const entry = journal[at];
  if (kind === 'program') return { ...was, code: textOf(changedTree(tree, chance)) };
  if (kind === 'source') {
    const [first, ...rest] = simBindings;
    if (first === undefined) return was;
    const source = { ...first.source, connectionId: 'conn-8' };
    return { ...was, bindings: [{ ...first, source }, ...rest] };
  }
  if (entry === undefined || kind === 'nothing') return was;
  if (entry.kind === 'Called') {
    if (kind === 'arguments')
      journal[at] = { ...entry, argumentsJson: entry.argumentsJson.replace('"n"', '"m"') };
    if (kind === 'binding') journal[at] = { ...entry, binding: 'notes.send' };
  }
  if (entry.kind === 'Settled') {
    if (kind === 'outcome') journal[at] = { ...entry, outcome: { tag: 'Completed', valueJson: '12345' } };
    const swap = journal.findIndex((other, index) => index > at && other.kind === 'Settled');
    const other = journal[swap];
    if (kind === 'order' && other?.kind === 'Settled') {
      // The other order is one that the program could have seen: no call before it was made.
      const between = journal
        .slice(at, swap)
        .some(({ kind: k, index }) => k === 'Called' && index === other.index);
      if (!between) {
        journal[at] = { ...entry, index: other.index, outcome: other.outcome };
        journal[swap] = { ...other, index: entry.index, outcome: entry.outcome };
      }
    }
    // Cut after an outcome: a journal as an earlier crash would have left it.
    if (kind === 'drop') journal.length = at + 1;
  }
  return { ...was, journal };
}

describe('a replay', () => {
  test('finds every divergence before anything is sent, and no other', {
    timeout: 60_000 + cases * 50,
  }, async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        programTree,
        fc.integer(),
        fc.nat(12),
        fc.constantFrom<Change>(
          'program',
          'program',
          'program',
          'program',
          'program',
          'program',
          'arguments',
          'binding',
          'source',
          'order',
          'outcome',
          'drop',
          'nothing',
        ),
        async (tree, number, answered, kind) => {
          const chance = new Chance(number);
          const store = new MemoryStore();
          const { runner } = runnerOn({ store });
          const code = textOf(tree);
          let answers = 0;
          const answer = (call: Parameters<typeof appAnswer>[0]): Reply => {
            answers += 1;
            return answers > answered ? { tag: 'Waiting' } : appAnswer(call, 0.1);
          };
          const first = await play(
            (o, s) => runner.start({ ...startOf(code), bindings: simBindings }, o, s),
            answer,
          );
          if (first.last?.tag !== 'Waiting') return;
          const { id } = first.last.run;
          const row = store.rows.get(id);
          if (row === undefined) throw new Error('no run');
          // A journal that was cut is one of a crash, before the run could wait.
          const waiting = kind === 'drop' ? [] : row.run.waiting;
          const changed = change(kind, tree, { code, bindings: simBindings, journal: row.journal }, chance);
          row.journal = changed.journal;
          row.run = {
            ...row.run,
            program: { text: changed.code, columnShifts: [] },
            bindings: changed.bindings,
            journalLength: changed.journal.length,
            waiting,
          };
          const expected = await diverges(
            changed.code,
            changed.bindings,
            changed.journal,
            Math.max(-1, ...waiting.map(({ after }) => after)),
          );
          const again = await play(
            (o, s) => runner.resume(resumeOf(id), o, s),
            () => ({ tag: 'Waiting' }),
          );
          const { last } = again;
          const result = last?.tag === 'Finished' ? last.record.run.result : undefined;
          const mismatch = result?.tag === 'Failed' && result.reason === 'ReplayMismatch';
          expect(mismatch).toBe(expected);
          if (expected) {
            found += 1;
            expect(again.calls).toEqual([]);
            expect(store.rows.get(id)?.journal).toEqual(changed.journal);
          }
          if (kind === 'nothing') expect(expected).toBe(false);
        },
      ),
      { numRuns: cases, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
    // The property is worth something only if many of its cases diverge.
    expect(found).toBeGreaterThan(cases / 10);
  });
});
