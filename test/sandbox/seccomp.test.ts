import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assemble, encode } from '../../services/sandbox/jail/seccomp/assemble.ts';
import { policy } from '../../services/sandbox/jail/seccomp/policy.ts';
import { type Architecture, architectureOf } from '../../services/sandbox/jail/seccomp/syscalls.ts';
import { unmarkedFilter } from '../../services/sandbox/jail/seccomp/unmarked.ts';
import { nameOfAction, runFilter } from './bpf.ts';

const pid = 4711;

/** What is let through whatever its arguments are, written down a second time. */
const allowed = `read write futex madvise munmap clock_gettime mremap brk rt_sigprocmask rt_sigreturn
  restart_syscall sched_yield sched_getaffinity sched_getscheduler sched_getparam getcpu getpid gettid
  set_robust_list rseq getrandom gettimeofday clock_getres clock_nanosleep getrusage exit exit_group`.split(
  /\s+/,
);
const refused: Readonly<Record<string, string>> = {
  rt_sigaction: 'errno 13',
  fstat: 'errno 13',
  lseek: 'errno 13',
  ioctl: 'errno 13',
  fcntl: 'errno 13',
  sigaltstack: 'errno 13',
  sysinfo: 'errno 13',
  uname: 'errno 13',
  openat: 'errno 13',
  newfstatat: 'errno 13',
  statx: 'errno 13',
  readlinkat: 'errno 13',
  faccessat2: 'errno 13',
};
const refusedOnX64 = ['open', 'stat', 'lstat', 'readlink', 'access'];
/** Judged by their arguments. */
const judged = ['mmap', 'mprotect', 'kill', 'tgkill', 'prctl', 'prlimit64'];

for (const name of ['x64', 'arm64']) {
  describe(`the filter for ${name}`, () => {
    const architecture = architectureOf(name) as Architecture;
    const judge = filterOf(architecture, { jit: false, threads: false, logOnly: false });
    const call = (syscall: string, ...args: (number | bigint)[]) =>
      judge(numberOf(architecture, syscall), args);

    test('lets through what is on the list and nothing else', () => {
      const byNumber = new Map(Object.entries(architecture.syscalls).map(([key, value]) => [value, key]));
      for (let number = 0; number < 1024; number++) {
        const syscall = byNumber.get(number) ?? '';
        if (judged.includes(syscall)) continue;
        const expected = allowed.includes(syscall)
          ? 'allow'
          : (refused[syscall] ?? (refusedOnX64.includes(syscall) ? 'errno 13' : 'kill'));
        expect(judge(number, [0, 0, 0]), `${number} ${syscall}`).toBe(expected);
      }
    });

    test('has a number for every call that it lets through', () => {
      for (const syscall of [...allowed, ...judged]) expect(architecture.syscalls).toHaveProperty(syscall);
    });

    test('makes no memory executable', () => {
      for (const syscall of ['mmap', 'mprotect']) {
        expect(call(syscall, 0, 4096, 3)).toBe('allow');
        for (const protection of [4, 5, 6, 7, 0x0100_0004])
          expect(call(syscall, 0, 4096, protection)).toBe('kill');
      }
      const withJit = filterOf(architecture, { jit: true, threads: false, logOnly: false });
      expect(withJit(numberOf(architecture, 'mprotect'), [0, 4096, 5])).toBe('allow');
    });

    test('lets a signal go to the process itself alone', () => {
      for (const syscall of ['kill', 'tgkill']) {
        expect(call(syscall, pid, 6)).toBe('allow');
        // The kernel looks at 32 bits of a process id.
        expect(call(syscall, BigInt(pid) | (1n << 32n), 6)).toBe('allow');
        for (const other of [0, 1, -1, -pid, pid + 1]) expect(call(syscall, other, 6)).toBe('kill');
      }
    });

    test('lets limits be read and not set, of nobody else', () => {
      const somewhere = 0x7fff_0000_1000n;
      expect(call('prlimit64', 0, 2, 0, somewhere)).toBe('allow');
      expect(call('prlimit64', 0, 2, somewhere, 0)).toBe('errno 1');
      // A pointer whose low half is zero is no null pointer.
      expect(call('prlimit64', 0, 2, 1n << 32n, 0)).toBe('errno 1');
      expect(call('prlimit64', 1, 2, 0, somewhere)).toBe('errno 1');
    });

    test('lets names be set, and nothing else of the process', () => {
      expect(call('prctl', 15)).toBe('allow');
      expect(call('prctl', 0x53564d41)).toBe('allow');
      for (const option of [1, 4, 8, 22, 24, 38, 59]) expect(call('prctl', option)).toBe('errno 1');
    });

    test('ends a call by another convention', () => {
      const other = name === 'x64' ? 0xc000_00b7 : 0xc000_003e;
      const read = numberOf(architecture, 'read');
      expect(judge(read, [], other)).toBe('kill');
      expect(judge(read, [], 0x4000_0003)).toBe('kill'); // i386
      if (name === 'x64') expect(judge(read | 0x4000_0000, [])).toBe('kill'); // x32
    });

    test('only logs what it would end, if told so', () => {
      const logging = filterOf(architecture, { jit: false, threads: false, logOnly: true });
      expect(logging(numberOf(architecture, 'socket'), [1, 1, 0])).toBe('log');
      expect(logging(numberOf(architecture, 'openat'), [0, 0, 0])).toBe('errno 13');
      expect(logging(numberOf(architecture, 'read'), [])).toBe('allow');
    });

    test('gives a verdict on anything, and never lets an unknown call through', () => {
      const known = new Set(Object.values(architecture.syscalls));
      fc.assert(
        fc.property(
          fc.integer({ min: 0, max: 0xffff_ffff }),
          fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 6, maxLength: 6 }),
          (number, args) => known.has(number) || judge(number, args) === 'kill',
        ),
        { numRuns: 2000 },
      );
    });

    test('is short enough for the kernel', () => {
      expect(
        assemble(policy({ jit: false, threads: false }), architecture, { logOnly: false }).length,
      ).toBeLessThan(4096);
    });
  });
}

test.each(['x64', 'arm64'])(
  'the filter of a zygote for %s makes no mark and lets all else through',
  (name) => {
    const architecture = architectureOf(name) as Architecture;
    const { bytes } = unmarkedFilter(architecture);
    const madvise = numberOf(architecture, 'madvise');
    const judge = (number: number, advice: bigint) =>
      nameOfAction(
        runFilter(bytes, { number, architecture: architecture.audit, args: [4096n, 4096n, advice] }),
      );
    expect(judge(madvise, 10n)).toBe('errno 0');
    for (const advice of [0n, 4n, 9n, 11n]) expect(judge(madvise, advice)).toBe('allow');
    for (let number = 0; number < 1024; number++) {
      if (number !== madvise) expect(judge(number, 10n)).toBe('allow');
    }
  },
);

function filterOf(architecture: Architecture, options: { jit: boolean; threads: boolean; logOnly: boolean }) {
  const filter = encode(assemble(policy(options), architecture, options));
  filter.patchPid(pid);
  return (number: number, args: readonly (number | bigint)[], audit = architecture.audit) =>
    nameOfAction(runFilter(filter.bytes, { number, architecture: audit, args: args.map(BigInt) }));
}

function numberOf(architecture: Architecture, syscall: string): number {
  return architecture.syscalls[syscall] ?? -1;
}
