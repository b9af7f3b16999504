/** Puts a filter on every thread of the process, for good. */
import { addressOf } from '../libc.ts';
import { architecture, must, syscall } from '../linux.ts';
import { assemble, encode, type Filter } from './assemble.ts';
import { type PolicyOptions, policy } from './policy.ts';

const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;

export interface SeccompOptions extends PolicyOptions {
  readonly logOnly: boolean;
}

export interface Seccomp {
  readonly instructions: number;
  /** `pid` is the process's own. */
  apply(pid: number): void;
}

export function prepareSeccomp({ logOnly, ...options }: SeccompOptions): Seccomp {
  const filter = encode(assemble(policy(options), architecture, { logOnly }));
  const install = prepareFilter(filter);
  return {
    instructions: filter.length,
    apply(pid) {
      filter.patchPid(pid);
      install();
    },
  };
}

/** What puts a filter on, as it is then. */
export function prepareFilter({ bytes, length }: Filter): () => void {
  const program = Buffer.alloc(16); // struct sock_fprog
  program.writeUInt16LE(length, 0);
  program.writeBigUInt64LE(addressOf(bytes), 8);
  const address = addressOf(program);
  return () => {
    const stray = must(
      'seccomp',
      syscall('seccomp', SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, address),
    );
    if (stray > 0) throw new Error(`seccomp could not cover thread ${stray}`);
  };
}
