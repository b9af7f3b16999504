/**
 * What the edge asks of the runner, and what the runner asks of a sandbox. Core types only: messages stay
 * at the edges.
 */
import type { ProgramEnd, ProgramEndReason } from '../core/end.ts';
import type { DecisionRequest, PerformCall } from '../core/machine-types.ts';
import type {
  Binding,
  IssuedCall,
  JournalEntry,
  LogLine,
  NormalizedProgram,
  Outcome,
  RunLimits,
  StoredRun,
} from '../core/model.ts';
import type { RefusalCode, ReportedOutcome } from '../core/outcome.ts';

export type { DecisionRequest, PerformCall } from '../core/machine-types.ts';
export type { RefusalCode, ReportedOutcome } from '../core/outcome.ts';

// ---- The core's side ---------------------------------------------------------------------------

export interface StartRun {
  readonly session: string;
  readonly turn: string;
  readonly callId: string;
  readonly owner: string;
  readonly code: string;
  readonly reason: string;
  readonly program: NormalizedProgram;
  readonly bindings: readonly Binding[];
  readonly limits: RunLimits;
}

/** Why a program does not run: it cannot be understood, or it did not pass the check. */
export interface ProgramFailure {
  readonly message: string;
  /** Position in the program as written, from 1; 0 if unknown. */
  readonly line: number;
  readonly column: number;
}

export interface ResumeRun {
  readonly runId: string;
  /** The names as they are now; only for the cause of a mismatch. */
  readonly currentBindings: readonly Binding[];
  readonly outcomes: readonly ReportedOutcome[];
  /** Log lines that the core has, whatever was streamed; undefined: all that were streamed. */
  readonly logLinesReceived: number | undefined;
}

/** A run with its journal, for reading. */
export interface RunRecord {
  readonly run: StoredRun;
  readonly journal: readonly JournalEntry[];
}

export type RunEvent =
  | { readonly tag: 'Accepted'; readonly run: StoredRun; readonly attempt: number }
  | { readonly tag: 'Call'; readonly call: PerformCall }
  | { readonly tag: 'Log'; readonly line: LogLine }
  | {
      readonly tag: 'OutcomeRefused';
      readonly index: number;
      readonly callId: string;
      readonly code: RefusalCode;
      readonly message: string;
    }
  /** `run` is the run as it was when this attempt claimed it. */
  | { readonly tag: 'Waiting'; readonly run: StoredRun; readonly requests: readonly DecisionRequest[] }
  | { readonly tag: 'Finished'; readonly record: RunRecord };

export interface CodeRunner {
  /**
   * Runs one attempt. Yields Accepted, then Calls and Logs, then exactly one of Waiting or Finished.
   * Throws AppError. `signal` aborts when the core went away: the run stays resumable.
   */
  start(
    command: StartRun,
    outcomes: AsyncIterable<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent>;
  /** As start, but nothing runs: the run is stored as Failed with reason Error. */
  startFailed(command: StartRun, failure: ProgramFailure): AsyncIterable<RunEvent>;
  resume(
    command: ResumeRun,
    outcomes: AsyncIterable<ReportedOutcome>,
    signal: AbortSignal,
  ): AsyncIterable<RunEvent>;
  /** Cancels from any instance; gives a final run as it is. Undefined: no such run. */
  cancel(runId: string): Promise<RunRecord | undefined>;
  /** Lets no new attempt start, and resolves when none runs any more (or `deadlineMs` passed and the rest was released). */
  drain(deadlineMs: number): Promise<void>;
}

// ---- The sandbox's side ------------------------------------------------------------------------

export interface SandboxJob {
  readonly program: NormalizedProgram;
  readonly createdAtMs: number;
  /** 16 bytes. */
  readonly seed: Uint8Array;
  readonly limits: RunLimits;
  readonly bindings: readonly Binding[];
}

/** Lost: the program's process died through no known fault of it; the attempt may be made again, once. */
export type SandboxEndReason = ProgramEndReason | 'Lost';

/** What an attempt has cost so far. */
export interface SandboxCost {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export interface SandboxEnd extends Omit<ProgramEnd, 'reason'> {
  readonly reason: SandboxEndReason;
  readonly cost: SandboxCost;
}

export interface DeliveredOutcome {
  readonly index: number;
  readonly outcome: Outcome;
}

export type SandboxEvent =
  | { readonly tag: 'Started'; readonly fingerprint: string }
  | {
      readonly tag: 'Step';
      /** Outcomes delivered before it. */
      readonly delivered: number;
      readonly calls: readonly IssuedCall[];
      readonly logs: readonly LogLine[];
      /** False on a piece of a step: more of it follows. */
      readonly atRest: boolean;
      readonly cost: SandboxCost;
    }
  | { readonly tag: 'End'; readonly end: SandboxEnd };

/** One attempt in a sandbox. A lost connection is an error of `events`. */
export interface SandboxAttempt {
  readonly events: AsyncIterable<SandboxEvent>;
  /** Queues outcomes; the sandbox delivers one whenever the program is at rest. Resolves when more may be sent. */
  deliver(outcomes: readonly DeliveredOutcome[]): Promise<void>;
  /** Kills the process. Idempotent. */
  kill(): void;
}

export interface Sandbox {
  /** Events throw AppError: RESOURCE_EXHAUSTED (no room), UNAVAILABLE (not reached), ABORTED (reached, then lost). */
  execute(job: SandboxJob): SandboxAttempt;
}
