/**
 * A policy as a classic BPF program, the form the kernel takes (struct sock_filter, little endian).
 *
 * A1  Another architecture or calling convention ends the process before a number is looked at.
 * A2  Every path ends in a verdict; jumps go forward only.
 * A3  The process id is the one thing that differs between children; `patchPid` puts it in.
 */
import type { Check, Rule, Verdict } from './policy.ts';
import type { Architecture } from './syscalls.ts';

export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
  /** Stands for the process id. */
  readonly pid?: true;
}

/** BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JSET|K, BPF_RET|K. */
export const opcode = { load: 0x20, jumpIfEqual: 0x15, jumpIfAny: 0x45, give: 0x06 } as const;

/** SECCOMP_RET_*. */
export const action = {
  killProcess: 0x8000_0000,
  errno: 0x0005_0000,
  log: 0x7ffc_0000,
  allow: 0x7fff_0000,
} as const;

/** Offsets in struct seccomp_data. */
export const numberAt = 0;
const architectureAt = 4;
export const argumentAt = (index: number) => 16 + 8 * index;

const instructionBytes = 8;

export interface AssembleOptions {
  /** What ends the process is logged and let through instead. For proving the other layers. */
  readonly logOnly: boolean;
}

export function assemble(
  rules: readonly Rule[],
  architecture: Architecture,
  options: AssembleOptions,
): readonly Instruction[] {
  const kill = options.logOnly ? action.log : action.killProcess;
  const give = (verdict: Verdict) => ret(verdictCode(verdict, kill));
  const program: Instruction[] = [
    load(architectureAt),
    { code: opcode.jumpIfEqual, jt: 1, jf: 0, k: architecture.audit },
    ret(kill),
    load(numberAt),
  ];
  if (architecture.foreignBit !== undefined) {
    program.push({ code: opcode.jumpIfAny, jt: 0, jf: 1, k: architecture.foreignBit }, ret(kill));
  }
  for (const rule of rules) {
    const body = [...checks(rule, give), give(rule.verdict)];
    const numbers = rule.syscalls.flatMap((name) => architecture.syscalls[name] ?? []);
    numbers.forEach((number, index) => {
      // To the body on a match, from any of the numbers; past it from the last one.
      const last = index === numbers.length - 1;
      program.push({
        code: opcode.jumpIfEqual,
        jt: numbers.length - 1 - index,
        jf: last ? body.length : 0,
        k: number,
      });
    });
    if (numbers.length > 0) program.push(...body);
  }
  program.push(ret(kill));
  return program;
}

/** The checks of a rule; each falls through where it holds and gives `otherwise` where it does not. */
function checks(rule: Rule, give: (verdict: Verdict) => Instruction): readonly Instruction[] {
  return rule.when.flatMap((check) => [...conditions(check), give(rule.otherwise)]);
}

/** Ends so that the instruction after it is skipped where the check holds. */
function conditions(check: Check): readonly Instruction[] {
  const at = argumentAt(check.argument);
  if ('withoutBits' in check) {
    return [load(at), { code: opcode.jumpIfAny, jt: 0, jf: 1, k: check.withoutBits }];
  }
  if ('isNull' in check) {
    return [
      load(at),
      { code: opcode.jumpIfEqual, jt: 0, jf: 2, k: 0 },
      load(at + 4),
      { code: opcode.jumpIfEqual, jt: 1, jf: 0, k: 0 },
    ];
  }
  if (check.equals === 'ownPid') {
    return [load(at), { code: opcode.jumpIfEqual, jt: 1, jf: 0, k: 0, pid: true }];
  }
  const values = check.equals;
  return [
    load(at),
    ...values.map((k, index) => ({ code: opcode.jumpIfEqual, jt: values.length - index, jf: 0, k })),
  ];
}

function load(offset: number): Instruction {
  return { code: opcode.load, jt: 0, jf: 0, k: offset };
}

function ret(k: number): Instruction {
  return { code: opcode.give, jt: 0, jf: 0, k };
}

function verdictCode(verdict: Verdict, kill: number): number {
  if (verdict === 'allow') return action.allow;
  if (verdict === 'kill') return kill;
  return action.errno | verdict.errno;
}

export interface Filter {
  readonly bytes: Buffer;
  readonly length: number;
  /** Puts the process id in. */
  patchPid(pid: number): void;
}

export function encode(program: readonly Instruction[]): Filter {
  const bytes = Buffer.alloc(program.length * instructionBytes);
  const pidAt: number[] = [];
  program.forEach((instruction, index) => {
    const at = index * instructionBytes;
    bytes.writeUInt16LE(instruction.code, at);
    bytes.writeUInt8(instruction.jt, at + 2);
    bytes.writeUInt8(instruction.jf, at + 3);
    bytes.writeUInt32LE(instruction.k >>> 0, at + 4);
    if (instruction.pid === true) pidAt.push(at + 4);
  });
  return {
    bytes,
    length: program.length,
    patchPid(pid) {
      for (const at of pidAt) bytes.writeUInt32LE(pid, at);
    },
  };
}
