/** What a person reads after the all-in-one start. */
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { Folder, Service } from '../edges/processes.ts';

const folder = new Folder();
afterAll(() => folder.remove());

test.each([
  [{}, process.platform === 'linux' ? /^locked$/ : /^not locked/],
  [{ SANDBOX_SECCOMP_LOG_ONLY: 'true' }, /^not locked, for want of .*seccomp/],
])(
  'the all-in-one start with %j says where the sandbox listens and how it is locked',
  async (settings, lock) => {
    const service = new Service('services/embedded/main.ts', {
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      CODE_RUN_HTTP_ADDRESS: 'off',
      CODE_RUN_STORE: 'sqlite::memory:',
      CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
      SANDBOX_DRAIN_MS: '0',
      TMPDIR: folder.path,
      ...settings,
    });
    try {
      if (service.child.stdout === null) throw new Error('no standard output');
      const said = new Map<string, string>();
      for await (const line of createInterface(service.child.stdout)) {
        const [, name = '', value = ''] = /^(\w+) {2,}(.*)$/.exec(line) ?? [];
        said.set(name, value);
        if (line.includes('Ctrl-C')) break;
      }
      expect(said.get('Sandbox')).toMatch(
        new RegExp(`^unix:${folder.path}/code-mode-\\d+-\\w+/sandbox\\.sock$`),
      );
      expect(said.get('Lock')).toMatch(lock);
    } finally {
      await service.stop();
    }
  },
  30_000,
);
