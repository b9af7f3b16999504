/** A child process as the pool sees it, however it came to be. */
import type { Duplex } from 'node:stream';
import type { LayerReport } from '../jail/layers.ts';

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
  /** Most memory it had in use at once, shared pages included, where the parent could read it. */
  readonly residentKb: number | undefined;
}

export interface Child {
  readonly pid: number;
  /** The supervisor's end of the child's only socket. */
  readonly socket: Duplex;
  readonly exited: Promise<ExitFacts>;
  /** SIGKILL. Idempotent. */
  kill(): void;
}

/** A child that has locked itself and said how. */
export interface MadeChild {
  readonly child: Child;
  readonly layers: readonly LayerReport[];
}

export interface ChildSource {
  /** A new child, ready for its job. */
  make(setting: ChildSetting): Promise<MadeChild>;
  /** Kills what is left and resolves when it is gone. */
  close(): Promise<void>;
}
