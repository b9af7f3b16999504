import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../sandbox/kit.ts';
import { readAttacks } from './catalogue.ts';
import { check, optionsOf } from './statements.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '3' });
});
afterAll(() => sandbox.stop());

describe.concurrent('an attack ends as it must, and harms nobody else:', () => {
  test.for(readAttacks())('$name', { timeout: 60_000 }, async (attack) => {
    const [ran, neighbour] = await Promise.all([
      sandbox.run(attack.program, optionsOf(attack)),
      sandbox.run('return (await apps.notes.read({ n: 41 })).n + 1;'),
    ]);
    check(attack, ran);
    expect(neighbour.value).toBe(42);
  });
});

test('after all attacks nothing runs any more', async () => {
  await expect.poll(async () => (await sandbox.client.getStatus({})).capacity?.running).toBe(0);
});
