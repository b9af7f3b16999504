/**
 * Every call of a run and where it stands, as far as it is durable.
 *
 * L1  Calls are numbered from 0 without a gap, in the order of issue.
 * L2  Calls are sent in the order of issue, while fewer than `callsInFlightMax` sent calls are unsettled.
 *     A call that waits for a decision gives its place up: waiting calls never keep others from being sent.
 * L3  A call of an earlier attempt counts as sent before. How far that attempt got with sending is not
 *     recorded (L2 lets waiting calls pass), so "may have been sent" is all that is true of it.
 * L4  A rest is closed when something was written at it or after it, or when the run began to wait there: the calls
 *     that the program made until then are all in the journal. Outcomes that were written ahead lie beyond the first
 *     open rest.
 */
import assert from 'node:assert/strict';
import { utf8Bytes } from '../../shared/text.ts';
import { callIdOf, type JournalEntry, type Outcome, type WaitingCall } from './model.ts';

export type CalledEntry = Extract<JournalEntry, { kind: 'Called' }>;
export type SettledEntry = Extract<JournalEntry, { kind: 'Settled' }>;

/** Where an unsettled call stands. */
type Standing = 'Unsent' | 'Sent' | 'Waiting' | 'Reported' | 'Settled';

export interface LedgerCall {
  readonly called: CalledEntry;
  readonly callId: string;
  /** It was journaled by an earlier attempt. */
  readonly sentBefore: boolean;
  standing: Standing;
  /** It was sent on this stream. */
  sentHere: boolean;
  /** It takes one of the places in flight. */
  inFlight: boolean;
  /** The core's own id of the app operation. */
  operationId: string;
  /** Digest of the arguments; empty until it is asked for. */
  digest: string;
}

export class Ledger {
  readonly entries: JournalEntry[] = [];
  readonly settled: SettledEntry[] = [];
  readonly #calls: LedgerCall[] = [];
  /** The calls that were made up to each rest and after the one before; a rest has the number of its outcomes. */
  readonly #made = new Map<number, CalledEntry[]>();
  #openRest = 0;
  readonly #runCallId: string;
  readonly #inFlightMax: number;
  #inFlight = 0;
  /** Calls below it were sent or need not be. */
  #nextUnsent = 0;
  #waiting = 0;
  #bytes = 0;

  constructor(
    runCallId: string,
    inFlightMax: number,
    journal: readonly JournalEntry[],
    lastWaits: readonly WaitingCall[],
  ) {
    this.#runCallId = runCallId;
    this.#inFlightMax = inFlightMax;
    this.commit(journal, true);
    for (const { index, operationId, after } of lastWaits) {
      this.#openRest = Math.max(this.#openRest, after + 1);
      const call = this.#calls[index];
      if (call !== undefined) call.operationId = operationId ?? '';
    }
  }

  get callCount(): number {
    return this.#calls.length;
  }

  get unsettledCount(): number {
    return this.#calls.length - this.settled.length;
  }

  /** Arguments and results taken in so far, in UTF-8 bytes, those that are not durable yet included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether every call without an outcome waits for a decision, and there is one. */
  get onlyWaits(): boolean {
    return this.#waiting > 0 && this.#waiting === this.unsettledCount;
  }

  /** The first rest of which it is not known whether all calls are recorded. */
  get openRest(): number {
    return this.#openRest;
  }

  /** The recorded calls that the program made before it came to this rest, and after the one before. */
  made(rest: number): readonly CalledEntry[] {
    return this.#made.get(rest) ?? [];
  }

  call(index: number): LedgerCall | undefined {
    return this.#calls[index];
  }

  /** Takes in entries that are durable. */
  commit(entries: readonly JournalEntry[], sentBefore = false): void {
    for (const entry of entries) {
      const rest = entry.after ?? this.settled.length;
      this.entries.push(entry);
      this.#openRest = Math.max(this.#openRest, rest + 1);
      if (entry.kind === 'Called') this.#issue(entry, rest, sentBefore);
      else this.#settle(entry);
    }
  }

  /** Marks the calls that may go out now, in order, and gives them. */
  takeSendable(): readonly LedgerCall[] {
    const sendable: LedgerCall[] = [];
    for (let call = this.#firstSendable(); call !== undefined; call = this.#firstSendable()) {
      call.standing = 'Sent';
      call.sentHere = true;
      call.inFlight = true;
      this.#inFlight += 1;
      sendable.push(call);
    }
    return sendable;
  }

  get hasSendable(): boolean {
    return this.#firstSendable() !== undefined;
  }

  waits(call: LedgerCall, operationId: string): void {
    assert(call.standing === 'Sent' || call.standing === 'Unsent', 'only an open call can begin to wait');
    call.standing = 'Waiting';
    if (operationId !== '') call.operationId = operationId;
    this.#waiting += 1;
    this.#leaveFlight(call);
  }

  /** It has an outcome that is not durable yet. */
  reported(call: LedgerCall, outcome: Outcome, operationId: string): void {
    this.#bytes += outcomeBytes(outcome);
    if (call.standing === 'Waiting') this.#waiting -= 1;
    call.standing = 'Reported';
    if (operationId !== '') call.operationId = operationId;
  }

  waitingCalls(): readonly LedgerCall[] {
    return this.#calls.filter((call) => call.standing === 'Waiting');
  }

  #firstSendable(): LedgerCall | undefined {
    if (this.#inFlight >= this.#inFlightMax) return undefined;
    for (; this.#nextUnsent < this.#calls.length; this.#nextUnsent += 1) {
      const call = this.#calls[this.#nextUnsent];
      if (call?.standing === 'Unsent') return call;
    }
    return undefined;
  }

  #issue(called: CalledEntry, rest: number, sentBefore: boolean): void {
    this.#bytes += utf8Bytes(called.argumentsJson);
    const made = this.#made.get(rest) ?? [];
    made.push(called);
    this.#made.set(rest, made);
    assert.equal(called.index, this.#calls.length, 'calls are numbered without a gap');
    this.#calls.push({
      called,
      callId: callIdOf(this.#runCallId, called.index),
      sentBefore,
      standing: 'Unsent',
      sentHere: false,
      inFlight: false,
      operationId: '',
      digest: '',
    });
  }

  #settle(entry: SettledEntry): void {
    const call = this.#calls[entry.index];
    assert(call !== undefined && call.standing !== 'Settled', 'a call settles once, after it was issued');
    if (call.standing !== 'Reported') this.#bytes += outcomeBytes(entry.outcome);
    if (call.standing === 'Waiting') this.#waiting -= 1;
    call.standing = 'Settled';
    call.operationId = entry.operationId ?? '';
    this.settled.push(entry);
    this.#leaveFlight(call);
  }

  #leaveFlight(call: LedgerCall): void {
    if (!call.inFlight) return;
    call.inFlight = false;
    this.#inFlight -= 1;
  }
}

/** A message counts nothing: it is short, and a result that is refused for its size must find room for saying so. */
function outcomeBytes(outcome: Outcome): number {
  return outcome.tag === 'Completed' ? utf8Bytes(outcome.valueJson) : 0;
}
