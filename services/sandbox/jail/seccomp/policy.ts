/**
 * What a locked child may ask of the kernel, as data. A call that no rule names ends the process.
 *
 * P1  No way to a descriptor, another process, a file, a socket or executable memory.
 * P2  A call that a runtime makes in passing and can do without gets an error; one that only an attacker
 *     makes ends the process.
 */

const EPERM = 1;
const EACCES = 13;

const PROT_EXEC = 4;
const PR_SET_NAME = 15;
const PR_SET_VMA = 0x53_56_4d_41;

export type Verdict = 'allow' | 'kill' | { readonly errno: number };

/** A check on one argument; 32 bits unless said otherwise, which is what the kernel itself looks at there. */
export type Check =
  | { readonly argument: number; readonly equals: readonly number[] | 'ownPid' }
  | { readonly argument: number; readonly withoutBits: number }
  | { readonly argument: number; readonly isNull: true };

/** `verdict` where every check holds, `otherwise` where one does not. */
export interface Rule {
  readonly syscalls: readonly string[];
  readonly when: readonly Check[];
  readonly verdict: Verdict;
  readonly otherwise: Verdict;
}

export interface PolicyOptions {
  /** The engine may make machine code: memory may become executable. */
  readonly jit: boolean;
  /** The process has other threads, asleep in event loops of their own. */
  readonly threads: boolean;
}

export function policy({ jit, threads }: PolicyOptions): readonly Rule[] {
  return [
    // Most frequent first: the filter is a list.
    allow('read', 'write', 'futex', 'madvise', 'munmap', 'clock_gettime'),
    jit
      ? allow('mmap', 'mprotect', 'pkey_mprotect')
      : {
          syscalls: ['mmap', 'mprotect'],
          when: [{ argument: 2, withoutBits: PROT_EXEC }],
          verdict: 'allow',
          otherwise: 'kill',
        },
    allow('mremap', 'brk', 'rt_sigprocmask', 'rt_sigreturn', 'restart_syscall'),
    allow('sched_yield', 'sched_getaffinity', 'sched_getscheduler', 'sched_getparam', 'getcpu'),
    allow('getpid', 'gettid', 'set_robust_list', 'rseq', 'getrandom'),
    allow('gettimeofday', 'clock_getres', 'clock_nanosleep', 'getrusage'),
    allow('exit', 'exit_group'),
    ...(threads ? [allow('epoll_wait', 'epoll_pwait')] : []),
    // abort() and an emulated crash: a signal to nobody but itself.
    {
      syscalls: ['kill', 'tgkill'],
      when: [{ argument: 0, equals: 'ownPid' }],
      verdict: 'allow',
      otherwise: 'kill',
    },
    // Names of threads and of memory areas.
    {
      syscalls: ['prctl'],
      when: [{ argument: 0, equals: [PR_SET_NAME, PR_SET_VMA] }],
      verdict: 'allow',
      otherwise: { errno: EPERM },
    },
    // Reading its own limits.
    {
      syscalls: ['prlimit64'],
      when: [
        { argument: 0, equals: [0] },
        { argument: 2, isNull: true },
      ],
      verdict: 'allow',
      otherwise: { errno: EPERM },
    },
    // An engine out of memory puts signals back to what they were before it gives up. It must not be let: a
    // signal that is ignored is a budget that does not end. Nor may it be ended: it would look like an escape.
    always({ errno: EACCES }, 'rt_sigaction'),
    // What the C library asks when it prints or sorts, as in a last message about memory.
    always({ errno: EACCES }, 'fstat', 'lseek', 'ioctl', 'fcntl', 'sigaltstack', 'sysinfo', 'uname'),
    // Looks at files in passing: time zones, proc.
    always({ errno: EACCES }, 'openat', 'newfstatat', 'statx', 'readlinkat', 'faccessat2'),
    always({ errno: EACCES }, 'open', 'stat', 'lstat', 'readlink', 'access'),
  ];
}

function allow(...syscalls: readonly string[]): Rule {
  return always('allow', ...syscalls);
}

function always(verdict: Verdict, ...syscalls: readonly string[]): Rule {
  return { syscalls, when: [], verdict, otherwise: verdict };
}
