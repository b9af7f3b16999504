/**
 * The words of the run machine: what happens to an attempt, what it asks for, and the states it is in.
 */
import type { ProgramEnd } from './end.ts';
import type { SettledEntry } from './ledger.ts';
import type { Binding, JournalEntry, LogLine, RunLimits, RunResult, Source, WaitingCall } from './model.ts';
import type { RefusalCode, ReportedOutcome } from './outcome.ts';
import type { Replay, Step } from './replay.ts';

/** A call to check and perform. */
export interface PerformCall {
  readonly index: number;
  readonly callId: string;
  readonly binding: string;
  readonly source: Source;
  readonly argumentsJson: string;
  readonly argumentsDigest: string;
  readonly sentBefore: boolean;
}

export interface DecisionRequest {
  readonly index: number;
  readonly callId: string;
  readonly operationId: string;
  readonly source: Source;
  readonly argumentsJson: string;
  readonly argumentsDigest: string;
}

/** Why an attempt leaves its run resumable without an outcome. */
export type StopReason =
  | 'CoreLost'
  | 'CoreClosed'
  | 'Draining'
  | 'StoreUnavailable'
  | 'SandboxBusy'
  | 'NoRoom';

/** Why a write failed. StoreUnavailable: it may have happened. */
export type WriteFailure = 'LeaseLost' | 'StoreUnavailable';

/** How the stream of an attempt ends. */
export type Ending =
  | { readonly tag: 'Finished' }
  | { readonly tag: 'Waiting'; readonly requests: readonly DecisionRequest[] }
  /** Another one owns the run, or it was cancelled, ended or deleted elsewhere. */
  | { readonly tag: 'LeaseLost' }
  | { readonly tag: 'Stopped'; readonly why: StopReason };

/** Busy: it had no room. Unreached: it never answered. Lost: it answered, and then its connection ended. */
export type SandboxLoss = 'Busy' | 'Unreached' | 'Lost';

export type MachineEvent =
  | { readonly tag: 'Begin' }
  // From the sandbox that the last Execute started; nothing of an earlier one.
  | { readonly tag: 'SandboxStarted'; readonly fingerprint: string }
  | ({ readonly tag: 'SandboxStep'; readonly logs: readonly LogLine[] } & Step)
  | { readonly tag: 'SandboxEnded'; readonly end: ProgramEnd }
  | { readonly tag: 'SandboxLost'; readonly how: SandboxLoss }
  /** The sandbox is well, and the process of the program, which had begun, died through no known fault of it. */
  | { readonly tag: 'ProcessDied' }
  | { readonly tag: 'RetryDue' }
  // From the store, for the one write that is under way.
  | { readonly tag: 'Written' }
  | { readonly tag: 'WriteFailed'; readonly cause: WriteFailure }
  // From the core.
  | { readonly tag: 'Reported'; readonly reported: ReportedOutcome }
  | { readonly tag: 'OutcomesEnded' }
  | { readonly tag: 'Cancel' }
  // From the instance.
  | { readonly tag: 'Stop'; readonly why: StopReason }
  | { readonly tag: 'LeaseLost' };

export type Effect =
  /** Start a sandbox, and deliver these outcomes to it in this order. */
  | { readonly tag: 'Execute'; readonly outcomes: readonly SettledEntry[] }
  /** Deliver these as well, one per rest. */
  | { readonly tag: 'Deliver'; readonly outcomes: readonly SettledEntry[] }
  | { readonly tag: 'Kill' }
  | { readonly tag: 'RetryLater'; readonly tries: number }
  /** One write at a time; answered by Written or WriteFailed. No entries: only see whether the lease holds. */
  | {
      readonly tag: 'Append';
      readonly length: number;
      readonly entries: readonly JournalEntry[];
      readonly logLines: number;
    }
  | { readonly tag: 'Suspend'; readonly waiting: readonly WaitingCall[]; readonly logLines: number }
  | { readonly tag: 'Finish'; readonly result: RunResult }
  | { readonly tag: 'Release' }
  | { readonly tag: 'Send'; readonly call: PerformCall }
  | { readonly tag: 'Log'; readonly line: LogLine }
  | {
      readonly tag: 'Refuse';
      readonly index: number;
      readonly callId: string;
      readonly code: RefusalCode;
      readonly message: string;
    }
  /** Last. */
  | { readonly tag: 'Close'; readonly ending: Ending };

/** What follows a journal write that is under way. */
export type AfterWrite =
  | { readonly tag: 'GoOn' }
  | { readonly tag: 'Retry'; readonly how: SandboxLoss }
  | { readonly tag: 'Finish'; readonly result: RunResult }
  | { readonly tag: 'Release'; readonly why: StopReason };

export type Phase =
  | { readonly tag: 'New' }
  /** The program runs and has not come to rest with every outcome of the journal. */
  | { readonly tag: 'Replaying'; readonly replay: Replay }
  /** The program runs past the journal, with new outcomes. */
  | { readonly tag: 'Running'; readonly replay: Replay }
  /** The program is at rest, and nothing is there to write. */
  | { readonly tag: 'Resting'; readonly replay: Replay }
  /** The program is at rest, and what it did is being made durable. */
  | {
      readonly tag: 'Writing';
      readonly replay: Replay;
      readonly entries: readonly JournalEntry[];
      /** Size of the arguments among them, in UTF-8 bytes. */
      readonly freshBytes: number;
      readonly after: AfterWrite;
    }
  /** No sandbox; the next try is due later. */
  | { readonly tag: 'BackingOff' }
  // The last write is under way; the sandbox is given up.
  | { readonly tag: 'Suspending'; readonly requests: readonly DecisionRequest[] }
  | { readonly tag: 'Finishing' }
  | { readonly tag: 'Releasing'; readonly why: StopReason }
  | { readonly tag: 'Ended'; readonly ending: Ending };

/** Everything that is fixed for an attempt. */
export interface MachineJob {
  /** The tool call of the run; call ids are made from it. */
  readonly callId: string;
  readonly bindings: readonly Binding[];
  readonly limits: RunLimits;
  readonly journal: readonly JournalEntry[];
  /** Calls that were known to wait. */
  readonly waiting: readonly WaitingCall[];
  /** Log lines below it were streamed before. */
  readonly logLinesStreamed: number;
  /** Of the attempt that recorded last; empty: none. */
  readonly recordedFingerprint: string;
  /** The names as they are now; undefined: not known. */
  readonly currentBindings: readonly Binding[] | undefined;
  /** Sandboxes lost in a row, without a write between, after which the run fails. */
  readonly sandboxTriesMax: number;
  /** SHA-256 of a text, lower-case hexadecimal. */
  readonly digestOf: (text: string) => string;
}
