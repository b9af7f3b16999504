/** Many decisions at once, one after another, and what their replays cost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completed, play, resumeOf, runnerOn, startOf } from '../runner/parts.ts';
import { type RealSandbox, startRealSandbox } from '../runner/real-sandbox.ts';

describe('decisions', () => {
  let sandbox: RealSandbox;
  beforeAll(async () => {
    sandbox = await startRealSandbox();
  });
  afterAll(() => sandbox.stop());

  test('of ten parallel calls are one wait and one resume', async () => {
    const { runner } = runnerOn({ sandbox: sandbox.client });
    const code = `
      const sent = await Promise.all(Array.from({ length: 10 }, (_, n) => apps.notes.send({ n })));
      return sent.reduce((sum, n) => sum + n, 0);`;
    const waits = await play(
      (o, s) => runner.start(startOf(code), o, s),
      () => ({ tag: 'Waiting' }),
    );
    if (waits.last?.tag !== 'Waiting') throw new Error('does not wait');
    expect(waits.last.requests.map(({ callId }) => callId)).toEqual(
      Array.from({ length: 10 }, (_, n) => `call-9:${n}`),
    );
    const { id } = waits.last.run;
    const resumed = await play(
      (o, s) => runner.resume(resumeOf(id), o, s),
      ({ index }) => completed(index),
    );
    expect(resumed.calls).toHaveLength(10);
    expect(resumed.last).toMatchObject({
      record: { run: { result: { valueJson: '45' }, attempts: { length: 2 } } },
    });
  });

  test('in a loop of fifty are fifty waits; each call is performed once', { timeout: 60_000 }, async () => {
    const { runner } = runnerOn({ sandbox: sandbox.client });
    const code = 'let sum = 0; for (let n = 0; n < 50; n++) sum += await apps.notes.send({ n }); return sum;';
    const performed: number[] = [];
    const decided = new Set<number>();
    let waits = 0;
    const answer = ({ index }: { readonly index: number }) => {
      if (!decided.has(index)) return { tag: 'Waiting' } as const;
      performed.push(index);
      return completed(index);
    };
    let { last, calls } = await play((o, s) => runner.start(startOf(code), o, s), answer);
    while (last?.tag === 'Waiting') {
      waits += 1;
      const [request] = last.requests;
      expect(last.requests).toHaveLength(1);
      decided.add(request?.index ?? -1);
      const { id } = last.run;
      ({ last, calls } = await play((o, s) => runner.resume(resumeOf(id), o, s), answer));
      // The decided call goes out again, and the next one for the first time.
      expect(calls.map(({ index, sentBefore }) => [index, sentBefore])).toEqual(
        [
          [waits - 1, true],
          [waits, false],
        ].slice(0, waits < 50 ? 2 : 1),
      );
    }
    expect(waits).toBe(50);
    expect(performed).toEqual(Array.from({ length: 50 }, (_, n) => n));
    if (last?.tag !== 'Finished') throw new Error('not finished');
    const { run } = last.record;
    expect(run.result).toMatchObject({ valueJson: '1225' });
    expect(run.attempts.map(({ replayedCalls }) => replayedCalls)).toEqual([
      0,
      ...Array.from({ length: 50 }, (_, n) => n),
    ]);
  });
});
