/**
 * What a program could do that had already escaped: system calls made natively inside a locked child, first
 * with everything on, then with the filter only logging, so that the layers under it are seen to hold alone.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { policy } from '../../services/sandbox/jail/seccomp/policy.ts';
import { architectureOf } from '../../services/sandbox/jail/seccomp/syscalls.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { ForkedChildren } from '../../services/sandbox/pool/forked-children.ts';
import { probe } from '../../services/sandbox/pool/self-test.ts';

const nobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
const anybodyMayUnshare =
  spawnSync(
    process.geteuid?.() === 0 ? 'setpriv' : 'unshare',
    process.geteuid?.() === 0 ? [...nobody, 'unshare', '--user', 'true'] : ['--user', 'true'],
  ).status === 0;

const EPERM = 1;
const EACCES = 13;
const EMFILE = 24;
/** uretprobe and uprobe: newer kernels ask no filter about them. Outside a probe's own code they only fail. */
const unfiltered = [335, 336];
const AT_FDCWD = -100;
/** CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID and CHILD_CLEARTID: as the C library asks. */
const pthreadFlags = 0x3d_0f_00;

let program: ChildProgram;
let realm: string;
beforeAll(async () => {
  realm = (await buildRealmText()).text;
  program = await ChildProgram.bundle({ jit: false });
});

function children(logOnly: boolean): Promise<ForkedChildren> {
  return ForkedChildren.listen(program, { realm, jit: false, logOnly });
}

