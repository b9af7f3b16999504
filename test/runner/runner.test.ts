import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../services/code-run/runner/contract.ts';
import { completed, play, resumeOf, runnerOn, startOf } from './parts.ts';

describe('runner', () => {
  test('takes a program from start over calls and outcomes to its end', async () => {
    const { runner, store } = runnerOn();
    const code = 'const a = await apps.notes.read({ id: 1 }); console.log("got"); return [a, 2];';
    const { events, calls, last } = await play(
      (outcomes, signal) => runner.start(startOf(code), outcomes, signal),
      () => completed('one'),
    );
    expect(events.map(({ tag }) => tag)).toEqual(['Accepted', 'Call', 'Log', 'Finished']);
    expect(calls).toMatchObject([
      { index: 0, callId: 'call-9:0', binding: 'notes.read', argumentsJson: '{"id":1}', sentBefore: false },
    ]);
    if (last?.tag !== 'Finished') throw new Error('not finished');
    const { run, journal } = last.record;
    expect(run.result).toEqual({
      tag: 'Completed',
      valueJson: '["one",2]',
      logs: [{ index: 0, level: 'info', text: 'got' }],
    });
    expect(journal.map(({ kind, index }) => `${kind} ${index}`)).toEqual(['Called 0', 'Settled 0']);
    expect(await store.journal(run.id)).toEqual(journal);
    expect(run.attempts).toMatchObject([{ number: 1, fingerprint: 'sim', replayedCalls: 0 }]);
  });

  test('waits once for ten parallel decisions and resumes once', async () => {
    const { runner, store } = runnerOn();
    const code =
      'return (await Promise.all([...Array(10).keys()].map((n) => apps.notes.send({ n })))).length';
    const waited = await play(
      (outcomes, signal) => runner.start(startOf(code), outcomes, signal),
      () => ({ tag: 'Waiting' }),
    );
    if (waited.last?.tag !== 'Waiting') throw new Error('does not wait');
    expect(waited.last.requests.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const { id } = waited.last.run;
    // Nobody said an end: what it cost is known from its steps.
    expect((await store.get(id))?.attempts).toMatchObject([{ cpuMs: 1, memoryBytes: 1 }]);
    const resumed = await play(
      (outcomes, signal) => runner.resume(resumeOf(id), outcomes, signal),
      ({ index }) => completed(index),
    );
    expect(resumed.calls.map(({ sentBefore }) => sentBefore)).toEqual(Array(10).fill(true));
    expect(resumed.last).toMatchObject({
      tag: 'Finished',
      record: { run: { result: { tag: 'Completed', valueJson: '10' } } },
    });
  });

  test('stores a program that does not run as failed, once for its tool call', async () => {
    const { runner, store } = runnerOn();
    const failure = { message: 'Syntax error: unexpected ")"', line: 3, column: 7 };
    const collect = async () => {
      const events: RunEvent[] = [];
      for await (const event of runner.startFailed(startOf('1)'), failure)) events.push(event);
      return events;
    };
    const [first, ...none] = await collect();
    expect(none).toEqual([]);
    if (first?.tag !== 'Finished') throw new Error('not finished');
    const { run } = first.record;
    expect(run).toMatchObject({ status: 'Failed', result: { tag: 'Failed', reason: 'Error', ...failure } });
    expect(await store.get(run.id)).toEqual(run);
    expect(await collect()).toEqual([first]);
  });
});
