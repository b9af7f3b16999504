/** What the supervisor tells a new process to be. Comes on standard input, as JSON beside the program. */

interface Common {
  /** The text of the realm. */
  readonly realm: string;
  readonly memoryMb: number;
  readonly jit: boolean;
  /** seccomp logs and lets through. For proving the other layers. */
  readonly logOnly: boolean;
  /** `none` on a host that has no lock for us: everything is reported as absent. */
  readonly lock: 'linux' | 'none';
}

export interface ZygoteRole extends Common {
  readonly is: 'zygote';
  /** Name of the supervisor's socket in the abstract namespace. */
  readonly socketName: string;
}

export interface ChildRole extends Common {
  readonly is: 'child';
  /** Hexadecimal. */
  readonly secret: string;
  readonly timeoutMs: number;
  /** Process id of the supervisor. */
  readonly parent: number;
}

export type ProcessRole = ZygoteRole | ChildRole;