// Numbers of x86-64; the filter's table for arm64 is proved by seccomp.test.ts.
describe.runIf(process.arch === 'x64')('in a locked child', () => {
  let source: ForkedChildren;
  beforeAll(async () => {
    source = await children(false);
  });
  afterAll(() => source.close());

  test.for<[string, number, (number | bigint | 'text')[], string?]>([
    ['rt_sigaction, to survive the budget', 13, [27, 'text', 0, 8], '\u0001'],
    ['openat', 257, [AT_FDCWD, 'text', 0], '/etc/passwd'],
    ['open', 2, ['text', 0], '/proc/self/mem'],
    ['open for writing', 2, ['text', 0o1101, 0o600], '/tmp/escaped'],
    ['stat', 4, ['text', 0], '/etc'],
    ['readlink', 89, ['text', 0, 0], '/proc/self/exe'],
  ])('%s is refused', async ([, number, args, text]) => {
    const { errno, exit } = await probe(source, number, args, text);
    expect(errno).toBe(EACCES);
    expect(exit.code).toBe(0);
  });

  test.for<[string, number, (number | bigint | 'text')[], string?]>([
    ['openat2', 437, [AT_FDCWD, 'text', 0, 24], '/etc/passwd'],
    ['socket', 41, [2, 1, 0]],
    ['execve', 59, ['text', 0, 0], '/bin/sh'],
    ['fork', 57, []],
    ['vfork', 58, []],
    ['clone of a process', 56, [17]],
    ['clone into a user namespace', 56, [0x1000_0011]],
    ['clone of a thread', 56, [pthreadFlags]],
    ['clone3', 435, ['text', 88], '\0'.repeat(88)],
    ['ptrace', 101, [16, 1]],
    ['executable memory', 9, [0, 4096, 7, 0x22, -1, 0]],
    ['memory made executable', 10, [0, 4096, 5]],
    ['a signal to init', 62, [1, 0]],
    ['a signal to everyone', 62, [-1, 9]],
    ['io_uring_setup', 425, [8, 0]],
    ['bpf', 321, [0, 0, 0]],
    ['unshare of a user namespace', 272, [0x1000_0000]],
    ['setuid', 105, [0]],
    ['setitimer, to have more time', 38, [2, 0, 0]],
    ['setrlimit, to have more memory', 160, [2, 0]],
    ['pidfd_open', 434, [1, 0]],
    ['process_vm_readv', 310, [1, 0, 0, 0, 0, 0]],
    ['memfd_create', 319, ['text', 0], 'x'],
    ['userfaultfd', 323, [0]],
    ['mount', 165, ['text', 'text', 'text', 0, 0], 'proc'],
    ['seccomp, to change the filter', 317, [0, 0, 0]],
    ['the i386 way in', 0x4000_0000, []],
  ])('%s ends it', async ([, number, args, text]) => {
    const { errno, exit } = await probe(source, number, args, text);
    expect(errno).toBeUndefined();
    expect(exit.signal).toBe('SIGSYS');
  });

  test('every other system call ends it', { timeout: 120_000 }, async () => {
    const syscalls = architectureOf('x64')?.syscalls ?? {};
    const named = new Set(
      policy({ jit: false, threads: false }).flatMap((rule) => rule.syscalls.map((name) => syscalls[name])),
    );
    const others = Array.from({ length: 470 }, (_, number) => number).filter(
      (number) => !named.has(number) && !unfiltered.includes(number),
    );
    expect(others.length).toBeGreaterThan(400);
    const signals = new Map<number, string>();
    const next = others.values();
    const worker = async () => {
      for (const number of next) {
        const { exit } = await probe(source, number, []);
        signals.set(number, exit.signal ?? `code ${exit.code}`);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    expect([...signals].filter(([, signal]) => signal !== 'SIGSYS')).toEqual([]);
    expect(signals.size).toBe(others.length);
  });

  test('limits and privileges cannot be changed by what is let through', async () => {
    expect((await probe(source, 'prlimit64', [0, 2, 'text', 0])).errno).toBe(EPERM);
    expect((await probe(source, 'prctl', [4, 1])).errno).toBe(EPERM);
  });
});

describe.runIf(process.arch === 'x64')('under a filter that only logs', () => {
  let source: ForkedChildren;
  beforeAll(async () => {
    source = await children(true);
  });
  afterAll(() => source.close());

  test.for<[string, string, number, number, (number | bigint | 'text')[], string?]>([
    ['landlock', 'runs no file', EACCES, 59, ['text', 0, 0], '/bin/sh'],
    ['landlock', 'makes no folder', EACCES, 83, ['text', 0o700], '/tmp/escaped'],
    ['landlock', 'cuts no file', EACCES, 76, ['text', 0], '/etc/passwd'],
    ['no-descriptors', 'opens no file', EMFILE, 85, ['text', 0o600], '/tmp/escaped'],
    ['no-descriptors', 'makes no socket', EMFILE, 41, [2, 2, 0]],
    ['no-descriptors', 'makes no pipe', EMFILE, 22, ['text'], '12345678'],
    ['no-descriptors', 'makes no memory file', EMFILE, 319, ['text', 0], 'x'],
    ['no-descriptors', 'copies no descriptor', EMFILE, 32, [3]],
    ['identity', 'sends init no signal', EPERM, 62, [1, 0]],
    ['identity', 'becomes nobody else', EPERM, 105, [0]],
    ['identity', 'mounts nothing', EPERM, 165, ['text', 'text', 'text', 0, 0], 'proc'],
    ['identity', 'traces nobody', EPERM, 101, [16, 1]],
    ['identity', 'makes no PID namespace', EPERM, 56, [0x2000_0011]],
    ['identity', 'makes no network namespace', EPERM, 272, [0x4000_0000]],
    ['identity', 'makes no mount namespace', EPERM, 272, [0x2_0000]],
    ['limits', 'cannot raise a limit', EPERM, 160, [7, 'text'], `\x40${'\0'.repeat(7)}\x40${'\0'.repeat(7)}`],
  ])('%s %s', async ([, , expected, number, args, text]) => {
    const { errno } = await probe(source, number, args, text);
    expect(errno).toBe(expected);
  });

  // What the filter alone refuses, so that it goes through here: a copy of the process, under the same layers as
  // the process itself, and a user namespace where the host lets anybody have one.
  test.for<[string, number, (number | bigint)[]]>([
    ['fork', 57, []],
    ['clone of a process', 56, [17]],
    ['clone into a user namespace', 56, [0x1000_0011]],
    ['unshare of a user namespace', 272, [0x1000_0000]],
  ])('no other layer knows of %s', async ([name, number, args]) => {
    const { errno, exit } = await probe(source, number, args);
    expect(errno).toBe(name.endsWith('user namespace') && !anybodyMayUnshare ? EPERM : 0);
    expect(exit.code).toBe(0);
  });

  test('landlock removes no file that everyone may remove', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'escaped-'));
    try {
      chmodSync(folder, 0o777);
      const file = join(folder, 'file');
      writeFileSync(file, '');
      expect((await probe(source, 87, ['text'], file)).errno).toBe(EACCES);
      expect(existsSync(file)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
