/**
 * The run machine: one attempt of one run. Events in, effects out; no clock, no chance, no promise.
 *
 * M1  No call is sent and no outcome delivered before it is durable (write-ahead).
 * M2  An outcome is delivered only at rest, one per rest. All outcomes that are there are written at once, ahead of the
 *     program, and handed out at once: the journal says in which order it sees them, and of each call and outcome how
 *     far the program was. The calls that it makes on its way are written when it is at rest with all of them.
 * M3  Calls go out only in answer to a write that held the lease (an append without entries asks for just
 *     that), so none goes out after a cancel that is known to the store.
 * M4  One write is under way at a time.
 * M5  The first divergence, breach or end stops everything: the sandbox is killed and nothing more is sent.
 * M6  A cancel wins against everything but a last write that is under way.
 * M7  An impossible event throws: it is our own mistake. What the sandbox says is never impossible, at worst
 *     a breach.
 */
import { limits } from '../../shared/limits.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { AttemptLog } from './attempt-log.ts';
import {
  breachResult,
  diedText,
  endText,
  failed,
  fullResult,
  nowhere,
  type ProgramEnd,
  resultOf,
  unavailableResult,
} from './end.ts';
import { Inbox } from './inbox.ts';
import { Ledger } from './ledger.ts';
import type {
  AfterWrite,
  Effect,
  Ending,
  MachineEvent,
  MachineJob,
  Phase,
  SandboxLoss,
  StopReason,
  WriteFailure,
} from './machine-types.ts';
import { type Divergence, describeMismatch, nameOf } from './mismatch.ts';
import type { Binding, JournalEntry, LogLine, RunResult } from './model.ts';
import type { RefusalCode, ReportedOutcome } from './outcome.ts';
import { Replay } from './replay.ts';
import { Reports } from './reports.ts';
import { Digests, decisionRequest, performCall, waitingCall } from './requests.ts';
import { restEntries } from './rest-entries.ts';
import { type Action, lookUp } from './transitions.ts';

type EventOf<Tag extends MachineEvent['tag']> = Extract<MachineEvent, { tag: Tag }>;
type PhaseOf<Tag extends Phase['tag']> = Extract<Phase, { tag: Tag }>;

export class Machine {
  readonly #job: MachineJob;
  readonly #bindings: ReadonlyMap<string, Binding>;
  readonly #ledger: Ledger;
  readonly #log: AttemptLog;
  readonly #inbox = new Inbox();
  readonly #digests: Digests;
  readonly #reports: Reports;
  readonly #recordedSettled: number;
  #phase: Phase = { tag: 'New' };
  #effects: Effect[] = [];
  #fingerprint = '';
  #outcomesEnded = false;
  #tries = 0;
  #died = false;
  #replayed = 0;
  #nowMs = 0;

  constructor(job: MachineJob) {
    this.#job = job;
    this.#bindings = new Map(job.bindings.map((binding) => [nameOf(binding), binding]));
    this.#ledger = new Ledger(job.callId, job.limits.callsInFlightMax, job.journal, job.waiting);
    this.#recordedSettled = this.#ledger.settled.length;
    this.#digests = new Digests(job.digestOf);
    this.#reports = new Reports(this.#ledger, this.#inbox, this.#digests, job.limits.resultBytesMax);
    this.#log = new AttemptLog(job.limits.outputBytes, job.logLinesStreamed);
  }

  get phase(): Phase['tag'] {
    return this.#phase.tag;
  }

  /** The journal as far as it is durable. */
  get journal(): readonly JournalEntry[] {
    return this.#ledger.entries;
  }

  get fingerprint(): string {
    return this.#fingerprint;
  }

  /** Calls that were answered from the journal. */
  get replayedCalls(): number {
    return this.#replayed;
  }

  get logLines(): number {
    return this.#log.streamed;
  }

  /** Size of the outcomes that are taken and not durable yet, in UTF-16 units: a reason to take no more. */
  get pendingOutcomeChars(): number {
    return this.#inbox.chars;
  }

