/** Runs a classic BPF program over struct seccomp_data, as the kernel does. Knows only what filters use. */

export interface SeccompData {
  readonly number: number;
  readonly architecture: number;
  readonly args?: readonly bigint[];
}

/** The action that the filter returns. Throws on a program that the kernel would refuse. */
export function runFilter(program: Buffer, data: SeccompData): number {
  const memory = Buffer.alloc(64);
  memory.writeUInt32LE(data.number >>> 0, 0);
  memory.writeUInt32LE(data.architecture >>> 0, 4);
  (data.args ?? []).forEach((value, index) => {
    memory.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const code = program.readUInt16LE(at * 8);
    const jt = program.readUInt8(at * 8 + 2);
    const jf = program.readUInt8(at * 8 + 3);
    const k = program.readUInt32LE(at * 8 + 4);
    switch (code) {
      case 0x20: // load a word
        if (k % 4 !== 0 || k > 60) throw new Error(`instruction ${at} loads from ${k}`);
        accumulator = memory.readUInt32LE(k);
        break;
      case 0x15: // jump if equal
        at += accumulator === k ? jt : jf;
        break;
      case 0x45: // jump if any bit is set
        at += (accumulator & k) !== 0 ? jt : jf;
        break;
      case 0x06: // return
        return k;
      default:
        throw new Error(`instruction ${at} has the code ${code}`);
    }
  }
  throw new Error('the program ran past its end');
}

/** "allow", "kill", "log" or "errno 13". */
export function nameOfAction(action: number): string {
  switch (action & 0xffff_0000) {
    case 0x7fff_0000:
      return 'allow';
    case 0x8000_0000 | 0:
      return 'kill';
    case 0x7ffc_0000:
      return 'log';
    case 0x0005_0000:
      return `errno ${action & 0xffff}`;
    default:
      throw new Error(`an action that no policy has: ${action}`);
  }
}
