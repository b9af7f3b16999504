/** The filter of a zygote: of each page that is marked as one that no fork inherits, it says that it is marked. */
import { action, argumentAt, encode, type Filter, numberAt, opcode } from './assemble.ts';
import { type Architecture, syscallNumber } from './syscalls.ts';

const MADV_DONTFORK = 10;

export function unmarkedFilter(architecture: Architecture): Filter {
  return encode([
    { code: opcode.load, jt: 0, jf: 0, k: numberAt },
    { code: opcode.jumpIfEqual, jt: 0, jf: 3, k: syscallNumber(architecture, 'madvise') },
    { code: opcode.load, jt: 0, jf: 0, k: argumentAt(2) },
    { code: opcode.jumpIfEqual, jt: 0, jf: 1, k: MADV_DONTFORK },
    { code: opcode.give, jt: 0, jf: 0, k: action.errno },
    { code: opcode.give, jt: 0, jf: 0, k: action.allow },
  ]);
}
