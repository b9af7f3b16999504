/**
 * The words of a code run as values. Pure: nothing here does anything. The names are those of the public
 * contract; the wire form is proto/openbot/codemode/v1/code_run.proto.
 */
import type { CallLimits } from '../../shared/limits.ts';
import { unreachable } from '../../shared/unreachable.ts';

export type FinalStatus = 'Completed' | 'Failed' | 'Cancelled';
export type RunStatus = 'Running' | 'Waiting' | FinalStatus;

export type FailureReason =
  | 'Error'
  | 'Timeout'
  | 'Memory'
  | 'OutputTooLarge'
  | 'ReplayMismatch'
  | 'Cancelled'
  | 'Unavailable';

export type CallFailureReason =
  | 'ToolError'
  | 'Timeout'
  | 'Unavailable'
  | 'InvalidArguments'
  | 'NotFound'
  | 'OutcomeUnknown'
  | 'ResultTooLarge'
  | 'Cancelled'
  | 'Internal';

export type CapabilityKind = 'tool' | 'resource' | 'resourceTemplate' | 'prompt';

/** Where a binding comes from: fixed when the run starts. */
export interface Source {
  readonly connectionId: string;
  readonly connectionName: string;
  readonly kind: CapabilityKind;
  /** The app's own name; of a resource its URI, of a template its URI template. */
  readonly name: string;
}

/** A name of the run's fixed table and what it means. */
export interface Binding {
  /** First part: "work_calendar". */
  readonly connection: string;
  /** Second part: "list_events". */
  readonly capability: string;
  readonly source: Source;
  /** The capability's raw name as apps.call takes it; of a resource or template its name, not its URI. */
  readonly rawName: string;
}

/** Limits of one run, the same in every attempt on every instance. */
export interface RunLimits extends CallLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
}

/** What came of a call, as the program gets it. Journaled before it is delivered. */
export type Outcome =
  | { readonly tag: 'Completed'; readonly valueJson: string }
  | { readonly tag: 'Failed'; readonly reason: CallFailureReason; readonly message: string }
  | { readonly tag: 'Denied'; readonly message: string }
  | { readonly tag: 'InputRequired'; readonly operationId: string };

/** What of an outcome has no fixed size: that is what bounds count. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.tag) {
    case 'Completed':
      return outcome.valueJson;
    case 'Failed':
    case 'Denied':
      return outcome.message;
    case 'InputRequired':
      return outcome.operationId;
    default:
      return unreachable(outcome);
  }
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  /** Position in the run's log, from 0; the same in every attempt. */
  readonly index: number;
  readonly level: LogLevel;
  readonly text: string;
}

/** A call as the program issued it. */
export interface IssuedCall {
  readonly index: number;
  /** "connection.capability". */
  readonly binding: string;
  readonly argumentsJson: string;
  /** Position in the program as written, from 1; 0 if unknown. */
  readonly line: number;
  readonly column: number;
}

/** When an entry was written. */
interface Written {
  /**
   * Outcomes that the program had got when it made this call, or when this outcome was written. Absent: all that stand
   * before the entry in the journal. It differs where several outcomes were written at once: those after the first are
   * ahead of the program, and calls that it made between them are written behind them.
   */
  readonly after?: number;
  readonly atMs: number;
}

/**
 * The journal, in the order in which it was written. The program saw the outcomes in this order, and the calls are
 * in the order of issue; where they lie between the outcomes, `after` says.
 */
export type JournalEntry =
  | ({
      readonly kind: 'Called';
      readonly index: number;
      readonly binding: string;
      readonly source: Source;
      readonly argumentsJson: string;
      readonly line: number;
      readonly column: number;
    } & Written)
  | ({
      readonly kind: 'Settled';
      readonly index: number;
      readonly outcome: Outcome;
      /** Id of the app operation if the core named one; absent means the call id. */
      readonly operationId?: string;
    } & Written);

/** Format of the journal; grows when an old journal could no longer be read as it was written. */
export const journalVersion = 1;

export type RunResult =
  | {
      readonly tag: 'Completed' /** Absent: the program returned undefined. */;
      readonly valueJson?: string;
      readonly logs: readonly LogLine[];
    }
  | {
      readonly tag: 'Failed';
      readonly reason: FailureReason;
      readonly message: string;
      /** Position in the program as written, from 1; 0 if unknown. */
      readonly line: number;
      readonly column: number;
      readonly logs: readonly LogLine[];
    }
  | { readonly tag: 'Cancelled'; readonly logs: readonly LogLine[] };

/**
 * A piece of text that normalization inserted, without a line break. 1-based, UTF-16 units; `line` and `column`
 * are where it begins in the normalized text. Sorted by both. To undo them: a position after the piece moves
 * back by `length`, one inside it to its beginning.
 */
export interface ColumnShift {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/**
 * The program as the sandbox runs it: the body of a strict async function, which may end in a line comment.
 * Stored, so that replay never depends on a newer normalizer.
 */
export interface NormalizedProgram {
  readonly text: string;
  readonly columnShifts: readonly ColumnShift[];
}

/** What one execution cost. */
export interface Attempt {
  readonly number: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly replayedCalls: number;
  readonly fingerprint: string;
}

/** A call that waits for a decision. */
export interface WaitingCall {
  readonly index: number;
  /** Id of the app operation if the core named one. */
  readonly operationId?: string;
  /**
   * Outcomes that the program had got when nothing was left to it but to wait: all that were in the journal. So each
   * call that it made until then is in the journal too, whatever entries say of themselves.
   */
  readonly after: number;
}

/** Everything that is fixed when a run starts. */
export interface NewRun {
  /** UUID. */
  readonly id: string;
  readonly session: string;
  readonly turn: string;
  readonly callId: string;
  readonly owner: string;
  readonly code: string;
  readonly reason: string;
  readonly program: NormalizedProgram;
  readonly bindings: readonly Binding[];
  readonly limits: RunLimits;
  readonly createdAtMs: number;
}

/** Who may write a run: each claim raises the epoch, and a write with an older one is refused. */
export interface Lease {
  readonly owner: string;
  readonly epoch: number;
  readonly expiresAtMs: number;
}

/** A run as stored, without its journal. */
export interface StoredRun extends NewRun {
  readonly status: RunStatus;
  readonly updatedAtMs: number;
  readonly lease: Lease;
  /** Entries in the journal. */
  readonly journalLength: number;
  /** Log lines that were streamed to the core. */
  readonly logLines: number;
  /** Calls that wait, if the run does; else those that did last, for what is known of them and of that rest. */
  readonly waiting: readonly WaitingCall[];
  readonly attempts: readonly Attempt[];
  readonly result?: RunResult;
}

export function isFinal(status: RunStatus): status is FinalStatus {
  return status === 'Completed' || status === 'Failed' || status === 'Cancelled';
}

/** Key of the app operation of a call: the same in every attempt. */
export function callIdOf(runCallId: string, index: number): string {
  return `${runCallId}:${index}`;
}
