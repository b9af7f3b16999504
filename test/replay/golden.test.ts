import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../services/code-run/core/model.ts';
import type { RunEvent } from '../../services/code-run/runner/contract.ts';
import { seenOrder } from '../core/seen-order.ts';
import { resumeOf, runnerOn, Stream } from '../runner/parts.ts';
import { type RealSandbox, startRealSandbox } from '../runner/real-sandbox.ts';
import { cutsOf, type Golden, goldens, storeOf } from './golden.ts';

describe('a golden journal', () => {
  let sandbox: RealSandbox;
  beforeAll(async () => {
    sandbox = await startRealSandbox();
  });
  afterAll(() => sandbox.stop());

  /** Resumes the run as it stood after `length` entries; its calls are answered in the recorded order. */
  async function resume(golden: Golden, length?: number): Promise<readonly RunEvent[]> {
    const { runner } = runnerOn({ store: storeOf(golden, length), sandbox: sandbox.client });
    const stream = new Stream((outcomes, signal) => runner.resume(resumeOf(golden.runId), outcomes, signal));
    const answers = golden.journal
      .slice(length ?? golden.journal.length)
      .filter(({ kind }) => kind === 'Settled');
    const sent = new Set<number>();
    const events: RunEvent[] = [];
    for (let event = await stream.next(); ; event = await stream.next()) {
      events.push(event);
      if (event.tag === 'Finished') return events;
      if (event.tag === 'Call') sent.add(event.call.index);
      for (let next = answers[0]; next?.kind === 'Settled' && sent.has(next.index); next = answers[0]) {
        answers.shift();
        stream.answer(next.index, next.outcome);
      }
    }
  }

  test('is there for every kind of program', () => {
    expect(goldens().length).toBeGreaterThanOrEqual(10);
  });

  test.each(goldens())('of %s is replayed at once and calls nothing', async (_, golden) => {
    const events = await resume(golden);
    expect(events.filter(({ tag }) => tag === 'Call')).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      record: { run: { result: golden.result }, journal: golden.journal },
    });
  });

  test.each(goldens())('of %s is gone on with from wherever it was cut', async (_, golden) => {
    for (const length of cutsOf(golden.journal)) {
      const last = (await resume(golden, length)).at(-1);
      if (last?.tag !== 'Finished') throw new Error('not finished');
      expect(last.record.run.result).toEqual(golden.result);
      expect(seenOrder(last.record.journal).map(untimed)).toEqual(seenOrder(golden.journal).map(untimed));
    }
  });

  test.each(goldens())('of %s cannot be told from one with other times', async (_, golden) => {
    const journal = golden.journal.map((entry) => ({ ...entry, atMs: entry.atMs + 1 }));
    expect((await resume({ ...golden, journal })).at(-1)).toMatchObject({
      record: { run: { result: golden.result } },
    });
  });
});

function untimed({ atMs: _, ...entry }: JournalEntry) {
  return entry;
}
