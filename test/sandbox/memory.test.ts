/** What memoryMb promises: a program may hold that much, and no process holds much more. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completed, startTestSandbox, type TestSandbox } from './kit.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '0' });
});
afterAll(() => sandbox.stop());

describe('a program may hold most of its memory', () => {
  for (const memoryMb of [16, 64, 256]) {
    const megabytes = Math.floor(memoryMb * 0.75);

    test(`as objects, of ${memoryMb} MB`, async () => {
      // A list of numbers that are no small integers takes eight bytes for each.
      const ran = await sandbox.run(
        `const all = []; for (let i = 0; i < ${megabytes}; i++) all.push(new Array(131072).fill(1.5)); return all.length;`,
        { memoryMb, timeoutMs: 60_000 },
      );
      expect(ran.value, ran.end.message).toBe(megabytes);
      expect(ran.end.memoryBytes).toBeGreaterThan(BigInt(megabytes * 1024 * 1024));
    });

    test(`as buffers, of ${memoryMb} MB`, async () => {
      const ran = await sandbox.run(
        `const all = []; for (let i = 0; i < ${megabytes}; i++) all.push(new Uint8Array(1048576).fill(i)); return all.length;`,
        { memoryMb, timeoutMs: 60_000 },
      );
      expect(ran.value, ran.end.message).toBe(megabytes);
    });
  }

  test('as the largest result of a call, where there is room for it', async () => {
    const text = 'x'.repeat(32 * 1024 * 1024 - 2);
    const ran = await sandbox.run('return (await apps.notes.read({})).length;', {
      memoryMb: 256,
      timeoutMs: 60_000,
      answer: () => completed(text),
    });
    expect(ran.value, ran.end.message).toBe(text.length);
  });

  test('as text that is no Latin', async () => {
    const text = '語'.repeat(10 * 1024 * 1024);
    const ran = await sandbox.run('return (await apps.notes.read({})).length;', {
      memoryMb: 256,
      timeoutMs: 60_000,
      answer: () => completed(text),
    });
    expect(ran.value, ran.end.message).toBe(text.length);
  });
});

test('an outcome one byte too large is refused', async () => {
  const text = 'x'.repeat(32 * 1024 * 1024 - 1);
  const ran = sandbox.run('return (await apps.notes.read({})).length;', { answer: () => completed(text) });
  await expect(ran).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    violations: [{ field: 'outcome.completed', description: 'at most 33554432 bytes' }],
  });
});
