/**
 * To be imported before the sandbox: on this host a fork takes no memory of V8 along, as on one whose kernel
 * does not know how (madvise with MADV_DOFORK is refused). Starting processes is not touched.
 */
import { addressOf } from '../../services/sandbox/jail/libc.ts';
import { architecture, must, prctl, syscall } from '../../services/sandbox/jail/linux.ts';
import { action, encode, opcode } from '../../services/sandbox/jail/seccomp/assemble.ts';

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;
const MADV_DOFORK = 11;
const EINVAL = 22;
const numberAt = 0;
const adviceAt = 16 + 2 * 8;

const filter = encode([
  { code: opcode.load, jt: 0, jf: 0, k: numberAt },
  { code: opcode.jumpIfEqual, jt: 0, jf: 3, k: architecture.syscalls['madvise'] ?? -1 },
  { code: opcode.load, jt: 0, jf: 0, k: adviceAt },
  { code: opcode.jumpIfEqual, jt: 0, jf: 1, k: MADV_DOFORK },
  { code: opcode.give, jt: 0, jf: 0, k: action.errno | EINVAL },
  { code: opcode.give, jt: 0, jf: 0, k: action.allow },
]);
const program = Buffer.alloc(16); // struct sock_fprog
program.writeUInt16LE(filter.length, 0);
program.writeBigUInt64LE(addressOf(filter.bytes), 8);
must('no_new_privs', prctl(PR_SET_NO_NEW_PRIVS, 1));
must('seccomp', syscall('seccomp', SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, addressOf(program)));
