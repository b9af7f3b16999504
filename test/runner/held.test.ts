/** What the attempts of an instance hold together: bounded, and let go at their end. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunEvent } from '../../services/code-run/runner/contract.ts';
import type { Runner } from '../../services/code-run/runner/runner.ts';
import { SandboxSession } from '../../services/code-run/runner/sandbox-session.ts';
import { AppError } from '../../services/shared/errors.ts';
import { limits } from '../../services/shared/limits.ts';
import { MemoryStore } from '../sim/memory-store.ts';
import { completed, play, resumeOf, runnerOn, Stream, startOf } from './parts.ts';
import { type RealSandbox, startRealSandbox } from './real-sandbox.ts';

/** A program that makes this many calls at once, each with arguments of this many bytes. */
function calling(calls: number, bytes: number): string {
  const text = `'x'.repeat(${bytes - '{"text":""}'.length})`;
  return `const text = ${text};
    return (await Promise.all(Array.from({ length: ${calls} }, () => apps.notes.read({ text })))).length`;
}

function starting(runner: Runner, code: string): Stream {
  return new Stream((outcomes, signal) => runner.start(startOf(code, code), outcomes, signal));
}

async function begun(runner: Runner, code: string): Promise<{ stream: Stream; runId: string }> {
  const stream = starting(runner, code);
  const { run } = await stream.until('Accepted');
  await stream.until('Call');
  return { stream, runId: run.id };
}

async function codeOf(stream: Stream): Promise<string> {
  const thrown = await stream.until('Finished').catch((error: unknown) => error);
  return thrown instanceof AppError ? `${thrown.code} ${thrown.message}` : 'it finished';
}

const noRoom = (runId: string) =>
  'RESOURCE_EXHAUSTED The runs of this instance hold more arguments and results than it has room for, and this one ' +
  `the most. Code run ${runId} is Running: resume it.`;

function resultOf(event: RunEvent) {
  if (event.tag !== 'Finished') throw new Error('not finished');
  return event.record.run.result;
}

const one = { tag: 'Completed', valueJson: '1' } as const;

const turns = async (count: number) => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the runs of an instance', () => {
  test('may hold as much as its bound, arguments and results', async () => {
    const { runner } = runnerOn({ settings: { heldBytesMax: 1103 } });
    const first = await begun(runner, calling(1, 500));
    const other = await begun(runner, calling(2, 300));
    expect(runner.heldBytes).toBe(1100);
    first.stream.answer(0, { tag: 'Completed', valueJson: '123' });
    expect(resultOf(await first.stream.until('Finished'))).toMatchObject({ valueJson: '1' });
    await other.stream.leave();
  });

  test('past it: the one that holds most is given up, the others go on, and it can be resumed', async () => {
    const { runner } = runnerOn({ settings: { heldBytesMax: 1102 } });
    const first = await begun(runner, calling(1, 500));
    const other = await begun(runner, calling(2, 300));
    first.stream.answer(0, { tag: 'Completed', valueJson: '123' });
    expect(await codeOf(other.stream)).toBe(noRoom(other.runId));
    expect(resultOf(await first.stream.until('Finished'))).toMatchObject({ valueJson: '1' });
    await first.stream.rest();
    expect(runner.heldBytes).toBe(0);
    const { last } = await play(
      (o, s) => runner.resume(resumeOf(other.runId), o, s),
      () => completed(1),
    );
    if (last === undefined) throw new Error('nothing came');
    expect(resultOf(last)).toMatchObject({ valueJson: '2' });
  });

  test('count while their calls are written', async () => {
    const store = new MemoryStore();
    const written = Promise.withResolvers<void>();
    const append = store.append.bind(store);
    store.append = async (...written_) => {
      await written.promise;
      await append(...written_);
    };
    const { runner } = runnerOn({ store });
    const stream = starting(runner, calling(3, 100));
    await stream.until('Accepted');
    const call = stream.until('Call');
    await vi.waitFor(() => expect(runner.heldBytes).toBe(300));
    await turns(10);
    expect(runner.heldBytes).toBe(300);
    written.resolve();
    await call;
    expect(runner.heldBytes).toBe(300);
    await stream.leave();
  });

  test('that were resumed count as soon as their journal is read', async () => {
    const { runner } = runnerOn({ settings: { heldBytesMax: 1000 } });
    const first = await begun(runner, calling(1, 600));
    await first.stream.leave();
    await vi.waitFor(() => expect(runner.heldBytes).toBe(0));
    const other = await begun(runner, calling(1, 500));
    const again = new Stream((o, s) => runner.resume(resumeOf(first.runId), o, s));
    expect(await codeOf(again)).toBe(noRoom(first.runId));
    expect(runner.heldBytes).toBe(500);
    await other.stream.leave();
  });

  test('that were given up hold nothing, although their core reads nothing', async () => {
    const { runner } = runnerOn({ settings: { heldBytesMax: 1000 } });
    const unread = starting(runner, calling(1, 600));
    await unread.peek();
    await vi.waitFor(() => expect(runner.heldBytes).toBe(600));
    const other = await begun(runner, calling(1, 500));
    await vi.waitFor(() => expect(runner.heldBytes).toBe(500));
    await other.stream.leave();
  });

  test('that have ended count until their core has read that, and stop nobody', async () => {
    const { runner } = runnerOn({ settings: { heldBytesMax: 1000 } });
    const unread = await begun(runner, calling(1, 600));
    unread.stream.answer(0, one);
    await unread.stream.peek();
    expect(runner.heldBytes).toBe(601);
    const other = await begun(runner, calling(1, 300));
    other.stream.answer(0, one);
    await other.stream.until('Finished');
    await other.stream.rest();
    expect(runner.heldBytes).toBe(601);
    await unread.stream.rest();
    expect(runner.heldBytes).toBe(0);
  });

  test('take in no outcome while one that was given up is still being written', async () => {
    const store = new MemoryStore();
    const released = Promise.withResolvers<void>();
    const release = store.release.bind(store);
    store.release = async (...run) => {
      await released.promise;
      await release(...run);
    };
    const { runner } = runnerOn({ store, settings: { heldBytesMax: 1000 } });
    const small = await begun(runner, 'await apps.notes.read({}); await apps.notes.read({}); return 2');
    const large = await begun(runner, calling(1, 600));
    const larger = starting(runner, calling(1, 700));
    await larger.peek();
    await vi.waitFor(() => expect(runner.heldBytes).toBeGreaterThan(1300));
    const order: string[] = [];
    small.stream.answer(0, one);
    small.stream.answer(1, one);
    const finished = small.stream.until('Finished').then(() => order.push('finished'));
    await turns(100);
    order.push('released');
    released.resolve();
    await finished;
    expect(await codeOf(larger)).toMatch(/^RESOURCE_EXHAUSTED/);
    expect(order).toEqual(['released', 'finished']);
    await large.stream.leave();
  });
});

