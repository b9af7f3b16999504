/** The sandbox as an ordinary user, and inside namespaces of its own with a read-only root. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const run = promisify(execFile);
const node = process.execPath;
const script = 'test/sandbox/one-of-each.ts';
const isRoot = process.geteuid?.() === 0;
const has = (...command: [string, ...string[]]) => spawnSync(command[0], command.slice(1)).status === 0;

const allHeld = {
  'fresh-process': 'HELD',
  environment: 'HELD',
  jitless: 'HELD',
  limits: 'HELD',
  'processor-budget': 'HELD',
  'no-new-privileges': 'HELD',
  'no-descriptors': 'HELD',
  seccomp: 'HELD',
};
const ends = ['RETURNED', 'TIMEOUT', 'MEMORY'];

async function outcome(command: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(command, [...args], { env: { PATH: process.env['PATH'] } });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

describe.runIf(process.platform === 'linux')('the sandbox holds', () => {
  test('as whoever runs the tests', async () => {
    expect(await outcome(node, ['--no-warnings', script])).toMatchObject({
      locked: true,
      states: allHeld,
      ends,
    });
  });

  test.runIf(isRoot && has('setpriv', '--version'))('as an ordinary user', async () => {
    const user = ['--reuid', '1000', '--regid', '1000', '--clear-groups'];
    const seen = await outcome('setpriv', [...user, node, '--no-warnings', script]);
    expect(seen).toMatchObject({ uid: 1000, locked: true, states: { ...allHeld, identity: 'HELD' }, ends });
  });

  test.runIf(
    isRoot &&
      has('ip', '-V') &&
      has('unshare', '--user', '--map-root-user', '--mount', '--pid', '--net', '--fork', 'true'),
  )('in namespaces of its own with a read-only root', async () => {
    const inside = [
      'set -e',
      'ip link set lo up',
      'mount -o remount,ro,bind /',
      '! touch /tmp/written 2>/dev/null',
      `exec ${node} --no-warnings ${script}`,
    ].join('; ');
    const namespaces = ['--user', '--map-root-user', '--mount', '--pid', '--net', '--fork', '--mount-proc'];
    const seen = await outcome('unshare', [...namespaces, 'bash', '-c', inside]);
    // Root is the only user there is in this namespace.
    expect(seen).toMatchObject({ locked: true, states: { ...allHeld, identity: 'ABSENT' }, ends });
  });
});
