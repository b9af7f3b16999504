/** Attempts on one connection: those that send without pause keep no other waiting, in either direction. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './kit.ts';

const attempts = 8;
/** More than they can send in the time in which the others are answered. */
const callsEach = 1000;
/** Processor time that no attempt uses up here. */
const timeoutMs = 60_000;
const large = Buffer.from(JSON.stringify('x'.repeat(900_000)));

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.stop());

/** A new attempt and a plain call, on the connection that the old ones use. */
async function others(): Promise<unknown> {
  const [{ value }, { locked }] = await Promise.all([sandbox.run('return 1'), sandbox.client.getStatus({})]);
  return { value, locked };
}

/** Resolves when each of them has sent at least this many large ones; rejects when one ends. */
function busy(start: (count: () => void) => Promise<unknown>): Promise<unknown> {
  const each = () =>
    new Promise((resolve, reject) => {
      let left = 3;
      const count = () => {
        left -= 1;
        if (left === 0) resolve(undefined);
      };
      start(count).then(() => reject(new Error('it ended')), reject);
    });
  const all = Promise.all(Array.from({ length: attempts }, each));
  all.catch(() => {});
  return all;
}

test('a new attempt is answered beside old ones whose calls never pause', async () => {
  const over = new AbortController();
  const program = `const text = 'x'.repeat(900_000);
    await Promise.all(Array.from({ length: ${callsEach} }, () => apps.notes.read({ text })));`;
  let calls = 0;
  await busy((count) => {
    // No answer: the calls go on coming.
    const answer = () => {
      calls += 1;
      count();
      return undefined;
    };
    return sandbox.run(program, { timeoutMs, answer, signal: over.signal });
  });
  expect(await others()).toEqual({ value: 1, locked: true });
  expect(calls).toBeLessThan(attempts * callsEach);
  over.abort(new Error('enough'));
}, 60_000);

test('a new attempt is answered beside old ones whose results never pause', async () => {
  const over = new AbortController();
  const program = 'for (;;) await Promise.all(Array.from({ length: 16 }, () => apps.notes.read()))';
  await busy((count) => {
    const answer = () => {
      count();
      return { case: 'completed', value: large } as const;
    };
    return sandbox.run(program, { timeoutMs, answer, signal: over.signal });
  });
  expect(await others()).toEqual({ value: 1, locked: true });
  over.abort(new Error('enough'));
}, 60_000);
