/** Runs of a core that is not ours, on its one connection: those that flood it keep no other waiting. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Services, startServices } from './services.ts';

const runs = 8;
/** Of each of them, before it waits for answers. */
const floodBytes = 4 * 900_000;

let services: Services;
beforeEach(async () => {
  services = await startServices();
  await services.enable();
});
afterEach(() => services.stop());

async function heldBytes(): Promise<number> {
  const text = await (await fetch(`${services.httpUrl}/metrics`)).text();
  return Number(/^code_mode_held_bytes (\d+)$/m.exec(text)?.[1]);
}

/** What others get beside the floods; `flooded` resolves when those are under way. */
async function beside(way: string, flooded: () => Promise<void>): Promise<unknown> {
  const script = join(import.meta.dirname, 'foreign-core.ts');
  const args = ['--no-warnings', script, services.grpcAddress, String(runs), way];
  const core = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    for await (const line of createInterface({ input: core.stdout })) {
      if (line !== 'busy') return JSON.parse(line);
      await flooded();
      core.stdin.write('go on\n');
    }
    return undefined;
  } finally {
    core.kill();
  }
}

const others = { value: 1, settings: 'settings' };

test('a core that reads nothing of old runs gets answers to everything else', async () => {
  const answers = await beside('unread', () =>
    vi.waitFor(async () => expect(await heldBytes()).toBeGreaterThan(runs * floodBytes), { timeout: 60_000 }),
  );
  expect(answers).toEqual({ ...others, callsAnswered: 0 });
}, 90_000);

test('a core that asks for turns gets answers beside runs whose calls never pause', async () => {
  const answers = await beside('incremental', async () => {});
  expect(answers).toEqual({ ...others, callsAnswered: expect.any(Number) });
  // By age, some 250 calls of the oldest come before the first three of the youngest; in turns, some 30.
  expect(answers).toHaveProperty(
    'callsAnswered',
    expect.toSatisfy((calls: number) => calls < runs * 20),
  );
}, 90_000);
