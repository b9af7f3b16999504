/** Who has escaped and blocks the signal of the budget is ended all the same: by the kernel, and by the backstop. */
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { bundle } from '../../services/sandbox/isolate/bundle.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox/kit.ts';
import { descendants, lives } from '../sandbox/processes.ts';

const escaped = fileURLToPath(new URL('./escaped-program.ts', import.meta.url));

// Everything is as it is in production but the text that children run.
vi.mock('../../services/sandbox/isolate/bundle.ts', async (original) => {
  const real = await original<{ bundle: typeof bundle }>();
  const taken: typeof bundle = (entry, options) =>
    real.bundle(entry.endsWith('isolate/main.ts') ? escaped : entry, options);
  return { bundle: taken };
});

let sandbox: TestSandbox | undefined;
afterEach(async () => {
  await sandbox?.stop();
  sandbox = undefined;
});

const never = { SANDBOX_BACKSTOP_FACTOR: '1000', SANDBOX_BACKSTOP_GRACE_MS: '600000' };
const soon = { SANDBOX_BACKSTOP_FACTOR: '1', SANDBOX_BACKSTOP_GRACE_MS: '300' };

/** Runs it, and gives what the sandbox says and whether its process is gone. */
async function outstay(children: string, program: string, backstop: Record<string, string>) {
  const env = { SANDBOX_CHILDREN: children, SANDBOX_READY_TARGET: '0', ...backstop };
  sandbox = await startTestSandbox(env);
  const before = descendants(process.pid);
  let during: readonly number[] | undefined;
  const onStep = () => {
    during ??= descendants(process.pid).filter((pid) => !before.includes(pid));
  };
  const ran = await sandbox.run(program, { timeoutMs: 500, onStep });
  expect(ran.logs[0]).toBe('escaped');
  expect(during).toHaveLength(1);
  expect(during?.some(lives)).toBe(false);
  return { reason: ran.reason, cpuMs: ran.end.cpuMs };
}

for (const children of ['forked', 'started']) {
  describe.runIf(process.platform === 'linux')(
    `a ${children} child that has escaped and blocks SIGPROF`,
    () => {
      test('and computes is killed by the kernel', async () => {
        const { reason, cpuMs } = await outstay(children, 'compute', never);
        expect(reason).toBe('TIMEOUT');
        if (children === 'forked') expect(cpuMs).toBeLessThan(2500);
      });

      test('and computes is ended by the backstop', async () => {
        const { reason, cpuMs } = await outstay(children, 'compute', soon);
        expect(reason).toBe('TIMEOUT');
        if (children === 'forked') expect(cpuMs).toBeLessThan(1900);
      });

      test('and mostly sleeps, with a log line now and then, is ended by the backstop', async () => {
        const { reason } = await outstay(children, 'sleep', soon);
        expect(reason).toBe('TIMEOUT');
      });
    },
  );
}
