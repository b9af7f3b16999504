/** Every fork inherits all of the memory of its zygote, whenever the engine made it. */
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import type { bundle } from '../../services/sandbox/isolate/bundle.ts';
import { startTestSandbox } from './kit.ts';

const latePages = fileURLToPath(new URL('./late-pages-program.ts', import.meta.url));

// Everything is as it is in production but the text that children run.
vi.mock('../../services/sandbox/isolate/bundle.ts', async (original) => {
  const real = await original<{ bundle: typeof bundle }>();
  const taken: typeof bundle = (entry, options) =>
    real.bundle(entry.endsWith('isolate/main.ts') ? latePages : entry, options);
  return { bundle: taken };
});

test.runIf(process.platform === 'linux')(
  'a child lives on pages that the engine made right before the fork',
  async () => {
    const sandbox = await startTestSandbox({ SANDBOX_CHILDREN: 'forked', SANDBOX_READY_TARGET: '0' });
    try {
      for (let run = 0; run < 3; run++) {
        const ran = await sandbox.run('return Array.from({ length: 1e5 }, (_, i) => [i]).length;');
        expect(ran.value).toBe(1e5);
      }
    } finally {
      await sandbox.stop();
    }
  },
);
