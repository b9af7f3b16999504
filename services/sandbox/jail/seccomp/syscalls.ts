/**
 * Numbers of system calls, from the kernel's own tables: arch/x86/entry/syscalls/syscall_64.tbl and
 * include/uapi/asm-generic/unistd.h (arm64 has no number for what the generic table left out).
 */
export interface Architecture {
  /** AUDIT_ARCH_* of include/uapi/linux/audit.h. */
  readonly audit: number;
  /** Set in the number of a call by another calling convention of the same architecture (x32). */
  readonly foreignBit: number | undefined;
  readonly syscalls: Readonly<Record<string, number>>;
}

const x64: Architecture = {
  audit: 0xc000_003e,
  foreignBit: 0x4000_0000,
  syscalls: {
    read: 0,
    write: 1,
    open: 2,
    close: 3,
    stat: 4,
    fstat: 5,
    lstat: 6,
    lseek: 8,
    mmap: 9,
    mprotect: 10,
    munmap: 11,
    brk: 12,
    rt_sigaction: 13,
    rt_sigprocmask: 14,
    rt_sigreturn: 15,
    ioctl: 16,
    access: 21,
    sched_yield: 24,
    mremap: 25,
    madvise: 28,
    getpid: 39,
    socket: 41,
    exit: 60,
    kill: 62,
    uname: 63,
    fcntl: 72,
    readlink: 89,
    gettimeofday: 96,
    getrusage: 98,
    sysinfo: 99,
    capset: 126,
    sigaltstack: 131,
    sched_getparam: 143,
    sched_getscheduler: 145,
    prctl: 157,
    gettid: 186,
    futex: 202,
    sched_getaffinity: 204,
    restart_syscall: 219,
    clock_gettime: 228,
    clock_getres: 229,
    clock_nanosleep: 230,
    exit_group: 231,
    epoll_wait: 232,
    tgkill: 234,
    openat: 257,
    newfstatat: 262,
    readlinkat: 267,
    set_robust_list: 273,
    epoll_pwait: 281,
    prlimit64: 302,
    getcpu: 309,
    seccomp: 317,
    getrandom: 318,
    pkey_mprotect: 329,
    statx: 332,
    rseq: 334,
    close_range: 436,
    pidfd_open: 434,
    openat2: 437,
    faccessat2: 439,
    landlock_create_ruleset: 444,
    landlock_restrict_self: 446,
  },
};

const arm64: Architecture = {
  audit: 0xc000_00b7,
  foreignBit: undefined,
  syscalls: {
    epoll_pwait: 22,
    fcntl: 25,
    ioctl: 29,
    openat: 56,
    close: 57,
    lseek: 62,
    read: 63,
    write: 64,
    readlinkat: 78,
    newfstatat: 79,
    fstat: 80,
    capset: 91,
    exit: 93,
    exit_group: 94,
    futex: 98,
    set_robust_list: 99,
    clock_gettime: 113,
    clock_getres: 114,
    clock_nanosleep: 115,
    sched_getscheduler: 120,
    sched_getparam: 121,
    sched_getaffinity: 123,
    sched_yield: 124,
    restart_syscall: 128,
    kill: 129,
    tgkill: 131,
    sigaltstack: 132,
    rt_sigaction: 134,
    rt_sigprocmask: 135,
    rt_sigreturn: 139,
    uname: 160,
    getrusage: 165,
    prctl: 167,
    getcpu: 168,
    gettimeofday: 169,
    getpid: 172,
    gettid: 178,
    sysinfo: 179,
    socket: 198,
    brk: 214,
    munmap: 215,
    mremap: 216,
    mmap: 222,
    mprotect: 226,
    madvise: 233,
    prlimit64: 261,
    seccomp: 277,
    getrandom: 278,
    pkey_mprotect: 288,
    statx: 291,
    rseq: 293,
    pidfd_open: 434,
    close_range: 436,
    openat2: 437,
    faccessat2: 439,
    landlock_create_ruleset: 444,
    landlock_restrict_self: 446,
  },
};

const architectures: Readonly<Record<string, Architecture>> = { x64, arm64 };

/** Undefined where the product has no table. `arch` is process.arch. */
export function architectureOf(arch: string): Architecture | undefined {
  return architectures[arch];
}

/** The number of a call that every table has. */
export function syscallNumber(architecture: Architecture, name: string): number {
  const number = architecture.syscalls[name];
  if (number === undefined) throw new Error(`no number for the system call ${name}`);
  return number;
}
