import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../services/shared/limits.ts';
import { completed, jobOf, startTestSandbox, type TestSandbox } from './kit.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '2' });
});
afterAll(() => sandbox.stop());

test('a program returns its value', async () => {
  const ran = await sandbox.run('return { sum: 1 + 1 };');
  expect(ran.reason).toBe('RETURNED');
  expect(ran.value).toEqual({ sum: 2 });
  expect(ran.end.cpuMs).toBeLessThan(1000);
  expect(ran.end.memoryBytes).toBeGreaterThan(100_000n);
});

test('calls of a step come in one message and outcomes are delivered one at a time', async () => {
  const ran = await sandbox.run(
    'const r = await Promise.all([1,2,3].map((n) => apps.notes.read({ n }))); return r.map((x) => x.n);',
  );
  expect(ran.value).toEqual([1, 2, 3]);
  expect(ran.steps.map((step) => [step.delivered, step.calls.length, step.atRest])).toEqual([
    [0, 3, true],
    [1, 0, true],
    [2, 0, true],
  ]);
});

test('what has the longest name that there may be can be called', async () => {
  const name = `notes.${'x'.repeat(limits.bindingBytesMax - 'notes.'.length)}`;
  const ran = await sandbox.run('return await Object.values(apps.notes)[0]({ n: 1 });', { bindings: [name] });
  expect(ran.value).toEqual({ n: 1 });
  expect(ran.calls[0]?.binding).toBe(name);
});

test('a call fails with what the outcome says', async () => {
  const ran = await sandbox.run(
    'try { await apps.notes.read({}); } catch (e) { return [e.name, e.message]; }',
    {
      answer: () => ({ case: 'denied', value: { message: 'no' } }),
    },
  );
  expect(ran.value).toEqual(['AppCallDenied', 'no']);
});

test('a log line is heard while the program computes', async () => {
  let heard = false;
  const ran = await sandbox.run('console.log("begun"); for (;;);', {
    timeoutMs: 1000,
    onStep: (step) => {
      heard ||= step.logs[0]?.text === 'begun' && !step.atRest;
    },
  });
  expect(heard).toBe(true);
  expect(ran.reason).toBe('TIMEOUT');
});

test('a program that waits for nothing ends at once', async () => {
  const ran = await sandbox.run('await new Promise(() => {});');
  expect(ran.reason).toBe('ERROR');
});

test('a cancelled stream ends the child at once', async () => {
  const controller = new AbortController();
  const ran = sandbox.run('console.log("x"); for (;;);', {
    timeoutMs: 60_000,
    signal: controller.signal,
    onStep: () => controller.abort(),
  });
  await expect(ran).rejects.toThrow();
  await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.running).toBe(0);
});

test('a large result comes through', async () => {
  const ran = await sandbox.run('const r = await apps.notes.read({}); return r.length;', {
    memoryMb: 256,
    answer: () => completed('x'.repeat(8 << 20)),
  });
  expect(ran.value).toBe(8 << 20);
});

test('a sandbox that ends says so to its programs, and not that they were lost', async () => {
  const ending = await startTestSandbox({ SANDBOX_READY_TARGET: '1' });
  const call = ending.client.execute();
  await call.send({ message: { case: 'job', value: jobOf('await apps.notes.read({});') } });
  const responses = call.responses[Symbol.asyncIterator]();
  expect((await responses.next()).value).toMatchObject({ message: { case: 'started' } });
  const rest = (async () => {
    const cases: unknown[] = [];
    for (let next = await responses.next(); next.done !== true; next = await responses.next()) {
      cases.push(next.value.message.case);
    }
    return cases;
  })();
  const [stopped, ended] = await Promise.allSettled([ending.stop(), rest]);
  expect(stopped).toMatchObject({ status: 'fulfilled' });
  expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
});
