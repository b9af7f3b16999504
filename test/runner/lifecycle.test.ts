/** The life of a run over several callers and instances. */
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../services/code-run/runner/contract.ts';
import type { Runner } from '../../services/code-run/runner/runner.ts';
import { Sweeper } from '../../services/code-run/runner/sweeper.ts';
import { RunUnreadable, StoreUnavailable } from '../../services/code-run/store/contract.ts';
import { AppError } from '../../services/shared/errors.ts';
import { MemoryStore } from '../sim/memory-store.ts';
import type { SimSandbox } from '../sim/sandbox.ts';
import { ManualClock } from './manual-clock.ts';
import {
  completed,
  keptLog,
  play,
  reported,
  resumeOf,
  runnerOn,
  Stream,
  startOf,
  type TestParts,
} from './parts.ts';

const oneCall = 'console.log("before"); return await apps.notes.read({});';

/** Two instances on one store and one clock. */
function twoInstances(given: TestParts = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore();
  const one = runnerOn({ store, clock, ...given });
  const other = runnerOn({ store, clock, ...given, settings: { instance: 'other', ...given.settings } });
  return { clock, store, one, other };
}

function starting(runner: Runner, code = oneCall, callId?: string): Stream {
  return new Stream((outcomes, signal) => runner.start(startOf(code, callId), outcomes, signal));
}

function resuming(runner: Runner, runId: string, more: Parameters<typeof resumeOf>[1] = {}): Stream {
  return new Stream((outcomes, signal) => runner.resume(resumeOf(runId, more), outcomes, signal));
}

async function begun(stream: Stream): Promise<string> {
  const accepted = await stream.until('Accepted');
  await stream.until('Call');
  return accepted.run.id;
}

async function failure(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error('no AppError was thrown', { cause: error });
  return `${error.code} ${error.message}`;
}

function resultOf(event: RunEvent | undefined) {
  if (event?.tag !== 'Finished') throw new Error('not finished');
  return event.record.run.result;
}

describe('a second start of a tool call', () => {
  test('gives the end of the run that exists', async () => {
    const { runner } = runnerOn();
    const start = () =>
      play(
        (o, s) => runner.start(startOf('return 7'), o, s),
        () => undefined,
      );
    const first = await start();
    const second = await start();
    expect(second.events).toEqual([first.last]);
  });

  test('is refused while the run is owned or waits, with its id and state', async () => {
    const { runner } = runnerOn();
    const stream = starting(runner);
    const id = await begun(stream);
    expect(await failure(starting(runner).next())).toBe(
      `FAILED_PRECONDITION This tool call started code run ${id}, which is Running. Resume it instead.`,
    );
    stream.answer(0, { tag: 'Waiting' });
    await stream.until('Waiting');
    expect(await failure(starting(runner).next())).toBe(
      `FAILED_PRECONDITION This tool call started code run ${id}, which is Waiting. Resume it instead.`,
    );
  });
});

