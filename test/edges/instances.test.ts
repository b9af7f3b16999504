/** Two instances on one store: a change of the settings on one counts on the other within a second. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RpcError } from '../../services/shared/grpc/status.ts';
import { play, resume, start, waiting } from './core.ts';
import { Folder } from './processes.ts';
import { type Services, startServices } from './services.ts';

let folder: Folder;
let one: Services;
let two: Services;
beforeAll(async () => {
  folder = new Folder();
  const store = {
    CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`,
    CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
  };
  one = await startServices(store);
  two = await startServices(store);
});
afterAll(async () => {
  await two?.stop();
  await one?.stop();
  folder.remove();
});

async function set(codeMode: { enabled?: boolean; memoryMb?: number }): Promise<number> {
  const { settings } = await one.admin.getSettings({});
  const paths = Object.keys(codeMode).map((name) => name.replace('memoryMb', 'memory_mb'));
  await one.admin.updateSettings({
    expectedVersion: settings?.version ?? 0n,
    codeMode,
    updateMask: { paths },
  });
  return performance.now();
}

/** Asks until the answer is the new one. What was asked more than a second after the change must have it. */
async function within(changedAtMs: number, isNew: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const askedAfterMs = performance.now() - changedAtMs;
    if (await isNew()) return;
    expect(askedAfterMs).toBeLessThan(1000);
  }
}

const startOnTwo = async () => await play(two.core, start('return 1'), () => undefined);
const refused = (work: Promise<unknown>) =>
  work.then(
    () => false,
    (error) => {
      if (!(error instanceof RpcError) || error.code !== 'UNAVAILABLE') throw error;
      return true;
    },
  );

test('a change of the settings counts on every instance within a second', async () => {
  expect(await refused(startOnTwo())).toBe(true); // The other instance knows the old ones.
  await within(await set({ enabled: true }), async () => !(await refused(startOnTwo())));
  await within(await set({ memoryMb: 80 }), async () => {
    const { last } = await startOnTwo();
    return last.case === 'finished' && last.value.run?.limits?.memoryMb === 80;
  });
});

test('turning off stops starts and resumes on every instance, and loses no run', async () => {
  await within(await set({ enabled: true }), async () => !(await refused(startOnTwo())));
  const { last } = await play(two.core, start('return await apps.notes.send({})'), () => waiting);
  if (last.case !== 'waiting') throw new Error('does not wait');
  const { runId } = last.value;
  const resumeOnTwo = () => play(two.core, resume(runId), () => waiting);
  await within(await set({ enabled: false }), () => refused(startOnTwo()));
  expect(await refused(resumeOnTwo())).toBe(true);
  await within(await set({ enabled: true }), async () => !(await refused(resumeOnTwo())));
});