  /** Size of all arguments and results that the attempt holds, in UTF-8 bytes. */
  get heldBytes(): number {
    const phase = this.#phase;
    if (phase.tag === 'Writing') return this.#ledger.bytes + phase.freshBytes;
    return this.#ledger.bytes + ('replay' in phase ? phase.replay.freshBytes : 0);
  }

  /** Takes one event and gives what is to be done, in order. */
  handle(event: MachineEvent, nowMs: number): readonly Effect[] {
    const action = lookUp(this.#phase.tag, event.tag);
    this.#nowMs = nowMs;
    this.#effects = [];
    this.#phase = this.#act(action, event);
    return this.#effects;
  }

  #act(action: Action, event: MachineEvent): Phase {
    switch (action) {
      case 'begin':
      case 'retry':
        return this.#execute();
      case 'started':
        this.#fingerprint = (event as EventOf<'SandboxStarted'>).fingerprint;
        return this.#phase;
      case 'step':
        return this.#step(event as EventOf<'SandboxStep'>);
      case 'stepAtRest':
        return this.#breach('a step while the program was at rest');
      case 'end':
        return this.#end((event as EventOf<'SandboxEnded'>).end);
      case 'lost':
        return this.#lost((event as EventOf<'SandboxLost'>).how);
      case 'died':
        return this.#processDied();
      case 'committed':
        return this.#committed(this.#phase as PhaseOf<'Writing'>);
      case 'appendFailed':
        return this.#appendFailed((event as EventOf<'WriteFailed'>).cause);
      case 'closed':
        return this.#closed(this.#phase as PhaseOf<'Suspending' | 'Finishing' | 'Releasing'>);
      case 'lastWriteFailed':
        return this.#lastWriteFailed((event as EventOf<'WriteFailed'>).cause);
      case 'report':
        return this.#report((event as EventOf<'Reported'>).reported);
      case 'refuseLate':
        this.#refuse((event as EventOf<'Reported'>).reported, 'FAILED_PRECONDITION', 'This attempt is over.');
        return this.#phase;
      case 'outcomesEnded':
        this.#outcomesEnded = true;
        return this.#phase.tag === 'Resting' ? this.#atRest(this.#phase.replay) : this.#phase;
      case 'cancel':
        return this.#finish({ tag: 'Cancelled', logs: this.#log.lines });
      case 'stop':
        return this.#release((event as EventOf<'Stop'>).why);
      case 'leaseLost':
        this.#kill();
        return this.#close({ tag: 'LeaseLost' });
      case 'ignore':
        return this.#phase;
      default:
        return unreachable(action);
    }
  }

  // ---- The sandbox -----------------------------------------------------------------------------

  #execute(): Phase {
    this.#log.restart();
    const replay = new Replay(this.#ledger, this.#bindings, this.#job.limits);
    this.#effects.push({ tag: 'Execute', outcomes: replay.handOut() });
    return { tag: 'Replaying', replay };
  }

  #step(event: EventOf<'SandboxStep'>): Phase {
    const phase = this.#phase as PhaseOf<'Replaying' | 'Running'>;
    const { replay } = phase;
    const logBreach = this.#takeLogs(event.logs);
    if (logBreach !== undefined) return this.#breach(logBreach);
    const checked = replay.step(event);
    this.#replayed = Math.max(this.#replayed, Math.min(replay.delivered, this.#recordedSettled));
    switch (checked.tag) {
      case 'Breach':
        return this.#breach(checked.detail);
      case 'Diverges':
        return this.#diverged(checked.divergence);
      case 'Fits':
        if (this.#ledger.bytes + replay.freshBytes > limits.runBytesMax)
          return this.#finish(fullResult(this.#log.lines));
        return checked.usedUp ? this.#atRest(replay) : phase;
      default:
        return unreachable(checked);
    }
  }