describe('resume', () => {
  test('of a run that is not there is NOT_FOUND', async () => {
    const { runner } = runnerOn();
    expect(await failure(resuming(runner, 'none').next())).toBe('NOT_FOUND There is no code run none.');
  });

  test('of a run that has ended is refused', async () => {
    const { runner } = runnerOn();
    const { last } = await play(
      (o, s) => runner.start(startOf('return 7'), o, s),
      () => undefined,
    );
    if (last?.tag !== 'Finished') throw new Error('not finished');
    const { id } = last.record.run;
    expect(await failure(resuming(runner, id).next())).toBe(
      `FAILED_PRECONDITION Code run ${id} is Completed. Read it instead.`,
    );
  });

  test('lets one of two cores win, and tells the other so', async () => {
    const { one, other } = twoInstances();
    const first = starting(one.runner);
    const id = await begun(first);
    first.answer(0, { tag: 'Waiting' });
    await first.until('Waiting');
    const outcomes = await Promise.allSettled([
      resuming(one.runner, id).until('Call'),
      resuming(other.runner, id).until('Call'),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const loser = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(await failure(Promise.reject(loser?.reason))).toBe(
      `ABORTED Code run ${id} is Running at another caller. Resume it after that one is gone.`,
    );
  });

  test('works on another instance as soon as the core is gone from the first', async () => {
    const { one, other } = twoInstances();
    const first = starting(one.runner);
    const id = await begun(first);
    first.abort.abort();
    expect(await failure(first.rest())).toBe(
      `CANCELLED The caller went away. Code run ${id} is Running: resume it.`,
    );
    const second = resuming(other.runner, id, { logLinesReceived: 1 });
    expect((await second.until('Call')).call).toMatchObject({ callId: 'call-9:0', sentBefore: true });
    second.answer(0, { tag: 'Completed', valueJson: '5' });
    const events = await second.rest();
    expect(events.map(({ tag }) => tag)).toEqual(['Finished']);
    expect(resultOf(events[0])).toMatchObject({ valueJson: '5', logs: [{ text: 'before' }] });
  });

  test.for([
    [undefined, []],
    [0, ['before']],
    [1, []],
  ] as const)('of a core that has %s log lines streams %j', async ([logLinesReceived, lines]) => {
    const { one, other } = twoInstances();
    const first = starting(one.runner);
    const id = await begun(first);
    first.abort.abort();
    await failure(first.rest());
    const second = resuming(other.runner, id, { logLinesReceived });
    const streamed: string[] = [];
    for (let event = await second.next(); event.tag !== 'Call'; event = await second.next()) {
      if (event.tag === 'Log') streamed.push(event.line.text);
    }
    expect(streamed).toEqual(lines);
  });

  test('works after the lease of a dead instance ran out, not before', async () => {
    const { one, other, clock, store } = twoInstances({ settings: { leaseMs: 1000, renewMs: 100_000 } });
    const stream = starting(one.runner);
    const id = await begun(stream);
    clock.advance(999);
    expect(await failure(resuming(other.runner, id).next())).toMatch(/^ABORTED/);
    clock.advance(1);
    const second = resuming(other.runner, id);
    await second.until('Call');
    // The first instance was only slow: its next write is refused, and it says what became of the run.
    stream.answer(0, { tag: 'Completed', valueJson: '1' });
    expect(await failure(stream.rest())).toBe(
      `ABORTED This attempt lost code run ${id} to another one; it is Running.`,
    );
    expect(await store.journal(id)).toHaveLength(1);
    second.answer(0, { tag: 'Completed', valueJson: '2' });
    expect(resultOf(await second.until('Finished'))).toMatchObject({ valueJson: '2' });
  });

  test('refuses outcomes that do not fit, and takes those that do', async () => {
    const { runner } = runnerOn();
    const first = starting(runner);
    const id = await begun(first);
    first.answer(0, { tag: 'Waiting' });
    const { requests } = await first.until('Waiting');
    const [{ callId, argumentsDigest } = { callId: '', argumentsDigest: '' }] = requests;
    const good = {
      index: 0,
      callId,
      argumentsDigest,
      operationId: '',
      outcome: { tag: 'Completed', valueJson: '3' },
    } as const;
    const outcomes = [
      { ...good, callId: '' },
      { ...good, callId: 'call-8:0' },
      { ...good, argumentsDigest: '00' },
      { ...good, index: 1 },
      good,
      good,
    ];
    const events = await resuming(runner, id, { outcomes }).rest();
    expect(events.map((event) => (event.tag === 'OutcomeRefused' ? event.code : event.tag))).toEqual([
      'Accepted',
      'INVALID_ARGUMENT',
      'FAILED_PRECONDITION',
      'FAILED_PRECONDITION',
      'NOT_FOUND',
      'ALREADY_EXISTS',
      'Finished',
    ]);
    expect(resultOf(events.at(-1))).toMatchObject({ valueJson: '3' });
  });

  test('keeps the operation that a waiting call was reported with', async () => {
    const { runner } = runnerOn();
    const first = starting(runner);
    const id = await begun(first);
    first.outcomes.push({ ...reported(0, { tag: 'Waiting' }), operationId: 'op-7' });
    expect((await first.until('Waiting')).requests).toMatchObject([{ operationId: 'op-7' }]);
    const second = resuming(runner, id);
    await second.until('Call');
    second.answer(0, { tag: 'Completed', valueJson: '1' });
    const { record } = await second.until('Finished');
    expect(record.journal.at(-1)).toMatchObject({ kind: 'Settled', operationId: 'op-7' });
  });

  test('keeps the operation of a waiting call when an attempt dies in between', async () => {
    const { one, other, clock } = twoInstances({ settings: { leaseMs: 1000, renewMs: 100_000 } });
    const first = starting(one.runner);
    const id = await begun(first);
    first.outcomes.push({ ...reported(0, { tag: 'Waiting' }), operationId: 'op-7' });
    await first.until('Waiting');
    await resuming(one.runner, id).until('Call');
    clock.advance(1000);
    const third = resuming(other.runner, id);
    await third.until('Call');
    third.answer(0, { tag: 'Completed', valueJson: '1' });
    const { record } = await third.until('Finished');
    expect(record.journal.at(-1)).toMatchObject({ kind: 'Settled', operationId: 'op-7' });
  });

  test('gives OutcomeUnknown to the program where the core does not know', async () => {
    const { runner } = runnerOn();
    const code =
      'try { await apps.notes.send({}) } catch (error) { return error.name + " " + error.message }';
    const first = starting(runner, code);
    const id = await begun(first);
    await first.leave();
    const second = resuming(runner, id);
    const { call } = await second.until('Call');
    expect(call.sentBefore).toBe(true);
    second.answer(0, { tag: 'Unknown', message: 'The core restarted.' });
    expect(resultOf(await second.until('Finished'))).toMatchObject({
      valueJson: expect.stringContaining('AppCallFailed OutcomeUnknown: The core restarted.'),
    });
  });
});

describe('cancel', () => {
  test('ends a running program at once and keeps its log and its cost', async () => {
    const { runner, store } = runnerOn();
    const stream = starting(runner);
    const id = await begun(stream);
    const record = await runner.cancel(id);
    expect(record?.run).toMatchObject({
      status: 'Cancelled',
      result: { tag: 'Cancelled', logs: [{ text: 'before' }] },
      attempts: [{ number: 1 }],
    });
    expect((await stream.rest()).map(({ tag }) => tag)).toEqual(['Finished']);
    stream.answer(0, { tag: 'Completed', valueJson: '1' });
    expect(await store.journal(id)).toHaveLength(1);
  });

  test('takes back calls that the core did not read yet', async () => {
    const { runner } = runnerOn();
    const stream = starting(runner, 'await Promise.all([0, 1, 2].map((n) => apps.notes.send({ n })))');
    const id = await begun(stream);
    await runner.cancel(id);
    expect((await stream.rest()).map(({ tag }) => tag)).toEqual(['Finished']);
  });

  test('of a waiting run is final, and a late decision is refused', async () => {
    const { runner } = runnerOn();
    const stream = starting(runner);
    const id = await begun(stream);
    stream.answer(0, { tag: 'Waiting' });
    await stream.until('Waiting');
    expect((await runner.cancel(id))?.run.status).toBe('Cancelled');
    expect(await failure(resuming(runner, id).next())).toBe(
      `FAILED_PRECONDITION Code run ${id} is Cancelled. Read it instead.`,
    );
  });

  test('from another instance is noticed when the lease is renewed', async () => {
    const { one, other, clock } = twoInstances();
    const stream = starting(one.runner);
    const id = await begun(stream);
    expect((await other.runner.cancel(id))?.run.status).toBe('Cancelled');
    clock.advance(1000);
    const events = await stream.rest();
    expect(resultOf(events[0])).toMatchObject({ tag: 'Cancelled' });
    expect((one.sandbox as SimSandbox).attempts.every(({ over }) => over)).toBe(true);
  });

  test('from another instance is noticed at the next write, which is nothing to warn of', async () => {
    const { log, lines } = keptLog();
    const { one, other } = twoInstances({ log });
    const stream = starting(one.runner);
    const id = await begun(stream);
    await other.runner.cancel(id);
    stream.answer(0, { tag: 'Completed', valueJson: '1' });
    expect(resultOf((await stream.rest()).at(-1))).toMatchObject({ tag: 'Cancelled' });
    expect(lines).toEqual([
      { level: 'info', fields: { write: 'Append' }, message: 'the run was ended or taken over' },
    ]);
  });

  test('gives a final run as it is, and nothing where there is none', async () => {
    const { runner } = runnerOn();
    const { last } = await play(
      (o, s) => runner.start(startOf('return 7'), o, s),
      () => undefined,
    );
    if (last?.tag !== 'Finished') throw new Error('not finished');
    expect(await runner.cancel(last.record.run.id)).toEqual(last.record);
    expect(await runner.cancel('none')).toBeUndefined();
  });
});

describe('a core that goes away', () => {
  test('by leaving the stream leaves the run resumable, and nothing behind', async () => {
    const clock = new ManualClock();
    const { runner, sandbox, store } = runnerOn({ clock });
    const stream = starting(runner);
    const id = await begun(stream);
    await stream.leave();
    await runner.drain(0);
    expect((await store.get(id))?.status).toBe('Running');
    expect((sandbox as SimSandbox).attempts.every(({ over }) => over)).toBe(true);
    expect(clock.timers).toBe(0);
  });

  test('by ending its side with calls unanswered is told to stay', async () => {
    const { runner } = runnerOn();
    const stream = starting(runner);
    const id = await begun(stream);
    stream.outcomes.close();
    expect(await failure(stream.rest())).toBe(
      `CANCELLED The caller ended its side while calls had no outcome. Code run ${id} is Running: resume it. ` +
        'Keep the stream open until the run ends.',
    );
  });

  test('before the first event begins nothing that stays', async () => {
    const { runner, store } = runnerOn();
    const stream = starting(runner);
    stream.abort.abort();
    expect(await failure(stream.until('Finished'))).toMatch(/^CANCELLED/);
    await runner.drain(0);
    const [row] = (store as MemoryStore).rows.values();
    expect(row?.run.lease.expiresAtMs).toBeLessThanOrEqual(Date.now());
  });

  test('for good makes the run Failed / Unavailable, after the time that is set', async () => {
    const clock = new ManualClock();
    const { runner, ...parts } = runnerOn({ clock, settings: { abandonedAfterMs: 60_000 } });
    const sweeper = new Sweeper(parts);
    const stream = starting(runner);
    const id = await begun(stream);
    await stream.leave();
    await runner.drain(0);
    clock.advance(60_000);
    expect(await sweeper.sweep()).toBe(0);
    clock.advance(1);
    expect(await sweeper.sweep()).toBe(1);
    expect(await parts.store.get(id)).toMatchObject({
      status: 'Failed',
      result: {
        reason: 'Unavailable',
        message:
          'The caller went away and did not resume the run within 60000 ms. ' +
          'Look at what its calls did before running the program again.',
      },
    });
    expect(await sweeper.sweep()).toBe(0);
  });

  test('does not make a waiting or an owned run end', async () => {
    const clock = new ManualClock();
    const { runner, ...parts } = runnerOn({ clock, settings: { abandonedAfterMs: 10, leaseMs: 1000 } });
    const waits = starting(runner, oneCall, 'call-1');
    await begun(waits);
    waits.answer(0, { tag: 'Waiting' });
    await waits.until('Waiting');
    const owned = starting(runner, oneCall, 'call-2');
    await begun(owned);
    clock.advance(900);
    expect(await new Sweeper(parts).sweep()).toBe(0);
    await owned.leave();
  });
});

describe('drain', () => {
  test('lets running attempts end and no new one begin', async () => {
    const { runner } = runnerOn();
    const stream = starting(runner);
    const id = await begun(stream);
    let drained = false;
    const draining = runner.drain(60_000).then(() => {
      drained = true;
    });
    expect(await failure(starting(runner, oneCall, 'call-2').next())).toBe(
      'UNAVAILABLE This instance is shutting down. Try another one.',
    );
    expect(await failure(resuming(runner, id).next())).toMatch(/^UNAVAILABLE/);
    expect(drained).toBe(false);
    stream.answer(0, { tag: 'Completed', valueJson: '1' });
    expect(resultOf(await stream.until('Finished'))).toMatchObject({ valueJson: '1' });
    await draining;
  });

  test('hands on what still runs when its time is over', async () => {
    const { one, other, clock } = twoInstances();
    const stream = starting(one.runner);
    const id = await begun(stream);
    const draining = one.runner.drain(5000);
    clock.advance(5000);
    expect(await failure(stream.rest())).toBe(
      `UNAVAILABLE This instance is shutting down. Code run ${id} is Running: resume it.`,
    );
    await draining;
    const second = resuming(other.runner, id);
    await second.until('Call');
    second.answer(0, { tag: 'Completed', valueJson: '1' });
    await second.until('Finished');
  });
});

describe('a store that fails', () => {
  test('ends the stream as UNAVAILABLE and leaves the run resumable', async () => {
    const store = new MemoryStore();
    const { runner } = runnerOn({ store });
    const stream = starting(runner);
    const id = await begun(stream);
    const { append } = store;
    store.append = () => Promise.reject(new StoreUnavailable('no disk'));
    stream.answer(0, { tag: 'Completed', valueJson: '1' });
    expect(await failure(stream.rest())).toBe(
      `UNAVAILABLE The store cannot be reached. Code run ${id} is Running: resume it.`,
    );
    store.append = append;
    const second = resuming(runner, id);
    await second.until('Call');
    second.answer(0, { tag: 'Completed', valueJson: '1' });
    await second.until('Finished');
  });

  test('to give a journal gives the claim up again', async () => {
    const store = new MemoryStore();
    const { runner } = runnerOn({ store });
    const stream = starting(runner);
    const id = await begun(stream);
    stream.answer(0, { tag: 'Waiting' });
    await stream.until('Waiting');
    const { journal } = store;
    store.journal = () => Promise.reject(new RunUnreadable('no key'));
    expect(await failure(resuming(runner, id).next())).toBe(
      'UNAVAILABLE This code run cannot be read: its key is missing or it is damaged.',
    );
    store.journal = journal;
    const second = resuming(runner, id);
    await second.until('Call');
    await second.leave();
  });

  test('when a run begins is UNAVAILABLE', async () => {
    const store = new MemoryStore();
    store.create = () => Promise.reject(new StoreUnavailable('no disk'));
    expect(await failure(starting(runnerOn({ store }).runner).next())).toBe(
      'UNAVAILABLE The store cannot be reached. Try again.',
    );
  });
});

describe('outcomes', () => {
  test('are read only as far as they can be held', async () => {
    const { runner } = runnerOn({ settings: { pendingOutcomeCharsMax: 10 } });
    const code = 'return (await Promise.all([0, 1, 2, 3].map((n) => apps.notes.read({ n })))).length';
    const { last } = await play(
      (o, s) => runner.start(startOf(code), o, s),
      () => completed('x'.repeat(20)),
    );
    expect(resultOf(last)).toMatchObject({ valueJson: '4' });
  });

  test('that a program waits for in vain end it with an error that says so', async () => {
    const { runner } = runnerOn();
    const { last } = await play(
      (o, s) => runner.start(startOf('await new Promise(() => {})'), o, s),
      () => undefined,
    );
    expect(resultOf(last)).toMatchObject({ reason: 'Error', message: 'The program can never go on.' });
  });
});