test('journals of runs that are resumed are read few at a time', async () => {
  const store = new MemoryStore();
  const { runner } = runnerOn({ store });
  const runIds: string[] = [];
  for (let bytes = 100; bytes < 100 + 3 * limits.journalReadsMax; bytes++) {
    const { stream, runId } = await begun(runner, calling(1, bytes));
    stream.answer(0, { tag: 'Waiting' });
    await stream.until('Waiting');
    runIds.push(runId);
  }
  const journal = store.journal.bind(store);
  let reading = 0;
  let most = 0;
  store.journal = async (runId) => {
    most = Math.max(most, ++reading);
    await turns(3);
    reading--;
    return await journal(runId);
  };
  const resumed = runIds.map((runId) => new Stream((o, s) => runner.resume(resumeOf(runId), o, s)));
  await Promise.all(resumed.map((stream) => stream.until('Call')));
  expect(most).toBe(limits.journalReadsMax);
  await Promise.all(resumed.map((stream) => stream.leave()));
});

test('a session hears one event of its sandbox at a time while there is no room', async () => {
  const room = Promise.withResolvers<void>();
  const heard: string[] = [];
  const step = {
    tag: 'Step',
    delivered: 0,
    calls: [],
    logs: [],
    atRest: false,
    cost: { cpuMs: 1, memoryBytes: 1 },
  };
  const attempt = {
    events: (async function* () {
      for (let count = 0; count < 3; count++) yield { ...step, tag: 'Step' } as const;
    })(),
    deliver: () => Promise.resolve(),
    kill: () => {},
  };
  const { promise: lost, resolve } = Promise.withResolvers<unknown>();
  const session = new SandboxSession({ execute: () => attempt }, await storedRun(), {
    event: ({ tag }) => void heard.push(tag),
    room: () => room.promise,
    cost: () => {},
    lost: resolve,
  });
  session.begin([]);
  await turns(10);
  expect(heard).toEqual(['SandboxStep']);
  room.resolve();
  await lost;
  expect(heard).toEqual(['SandboxStep', 'SandboxStep', 'SandboxStep', 'SandboxLost']);
});

async function storedRun() {
  const { runner } = runnerOn();
  const { events } = await play(
    (o, s) => runner.start(startOf('return 1'), o, s),
    () => undefined,
  );
  const [accepted] = events;
  if (accepted?.tag !== 'Accepted') throw new Error('not accepted');
  return accepted.run;
}

describe('with real sandboxes', () => {
  let sandbox: RealSandbox;
  beforeAll(async () => {
    sandbox = await startRealSandbox();
  });
  afterAll(() => sandbox.stop());

  test('programs that flood their runs with calls stay within the bound together, beside one that does not', async () => {
    const heldBytesMax = 4 * 2 ** 20;
    const piece = limits.stepPieceBytes + 2 ** 20;
    const { runner } = runnerOn({ sandbox: sandbox.client, settings: { heldBytesMax } });
    let most = 0;
    const seen = () => {
      most = Math.max(most, runner.heldBytes);
    };
    const small = await begun(runner, calling(1, 100));
    const floods = [900_001, 900_002, 900_003].map((bytes) => starting(runner, calling(100, bytes)));
    const watch = setInterval(seen, 1);
    const ends = await Promise.all(floods.map(codeOf));
    clearInterval(watch);
    expect(ends).toEqual(
      floods.map(() => expect.stringMatching(/^RESOURCE_EXHAUSTED The runs of this instance/)),
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(heldBytesMax + 4 * piece);
    small.stream.answer(0, one);
    expect(resultOf(await small.stream.until('Finished'))).toMatchObject({ valueJson: '1' });
  });
});