  #end(end: ProgramEnd): Phase {
    const replay = 'replay' in this.#phase ? this.#phase.replay : undefined;
    // Processor time and memory are not reproducible: such an end is no divergence, wherever it comes.
    const reproducible = end.reason !== 'Timeout' && end.reason !== 'Memory' && end.reason !== 'Violation';
    const divergence = reproducible ? replay?.end(endText(end)) : undefined;
    if (divergence !== undefined) return this.#diverged(divergence);
    const outstanding = this.#ledger.unsettledCount > 0 || (replay?.hasFresh ?? false);
    if (end.reason === 'Returned' && outstanding) {
      return this.#breach('the program returned with calls outstanding');
    }
    return this.#finish(resultOf(end, this.#job.limits, this.#log.lines));
  }

  #lost(how: SandboxLoss): Phase {
    const phase = this.#phase;
    if (phase.tag !== 'Writing') return this.#retry(how);
    return phase.after.tag === 'GoOn' ? { ...phase, after: { tag: 'Retry', how } } : phase;
  }

  /** Once may be chance. Twice in an attempt, with fresh processes, is most likely the program. */
  #processDied(): Phase {
    if (this.#died) return this.#finish(failed('Error', diedText, nowhere, this.#log.lines));
    this.#died = true;
    return this.#lost('Lost');
  }

  #retry(how: SandboxLoss): Phase {
    this.#kill();
    this.#tries += 1;
    if (this.#tries < this.#job.sandboxTriesMax) {
      this.#effects.push({ tag: 'RetryLater', tries: this.#tries });
      return { tag: 'BackingOff' };
    }
    if (how === 'Busy') return this.#releaseNow('SandboxBusy');
    const what = how === 'Unreached' ? 'could not be reached' : 'was lost';
    const message = `The sandbox ${what}, ${this.#tries} times in a row. Run the program again later.`;
    return this.#finishNow(unavailableResult(message, this.#log.lines));
  }

  #diverged(divergence: Divergence): Phase {
    const { bindings, currentBindings, recordedFingerprint } = this.#job;
    const mismatch = describeMismatch(divergence, {
      bindings,
      currentBindings,
      recordedFingerprint,
      fingerprint: this.#fingerprint,
    });
    return this.#finish(failed('ReplayMismatch', mismatch.message, mismatch, this.#log.lines));
  }

  /** The sandbox said what cannot be. */
  #breach(detail: string): Phase {
    return this.#finish(breachResult(detail, this.#log.lines));
  }

  #takeLogs(lines: readonly LogLine[]): string | undefined {
    for (const line of lines) {
      const taken = this.#log.take(line);
      if (taken.tag === 'Breach') return taken.detail;
      if (taken.tag === 'New') this.#effects.push({ tag: 'Log', line });
    }
    return undefined;
  }

  // ---- At rest, and the journal ----------------------------------------------------------------

  /** The program is at rest, with every outcome that it was handed. */
  #atRest(replay: Replay): Phase {
    if (replay.hasFresh || this.#ledger.hasSendable) return this.#append(replay);
    const outcomes = replay.handOut();
    if (outcomes.length > 0) {
      this.#effects.push({ tag: 'Deliver', outcomes });
      return { tag: 'Running', replay };
    }
    if (!this.#inbox.isEmpty) return this.#append(replay);
    if (this.#ledger.onlyWaits) return this.#suspend();
    if (this.#outcomesEnded && this.#ledger.unsettledCount > 0) {
      this.#kill();
      return this.#releaseNow('CoreClosed');
    }
    return { tag: 'Resting', replay };
  }

  #append(replay: Replay): Phase {
    const { freshBytes } = replay;
    const entries = restEntries(replay, this.#inbox.take(), this.#ledger, this.#bindings, this.#nowMs);
    const { length } = this.#ledger.entries;
    this.#effects.push({ tag: 'Append', length, entries, logLines: this.#log.streamed });
    return { tag: 'Writing', replay, entries, freshBytes, after: { tag: 'GoOn' } };
  }

  #committed({ replay, entries, after }: PhaseOf<'Writing'>): Phase {
    this.#ledger.commit(entries);
    if (entries.length > 0) this.#tries = 0;
    switch (after.tag) {
      case 'Finish':
        return this.#finishNow(after.result);
      case 'Release':
        return this.#releaseNow(after.why);
      case 'Retry':
        this.#send();
        return this.#retry(after.how);
      case 'GoOn':
        this.#send();
        return this.#atRest(replay);
      default:
        return unreachable(after);
    }
  }

  #send(): void {
    for (const call of this.#ledger.takeSendable()) {
      this.#effects.push({ tag: 'Send', call: performCall(call, this.#digests) });
    }
  }

  #suspend(): Phase {
    const calls = this.#ledger.waitingCalls();
    const after = this.#ledger.settled.length;
    const waiting = calls.map((call) => waitingCall(call, after));
    this.#kill();
    this.#effects.push({ tag: 'Suspend', waiting, logLines: this.#log.streamed });
    return { tag: 'Suspending', requests: calls.map((call) => decisionRequest(call, this.#digests)) };
  }

  // ---- The core --------------------------------------------------------------------------------

  #report(reported: ReportedOutcome): Phase {
    const refusal = this.#reports.take(reported);
    if (refusal !== undefined) this.#refuse(reported, refusal.code, refusal.message);
    return this.#phase.tag === 'Resting' ? this.#atRest(this.#phase.replay) : this.#phase;
  }

  #refuse({ index, callId }: ReportedOutcome, code: RefusalCode, message: string): void {
    this.#effects.push({ tag: 'Refuse', index, callId, code, message });
  }

  // ---- The end ---------------------------------------------------------------------------------

  #finish(result: RunResult): Phase {
    this.#kill();
    if (this.#phase.tag === 'Writing') return deferred(this.#phase, { tag: 'Finish', result });
    return this.#finishNow(result);
  }

  #finishNow(result: RunResult): Phase {
    this.#effects.push({ tag: 'Finish', result });
    return { tag: 'Finishing' };
  }

  #release(why: StopReason): Phase {
    this.#kill();
    if (this.#phase.tag === 'Writing') return deferred(this.#phase, { tag: 'Release', why });
    return this.#releaseNow(why);
  }

  #releaseNow(why: StopReason): Phase {
    this.#effects.push({ tag: 'Release' });
    return { tag: 'Releasing', why };
  }

  #appendFailed(cause: WriteFailure): Phase {
    this.#kill();
    return cause === 'LeaseLost' ? this.#close({ tag: 'LeaseLost' }) : this.#releaseNow('StoreUnavailable');
  }

  #closed(phase: PhaseOf<'Suspending' | 'Finishing' | 'Releasing'>): Phase {
    switch (phase.tag) {
      case 'Suspending':
        return this.#close({ tag: 'Waiting', requests: phase.requests });
      case 'Releasing':
        return this.#close({ tag: 'Stopped', why: phase.why });
      case 'Finishing':
        return this.#close({ tag: 'Finished' });
      default:
        return unreachable(phase);
    }
  }

  #lastWriteFailed(cause: WriteFailure): Phase {
    const phase = this.#phase;
    // A release that fails changes nothing: the lease runs out by itself.
    if (phase.tag === 'Releasing') return this.#close({ tag: 'Stopped', why: phase.why });
    if (cause === 'LeaseLost') return this.#close({ tag: 'LeaseLost' });
    return this.#close({ tag: 'Stopped', why: 'StoreUnavailable' });
  }

  #close(ending: Ending): Phase {
    this.#effects.push({ tag: 'Close', ending });
    return { tag: 'Ended', ending };
  }

  #kill(): void {
    this.#effects.push({ tag: 'Kill' });
  }
}

/** With a write under way the last one comes after it (M4). What was decided first stays, but for a cancel (M6). */
function deferred(phase: PhaseOf<'Writing'>, after: AfterWrite): Phase {
  const cancels = after.tag === 'Finish' && after.result.tag === 'Cancelled';
  const open = phase.after.tag === 'GoOn' || phase.after.tag === 'Retry';
  return open || cancels ? { ...phase, after } : phase;
}
