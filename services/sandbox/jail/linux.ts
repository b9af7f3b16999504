/**
 * What the jail asks of Linux, on top of libc.ts. Every buffer is made when this file is loaded, before any
 * fork, and none while a child locks itself.
 */
import ffi from 'node:ffi';
import { addressOf, errno, exitNow, LibcError } from './libc.ts';
import { type Architecture, architectureOf, syscallNumber } from './seccomp/syscalls.ts';

const found = architectureOf(process.arch);
if (process.platform !== 'linux' || found === undefined) {
  throw new Error(`no lock for ${process.platform} on ${process.arch}`);
}
export const architecture: Architecture = found;

const { functions: libc } = ffi.dlopen(null, {
  fork: { arguments: [], return: 'int32' },
  getpid: { arguments: [], return: 'int32' },
  getppid: { arguments: [], return: 'int32' },
  geteuid: { arguments: [], return: 'uint32' },
  kill: { arguments: ['int32', 'int32'], return: 'int32' },
  wait4: { arguments: ['int32', 'pointer', 'int32', 'pointer'], return: 'int32' },
  poll: { arguments: ['pointer', 'uint64', 'int32'], return: 'int32' },
  socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
  connect: { arguments: ['int32', 'pointer', 'uint32'], return: 'int32' },
  eventfd: { arguments: ['uint32', 'int32'], return: 'int32' },
  dup2: { arguments: ['int32', 'int32'], return: 'int32' },
  madvise: { arguments: ['uint64', 'uint64', 'int32'], return: 'int32' },
  setgroups: { arguments: ['uint64', 'pointer'], return: 'int32' },
  setresgid: { arguments: ['uint32', 'uint32', 'uint32'], return: 'int32' },
  setresuid: { arguments: ['uint32', 'uint32', 'uint32'], return: 'int32' },
  prctl: { arguments: ['int32', 'uint64', 'uint64', 'uint64', 'uint64'], return: 'int32' },
  signal: { arguments: ['int32', 'pointer'], return: 'pointer' },
  setrlimit: { arguments: ['int32', 'pointer'], return: 'int32' },
  syscall: {
    arguments: ['int64', 'int64', 'int64', 'int64', 'int64', 'int64', 'int64'],
    return: 'int64',
  },
});

export const { fork, getpid, geteuid, kill } = libc;

export const SIGKILL = 9;

/** Gives the result, or throws LibcError. */
export function must(call: string, result: number): number {
  if (result < 0) throw new LibcError(call, errno());
  return result;
}

/** Any system call by number, with up to six arguments; the result as the C library gives it. */
export function rawSyscall(number: number, args: readonly (number | bigint)[]): bigint {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = args;
  return libc.syscall(BigInt(number), BigInt(a), BigInt(b), BigInt(c), BigInt(d), BigInt(e), BigInt(f));
}

export function syscall(name: string, ...args: readonly (number | bigint)[]): number {
  return Number(rawSyscall(syscallNumber(architecture, name), args));
}

export function prctl(option: number, a = 0, b = 0): number {
  return libc.prctl(option, BigInt(a), BigInt(b), 0n, 0n);
}

const PR_SET_PDEATHSIG = 1;

