/**
 * The C library, through node:ffi. The only file that knows of it: node:ffi is experimental, and the
 * self-test at start shows whether all of this works here.
 *
 * L1  Memory that a call reads or writes is allocated here once and lives as long as the process.
 * L2  A call that fails throws LibcError with the name of the call and its errno; those that may fail for
 *     good reasons give their result.
 */
import ffi from 'node:ffi';
import { constants } from 'node:os';

export class LibcError extends Error {
  override readonly name = 'LibcError';
  readonly errno: number;

  constructor(call: string, errno: number) {
    super(`${call} failed: ${errnoName(errno)}`);
    this.errno = errno;
  }
}

export function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;
}

const darwin = process.platform === 'darwin';
const errnoSymbol = darwin ? '__error' : '__errno_location';
const itimerProf = 2;
const clockProcessCpu = darwin ? 12 : 2;

const base = ffi.dlopen(null, {
  setitimer: { arguments: ['int32', 'pointer', 'pointer'], return: 'int32' },
  clock_gettime: { arguments: ['int32', 'pointer'], return: 'int32' },
  _exit: { arguments: ['int32'], return: 'void' },
  [errnoSymbol]: { arguments: [], return: 'pointer' },
});
const { setitimer, clock_gettime, _exit } = base.functions;
const errnoLocation = base.lib.getFunction(errnoSymbol, { arguments: [], return: 'pointer' });

export function errno(): number {
  return ffi.getInt32(errnoLocation(), 0);
}

/** The address of a buffer, which is kept from now on. */
export function addressOf(buffer: Buffer): bigint {
  kept.push(buffer);
  return ffi.getRawPointer(buffer);
}
const kept: Buffer[] = [];

/** Ends the process without running anything more of it. */
export function exitNow(code: number): never {
  _exit(code);
  throw new Error('unreachable: _exit came back');
}

const itimerval = Buffer.alloc(32);
const itimervalAddress = addressOf(itimerval);

/** SIGPROF, which ends the process, after it has used so much processor time from now on. Waiting is free. */
export function setProcessorBudget(ms: number): void {
  itimerval.writeBigInt64LE(BigInt(Math.floor(ms / 1000)), 16);
  itimerval.writeBigInt64LE(BigInt((ms % 1000) * 1000), 24);
  if (setitimer(itimerProf, itimervalAddress, 0n) < 0) throw new LibcError('setitimer', errno());
}

const timespec = Buffer.alloc(16);
const timespecAddress = addressOf(timespec);
/** Seconds and nanoseconds. Asked at every rest, without a JIT: Buffer would read them byte by byte. */
const timespecWords = new BigInt64Array(timespec.buffer, timespec.byteOffset, 2);

/** Processor time that the process has used, in milliseconds. */
export function processorMs(): number {
  if (clock_gettime(clockProcessCpu, timespecAddress) < 0) throw new LibcError('clock_gettime', errno());
  return Number(timespecWords[0]) * 1000 + Number(timespecWords[1]) / 1e6;
}
