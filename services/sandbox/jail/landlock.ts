/**
 * A Landlock ruleset that handles everything this kernel knows and has no rules: no file may be opened, made,
 * changed or run, no TCP port bound or reached, no signal sent out and no abstract socket of others used.
 */
import { addressOf, errno, errnoName } from './libc.ts';
import { must, syscall } from './linux.ts';

/** Rights on files, by the version of the interface that brought them (include/uapi/linux/landlock.h). */
const fileRights: Readonly<Record<number, number>> = { 1: 0x1fff, 2: 0x3fff, 3: 0x7fff, 5: 0xffff };
const networkRights: Readonly<Record<number, number>> = { 4: 0x3 };
const scopes: Readonly<Record<number, number>> = { 6: 0x3 };

export interface Landlock {
  /** 0 where the kernel has none. */
  readonly abi: number;
  readonly reason: string;
  /** Restricts the process. */
  apply(): void;
}

const LANDLOCK_CREATE_RULESET_VERSION = 1;
const LANDLOCK_RESTRICT_SELF_TSYNC = 8;

export function prepareLandlock(): Landlock {
  const abi = syscall('landlock_create_ruleset', 0, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) return { abi: 0, reason: errnoName(errno()), apply: () => {} };
  const attributes = Buffer.alloc(24);
  attributes.writeBigUInt64LE(BigInt(newest(fileRights, abi)), 0);
  attributes.writeBigUInt64LE(BigInt(newest(networkRights, abi)), 8);
  attributes.writeBigUInt64LE(BigInt(newest(scopes, abi)), 16);
  const address = addressOf(attributes);
  const size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const flags = abi >= 8 ? LANDLOCK_RESTRICT_SELF_TSYNC : 0;
  return {
    abi,
    reason: '',
    apply() {
      const fd = must('landlock_create_ruleset', syscall('landlock_create_ruleset', address, size, 0));
      must('landlock_restrict_self', syscall('landlock_restrict_self', fd, flags));
      syscall('close', fd);
    },
  };
}

function newest(table: Readonly<Record<number, number>>, abi: number): number {
  let value = 0;
  for (const [version, rights] of Object.entries(table)) if (Number(version) <= abi) value = rights;
  return value;
}
