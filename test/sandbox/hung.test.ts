/** Processes that hang before they are ready: real ones, stopped by a signal, and a clock that the test rings. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { JobSchema } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { checkJob } from '../../services/sandbox/grpc/job.ts';
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { Attempt, type AttemptEvent } from '../../services/sandbox/pool/attempt.ts';
import type { Child } from '../../services/sandbox/pool/child.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { ForkedChildren } from '../../services/sandbox/pool/forked-children.ts';
import { StartedChildren } from '../../services/sandbox/pool/started-children.ts';
import { Alarms } from './alarms.ts';
import { jobOf } from './kit.ts';
import { descendants, firstOf, lives } from './processes.ts';

const setting = { memoryMb: 64, timeoutMs: 5000 };
const notInTime = { name: 'NotInTime', message: 'a child was not ready within 30000 ms' };

let program: ChildProgram;
let realm: string;
beforeAll(async () => {
  program = await ChildProgram.bundle({ jit: false });
  realm = (await buildRealmText()).text;
});

/** The abstract name that this process listens on. */
function ownAbstractSocket(): string {
  const own = new Set(descriptorLinks().map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  for (const line of readFileSync('/proc/net/unix', 'latin1').split('\n')) {
    const [, , , , , , inode, name] = line.trim().split(/\s+/);
    if (own.has(inode) && name?.startsWith('@openbot-sandbox-')) return name.slice(1);
  }
  throw new Error('nothing listens');
}

function descriptorLinks(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return []; // The descriptor of the listing itself.
    }
  });
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function returnedBy(child: Child): Promise<string | undefined> {
  const job = checkJob(create(JobSchema, jobOf('return 42;')));
  const events: AttemptEvent[] = [];
  for await (const event of new Attempt(child, job, { factor: 100, graceMs: 1000 }).events())
    events.push(event);
  const end = events.at(-1);
  return end?.tag === 'End' ? end.verdict.value?.toString() : undefined;
}

const newPids = (before: readonly number[]) =>
  descendants(process.pid).filter((pid) => !before.includes(pid));

describe.runIf(process.platform === 'linux')('a prepared process that hangs', () => {
  test('fails who asks, makes no more children, and those that it has go on', async () => {
    const alarms = new Alarms();
    const source = await ForkedChildren.listen(program, { realm, jit: false, logOnly: false }, alarms.set);
    cleanups.push(() => source.close());
    const before = descendants(process.pid);
    const first = await source.make(setting);
    const zygote = firstOf(newPids(before).filter((pid) => pid !== first.child.pid));
    expect(alarms.times).toEqual([]);

    process.kill(zygote, 'SIGSTOP');
    const hung = source.make(setting);
    hung.catch(() => {});
    await expect.poll(() => alarms.times).toEqual([30_000]);
    alarms.ring();
    await expect(hung).rejects.toMatchObject(notInTime);

    const second = await source.make(setting);
    expect(await returnedBy(second.child)).toBe('42');
    expect(await returnedBy(first.child)).toBe('42');
    expect(lives(zygote)).toBe(true);
  });

  test('is ended when nobody needs it', async () => {
    const alarms = new Alarms();
    const source = await ForkedChildren.listen(program, { realm, jit: false, logOnly: false }, alarms.set);
    cleanups.push(() => source.close());
    const before = descendants(process.pid);
    const hung = source.make(setting);
    hung.catch(() => {});
    const zygote = firstOf(newPids(before));
    process.kill(zygote, 'SIGSTOP');
    await expect.poll(() => alarms.times).toEqual([30_000]);
    alarms.ring();
    await expect(hung).rejects.toMatchObject(notInTime);
    await expect.poll(() => lives(zygote)).toBe(false);
  });
});

test.runIf(process.platform === 'linux')(
  'a started child that hangs fails who asks, and is ended',
  async () => {
    const alarms = new Alarms();
    const role = { realm, jit: false, logOnly: false, lock: 'linux' } as const;
    const source = new StartedChildren(program, role, alarms.set);
    cleanups.push(() => source.close());
    const before = descendants(process.pid);
    const hung = source.make(setting);
    hung.catch(() => {});
    const pid = firstOf(newPids(before));
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => alarms.times).toEqual([30_000]);
    alarms.ring();
    await expect(hung).rejects.toMatchObject(notInTime);
    expect(lives(pid)).toBe(false);
    const { child } = await source.make(setting);
    expect(await returnedBy(child)).toBe('42');
  },
);

test.runIf(process.platform === 'linux')(
  'a stranger that connects and says nothing is shown out',
  async () => {
    const alarms = new Alarms();
    const source = await ForkedChildren.listen(program, { realm, jit: false, logOnly: false }, alarms.set);
    cleanups.push(() => source.close());
    const socket = connect({ path: `\0${ownAbstractSocket()}` });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await expect.poll(() => alarms.times).toEqual([20_000]);
    alarms.ring();
    await closed;
  },
);
