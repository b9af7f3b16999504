/** A child process as the pool sees it, however it came to be. */
import type { Duplex } from 'node:stream';

/** What a child is made for: both are fixed in it before it is locked. */
export interface ChildSetting {
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

/** How a process ended, as the kernel tells its parent. */
export interface ExitFacts {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** Processor time of the whole process, where the parent could read it. */
  readonly cpuMs: number | undefined;
}

export interface Child {
  readonly pid: number;
  /** The supervisor's end of the child's only socket. The child has said that it is ready. */
  readonly socket: Duplex;
  readonly exited: Promise<ExitFacts>;
  /** SIGKILL. Idempotent. */
  kill(): void;
}

export interface ChildSource {
  /** A new child, locked and ready for its job. */
  make(setting: ChildSetting): Promise<Child>;
  /** Kills what is left and resolves when it is gone. */
  close(): Promise<void>;
}