/** From now on the kernel ends this process with its parent. A change of user undoes it: ask again after one. */
export function endWithParent(parent: number): void {
  must('pdeathsig', prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (libc.getppid() !== parent) exitNow(0); // It died before it could be asked to tell.
}

const SIG_DFL = 0n;
const SIG_ERR = 0xffff_ffff_ffff_ffffn;
/** What Node.js handles: SIGINT, SIGSEGV, SIGTERM. */
const handled = [2, 11, 15];

/**
 * Every signal ends the process, as what it is. Node.js's own handler of a crash puts the signal back to its
 * default first, which the lock forbids, and aborts on that: a crash would look like memory that is used up.
 */
export function clearHandlers(): void {
  for (const signal of handled) {
    if (libc.signal(signal, SIG_DFL) === SIG_ERR) throw new LibcError('signal', errno());
  }
}

/** An error of it may be none: it is the caller who knows. */
export function madvise(start: bigint, length: bigint, advice: number): void {
  libc.madvise(start, length, advice);
}

// ---- Descriptors ---------------------------------------------------------------------------------

/** Connects to an abstract Unix socket; gives the descriptor. */
export function connectAbstract(address: { readonly bytes: bigint; readonly length: number }): number {
  const AF_UNIX = 1;
  const SOCK_STREAM = 1;
  const fd = must('socket', libc.socket(AF_UNIX, SOCK_STREAM, 0));
  must('connect', libc.connect(fd, address.bytes, address.length));
  return fd;
}

/** struct sockaddr_un for a name in the abstract namespace. */
export function abstractAddress(name: string): { readonly bytes: bigint; readonly length: number } {
  const bytes = Buffer.alloc(2 + 1 + name.length);
  bytes.writeUInt16LE(1, 0);
  bytes.write(name, 3, 'latin1');
  return { bytes: addressOf(bytes), length: bytes.length };
}

export function newEventfd(): number {
  const EFD_NONBLOCK = 0o4000;
  return must('eventfd', libc.eventfd(0, EFD_NONBLOCK));
}

export function moveDescriptor(from: number, to: number): void {
  must('dup2', libc.dup2(from, to));
}

export function closeRange(first: number, last: number): void {
  if (first > last) return;
  must('close_range', syscall('close_range', first, last, 0));
}

// ---- Children ------------------------------------------------------------------------------------

const statusBuffer = Buffer.alloc(4);
const statusAddress = addressOf(statusBuffer);
const rusageBuffer = Buffer.alloc(144);
const rusageAddress = addressOf(rusageBuffer);

export interface Reaped {
  /** As waitpid gives it. */
  readonly status: number;
  readonly cpuMs: number;
  readonly residentKb: number;
}

/** Waits for a child that has ended. */
export function reap(pid: number): Reaped {
  must('wait4', libc.wait4(pid, statusAddress, 0, rusageAddress));
  const ms = (at: number) =>
    Number(rusageBuffer.readBigInt64LE(at)) * 1000 + Number(rusageBuffer.readBigInt64LE(at + 8)) / 1000;
  return {
    status: statusBuffer.readInt32LE(),
    cpuMs: Math.round(ms(0) + ms(16)),
    residentKb: Number(rusageBuffer.readBigInt64LE(32)),
  };
}

/** A descriptor that is readable when the child has ended; undefined: this process may open no more. */
export function openProcess(pid: number): number | undefined {
  const fd = syscall('pidfd_open', pid, 0);
  return fd < 0 ? undefined : fd;
}

export function closeDescriptor(fd: number): void {
  syscall('close', fd);
}

const pollEntryBytes = 8;
const POLLIN = 1;

/** Descriptors to wait for. */
export class PollSet {
  #buffer = Buffer.alloc(64 * pollEntryBytes);
  #address = addressOf(this.#buffer);
  #fds: number[] = [];

  add(fd: number): void {
    if ((this.#fds.length + 1) * pollEntryBytes > this.#buffer.length) this.#grow();
    this.#put(this.#fds.length, fd);
    this.#fds.push(fd);
  }

  remove(fd: number): void {
    const at = this.#fds.indexOf(fd);
    const last = this.#fds.pop();
    if (at < 0 || last === undefined || at === this.#fds.length) return;
    this.#fds[at] = last;
    this.#put(at, last);
  }

  /** Waits until some are readable, and gives them. */
  wait(): readonly number[] {
    if (libc.poll(this.#address, BigInt(this.#fds.length), -1) <= 0) return []; // EINTR
    return this.#fds.filter((_, index) => this.#buffer.readInt16LE(index * pollEntryBytes + 6) !== 0);
  }

  #put(index: number, fd: number): void {
    this.#buffer.writeInt32LE(fd, index * pollEntryBytes);
    this.#buffer.writeInt16LE(POLLIN, index * pollEntryBytes + 4);
  }

  #grow(): void {
    const grown = Buffer.alloc(this.#buffer.length * 2);
    this.#buffer.copy(grown);
    this.#buffer = grown;
    this.#address = addressOf(grown);
  }
}

// ---- Identity and limits -------------------------------------------------------------------------

export function dropGroups(): number {
  return libc.setgroups(0n, 0n);
}

export function setIds(uid: number, gid: number): { readonly gid: number; readonly uid: number } {
  return { gid: libc.setresgid(gid, gid, gid), uid: libc.setresuid(uid, uid, uid) };
}

const capHeader = Buffer.alloc(8);
capHeader.writeUInt32LE(0x2008_0522, 0); // _LINUX_CAPABILITY_VERSION_3
const capHeaderAddress = addressOf(capHeader);
const capNoneAddress = addressOf(Buffer.alloc(24));

export function dropCapabilities(): void {
  must('capset', syscall('capset', capHeaderAddress, capNoneAddress));
}

/** RLIMIT_* of include/uapi/asm-generic/resource.h. */
export const resource = { CPU: 0, FSIZE: 1, DATA: 2, STACK: 3, CORE: 4, NOFILE: 7 } as const;

const rlimit = Buffer.alloc(16);
const rlimitAddress = addressOf(rlimit);

export function setLimit(name: keyof typeof resource, value: number): void {
  rlimit.writeBigUInt64LE(BigInt(value), 0);
  rlimit.writeBigUInt64LE(BigInt(value), 8);
  must(`setrlimit ${name}`, libc.setrlimit(resource[name], rlimitAddress));
}
