/** What a replay must find, and what it must not: on real sandboxes, as a store could show it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../services/code-run/core/model.ts';
import type { RunEvent } from '../../services/code-run/runner/contract.ts';
import { bindings, completed, play, resumeOf, runnerOn, Stream, startOf } from '../runner/parts.ts';
import { type RealSandbox, startRealSandbox } from '../runner/real-sandbox.ts';
import { MemoryStore } from '../sim/memory-store.ts';

const code = `
  const ids = [Math.random(), Math.random()];
  const read = await Promise.all(ids.map((id) => apps.notes.read({ id })));
  const sent = await apps.notes.send({ to: read.join(' '), at: Date.now() });
  return { read, sent };`;

describe('a replay', () => {
  let sandbox: RealSandbox;
  beforeAll(async () => {
    sandbox = await startRealSandbox();
  });
  afterAll(() => sandbox.stop());

  /** A run that waits with its last call, and resumes after `change`; gives what the resume does. */
  async function resumed(
    change: (row: MemoryStore['rows'] extends Map<string, infer Row> ? Row : never) => void,
  ) {
    const store = new MemoryStore();
    const { runner } = runnerOn({ store, sandbox: sandbox.client });
    const answer = ({ index }: { readonly index: number }) =>
      index < 2 ? completed(`n${index}`) : { tag: 'Waiting' as const };
    const first = await play((o, s) => runner.start(startOf(code), o, s), answer);
    if (first.last?.tag !== 'Waiting') throw new Error('does not wait');
    const row = store.rows.get(first.last.run.id);
    if (row === undefined) throw new Error('no run');
    change(row);
    store.rows.set(row.run.id, row);
    return play(
      (o, s) => runner.resume(resumeOf(row.run.id), o, s),
      ({ index }) => completed(`n${index}`),
    );
  }

  function failureOf(last: RunEvent | undefined): string {
    if (last?.tag !== 'Finished' || last.record.run.result?.tag !== 'Failed') return 'none';
    const { reason, message } = last.record.run.result;
    return `${reason}: ${message}`;
  }

  const changed = (journal: JournalEntry[], at: number, change: Partial<JournalEntry>) => {
    const entry = journal[at];
    if (entry !== undefined) journal[at] = { ...entry, ...change } as JournalEntry;
  };

  test('with the same seed and order goes on where it was', async () => {
    const { calls, last } = await resumed(() => {});
    expect(calls.map(({ index, sentBefore }) => [index, sentBefore])).toEqual([[2, true]]);
    expect(last).toMatchObject({ record: { run: { status: 'Completed' } } });
  });

  test('with another seed is a mismatch', async () => {
    const { calls, last } = await resumed((row) => {
      row.run = { ...row.run, id: 'another' };
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(/^ReplayMismatch: .*call 0, line 3[\s\S]*arguments\.id: 0\.\d+ → 0\.\d+/);
  });

  test('at another time is a mismatch', async () => {
    const { calls, last } = await resumed((row) => {
      row.run = { ...row.run, createdAtMs: row.run.createdAtMs + 1 };
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(/^ReplayMismatch: .*call 2, line 4[\s\S]*arguments\.at: \d+ → \d+/);
  });

  test('with a call fewer than recorded is a mismatch', async () => {
    const { calls, last } = await resumed((row) => {
      const text = row.run.program.text.replace('Math.random(), Math.random()', 'Math.random()');
      row.run = { ...row.run, program: { text, columnShifts: [] } };
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(
      /^ReplayMismatch: .*call 1, line 3[\s\S]*Recorded: call 1 to notes.read[\s\S]*Attempted: no call/,
    );
  });

  test('with a call more than recorded is a mismatch', async () => {
    const { calls, last } = await resumed((row) => {
      const text = row.run.program.text.replace(
        'Math.random(), Math.random()',
        'Math.random(), Math.random(), 1',
      );
      row.run = { ...row.run, program: { text, columnShifts: [] } };
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(/^ReplayMismatch: .*call 2, line 3[\s\S]*Recorded: no call/);
  });

  test.for([0, 1, 2])(
    'with a call more after answer %i of a burst is a mismatch, and is not sent',
    async (at) => {
      const head = 'const reads = [0, 1, 2, 3].map((id) => apps.notes.read({ id }));\n';
      const store = new MemoryStore();
      const { runner } = runnerOn({ store, sandbox: sandbox.client });
      const first = new Stream((o, s) =>
        runner.start(startOf(`${head}return (await Promise.all(reads)).length;`), o, s),
      );
      for (const _ of [0, 1, 2, 3]) await first.until('Call');
      for (const index of [0, 1, 2]) first.answer(index, { tag: 'Completed', valueJson: `"n${index}"` });
      first.answer(3, { tag: 'Waiting' });
      const last = (await first.rest()).at(-1);
      if (last?.tag !== 'Waiting') throw new Error('does not wait');
      const row = store.rows.get(last.run.id);
      if (row === undefined) throw new Error('no run');
      const text = `${head}await reads[${at}]; apps.notes.send({});\nreturn (await Promise.all(reads)).length;`;
      row.run = { ...row.run, program: { text, columnShifts: [] } };
      const again = await play(
        (o, s) => runner.resume(resumeOf(row.run.id), o, s),
        () => ({ tag: 'Waiting' as const }),
      );
      expect(again.calls).toEqual([]);
      expect(failureOf(again.last)).toMatch(/^ReplayMismatch: .*call 4, line 2[\s\S]*Recorded: no call/);
    },
  );

  test('with a changed argument is a mismatch', async () => {
    const { calls, last } = await resumed(({ journal }) =>
      changed(journal, 0, { argumentsJson: '{"id":1}' }),
    );
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(/^ReplayMismatch: .*call 0[\s\S]*arguments\.id: 1 → 0\./);
  });

  test('with a name that means something else is a mismatch', async () => {
    const { calls, last } = await resumed((row) => {
      const moved = bindings.map((binding) => ({
        ...binding,
        source: { ...binding.source, connectionId: 'conn-8' },
      }));
      row.run = { ...row.run, bindings: moved };
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(/^ReplayMismatch: .*call 0[\s\S]*source\.connectionId: conn-7 → conn-8/);
  });

  test('with outcomes in another order or with another content is a mismatch as soon as a call shows it', async () => {
    const { calls, last } = await resumed(({ journal }) => {
      const at = journal.findIndex(({ kind }) => kind === 'Settled');
      changed(journal, at, { outcome: { tag: 'Completed', valueJson: '"other"' } });
    });
    expect(calls).toEqual([]);
    expect(failureOf(last)).toMatch(
      /^ReplayMismatch: .*call 2, line 4[\s\S]*arguments\.to: "n0 n1" → "other n1"/,
    );
  });
});
