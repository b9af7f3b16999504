import { afterEach, describe, expect, test } from 'vitest';
import { completed, type Outcome, startTestSandbox, type TestSandbox } from './kit.ts';
import { descendants, firstOf, lives } from './processes.ts';

const waiting = 'await apps.notes.read({}); return 1;';
const sandboxes: TestSandbox[] = [];
afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.stop();
});

async function start(env: Record<string, string> = {}): Promise<TestSandbox> {
  const sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '1', ...env });
  sandboxes.push(sandbox);
  return sandbox;
}

/** Runs a program that waits for one call; `answer` lets it go on. */
function hold(sandbox: TestSandbox) {
  const called = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<Outcome>();
  const ran = sandbox.run(waiting, {
    answer: () => {
      called.resolve();
      return outcome.promise;
    },
  });
  ran.catch(() => {});
  return { ran, called: called.promise, answer: () => outcome.resolve(completed({})) };
}

describe('a full sandbox', () => {
  test('lets jobs wait in order and refuses one more', async () => {
    const sandbox = await start({ SANDBOX_RUNNING_MAX: '1', SANDBOX_QUEUED_MAX: '2' });
    const first = hold(sandbox);
    await first.called;
    const order: number[] = [];
    const queued = async (count: number) =>
      expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.queued).toBe(count);
    const second = sandbox.run('return 2;').then(() => order.push(2));
    await queued(1);
    const third = sandbox.run('return 3;').then(() => order.push(3));
    await queued(2);
    await expect(sandbox.run('return 4;')).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: 'the sandbox is full: 1 programs run and 2 wait; try again later',
    });
    first.answer();
    await Promise.all([first.ran, second, third]);
    expect(order).toEqual([2, 3]);
  });

  test('forgets a job whose caller went away while it waited', async () => {
    const sandbox = await start({ SANDBOX_RUNNING_MAX: '1', SANDBOX_QUEUED_MAX: '1' });
    const first = hold(sandbox);
    await first.called;
    const controller = new AbortController();
    const second = sandbox.run('return 2;', { signal: controller.signal });
    await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.queued).toBe(1);
    controller.abort();
    await expect(second).rejects.toThrow();
    await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.queued).toBe(0);
    first.answer();
    expect((await first.ran).value).toBe(1);
  });
});

test('a sandbox that ends refuses what waits at once, and lets what runs end', async () => {
  const sandbox = await startTestSandbox({
    SANDBOX_RUNNING_MAX: '2',
    SANDBOX_READY_TARGET: '0',
    SANDBOX_DRAIN_MS: '30000',
  });
  const [one, two] = [hold(sandbox), hold(sandbox)];
  await Promise.all([one.called, two.called]);
  const waiting = Array.from({ length: 20 }, () => sandbox.run('return 1;').catch((error: unknown) => error));
  await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.queued).toBe(20);
  const stopped = sandbox.stop();
  for (const refused of await Promise.all(waiting)) {
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', message: 'the sandbox is shutting down' });
  }
  one.answer();
  two.answer();
  expect([(await one.ran).value, (await two.ran).value]).toEqual([1, 1]);
  await stopped;
});

test('a sandbox that ends while a child is made for a job says so', async () => {
  const sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '0', SANDBOX_CHILDREN: 'forked' });
  const ran = sandbox.run('return 1;', { memoryMb: 32 }); // For which a process must be prepared first.
  const told = expect(ran).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'the sandbox is shutting down',
  });
  await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.running).toBe(1);
  await sandbox.stop();
  await told;
});

test('runs with different limits do not hinder each other', async () => {
  const sandbox = await start();
  const settings = [16, 64, 200, 64, 32, 500].map((memoryMb, index) => ({
    memoryMb,
    timeoutMs: 1000 + index,
  }));
  const ran = await Promise.all(settings.map((setting) => sandbox.run('return "ran";', setting)));
  expect(ran.map((one) => one.value)).toEqual(settings.map(() => 'ran'));
});

test('a zygote that dies takes its programs along and is made again', async () => {
  const sandbox = await start({ SANDBOX_CHILDREN: 'forked' });
  const held = hold(sandbox);
  await held.called;
  const zygote = firstOf(descendants(process.pid));
  const children = descendants(zygote);
  expect(children.length).toBeGreaterThan(0);
  process.kill(zygote, 'SIGKILL');
  expect((await held.ran).reason).toBe('LOST');
  await expect.poll(() => children.some(lives)).toBe(false);
  expect((await sandbox.run('return 5;')).value).toBe(5);
});

test('a child that neither computes nor waits is stopped by the backstop', async () => {
  const sandbox = await start({ SANDBOX_BACKSTOP_FACTOR: '1', SANDBOX_BACKSTOP_GRACE_MS: '100' });
  const zygote = firstOf(descendants(process.pid));
  const stopAll = () => {
    for (const child of descendants(zygote)) process.kill(child, 'SIGSTOP');
  };
  const ran = await sandbox.run('console.log("begun"); for (;;);', { timeoutMs: 500, onStep: stopAll });
  expect(ran.reason).toBe('TIMEOUT');
});

test('a child that is killed from outside is lost, and nothing else is', async () => {
  const sandbox = await start({ SANDBOX_READY_TARGET: '0', SANDBOX_CHILDREN: 'forked' });
  const [held, other] = [hold(sandbox), hold(sandbox)];
  await Promise.all([held.called, other.called]);
  const zygote = firstOf(descendants(process.pid));
  const victim = firstOf(descendants(zygote));
  process.kill(victim, 'SIGKILL');
  other.answer();
  held.answer();
  const reasons = [(await held.ran).reason, (await other.ran).reason].sort();
  expect(reasons).toEqual(['LOST', 'RETURNED']);
});

test('nothing is left when the sandbox has stopped', async () => {
  const sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '3' });
  const held = hold(sandbox);
  await held.called;
  const told = expect(held.ran).rejects.toThrow('the sandbox is ending');
  await sandbox.stop();
  await told;
  await expect.poll(() => descendants(process.pid).length).toBe(0);
});
