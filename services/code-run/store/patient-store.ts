/**
 * A store that is away for a moment does not end the runs that go on. Writes of a writer are repeated (S6
 * allows it) until the store is back or the bound has passed; whatever begins something new fails at once.
 *
 * P1  A repeated write keeps its arguments, and nothing else of that writer is written before it (S7).
 * P2  While the store is known to be away, whatever begins something or only reads fails without asking it, but
 *     for one try a second that may find it back. While it only takes no writes, reads ask. `ping` always asks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, JournalEntry, NewRun, RunResult, StoredRun, WaitingCall } from '../core/model.ts';
import {
  type ClaimRequest,
  type ClaimResult,
  type CodeRunStore,
  type KeyRotation,
  type Page,
  type PlatformSettings,
  type RotationReport,
  StoreReadOnly,
  StoreUnavailable,
  type Writer,
} from './contract.ts';

export interface Patience {
  /** How long a running run waits for the store. Milliseconds. */
  readonly waitMs: number;
  /** First and longest pause between two tries. Milliseconds. */
  readonly pauseMs: number;
  readonly pauseMsMax: number;
  /** Between two tries to begin something while the store is away. Milliseconds. */
  readonly probeMs: number;
}

export const patienceDefault: Patience = { waitMs: 15_000, pauseMs: 25, pauseMsMax: 1_000, probeMs: 1_000 };

export type StoreState = 'up' | 'read-only' | 'away';

type Work<T> = (store: CodeRunStore & KeyRotation) => Promise<T>;

export class PatientStore implements CodeRunStore, KeyRotation {
  readonly #store: () => CodeRunStore & KeyRotation;
  readonly #patience: Patience;
  readonly #onState: (state: StoreState) => void;
  #state: StoreState = 'up';
  #probedAtMs = 0;

  /** `store` throws StoreUnavailable while there is none. `onState` is told each change. */
  constructor(
    store: () => CodeRunStore & KeyRotation,
    patience: Patience,
    onState: (state: StoreState) => void = () => {},
  ) {
    this.#store = store;
    this.#patience = patience;
    this.#onState = onState;
  }

  create(run: NewRun, claim: ClaimRequest): Promise<{ readonly created: boolean; readonly run: StoredRun }> {
    return this.#begin((store) => store.create(run, claim));
  }

  claim(runId: string, claim: ClaimRequest): Promise<ClaimResult> {
    return this.#begin((store) => store.claim(runId, claim));
  }

  append(
    writer: Writer,
    length: number,
    entries: readonly JournalEntry[],
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    return this.#goOn((store) => store.append(writer, length, entries, logLines, nowMs));
  }

  wait(
    writer: Writer,
    waiting: readonly WaitingCall[],
    attempt: Attempt,
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    return this.#goOn((store) => store.wait(writer, waiting, attempt, logLines, nowMs));
  }

  release(writer: Writer, attempt: Attempt, nowMs: number): Promise<void> {
    return this.#goOn((store) => store.release(writer, attempt, nowMs));
  }

  finish(writer: Writer, result: RunResult, attempt: Attempt, nowMs: number): Promise<StoredRun> {
    return this.#goOn((store) => store.finish(writer, result, attempt, nowMs));
  }

  /** Not repeated here: whoever renews does so in time, and knows when the lease is over. */
  renew(writer: Writer, expiresAtMs: number): Promise<void> {
    return this.#once((store) => store.renew(writer, expiresAtMs));
  }

  cancel(runId: string, nowMs: number): Promise<StoredRun | undefined> {
    return this.#begin((store) => store.cancel(runId, nowMs));
  }

  get(runId: string): Promise<StoredRun | undefined> {
    return this.#read((store) => store.get(runId));
  }

  journal(runId: string): Promise<readonly JournalEntry[]> {
    return this.#read((store) => store.journal(runId));
  }

  list(session: string, pageSize: number, pageToken?: string): Promise<Page> {
    return this.#read((store) => store.list(session, pageSize, pageToken));
  }

  deleteSession(session: string): Promise<number> {
    return this.#begin((store) => store.deleteSession(session));
  }

  purge(beforeMs: number, signal?: AbortSignal): Promise<number> {
    return this.#begin((store) => store.purge(beforeMs, signal));
  }

  abandoned(beforeMs: number, max: number, afterId: string): Promise<readonly string[]> {
    return this.#read((store) => store.abandoned(beforeMs, max, afterId));
  }

  settings(): Promise<PlatformSettings> {
    return this.#read((store) => store.settings());
  }

  replaceSettings(next: PlatformSettings): Promise<boolean> {
    return this.#begin((store) => store.replaceSettings(next));
  }

  rotate(signal?: AbortSignal): Promise<RotationReport> {
    return this.#begin((store) => store.rotate(signal));
  }

  ping(): Promise<void> {
    return this.#once((store) => store.ping());
  }

  async close(): Promise<void> {
    await this.#store().close();
  }

  async #begin<T>(work: Work<T>): Promise<T> {
    this.#probe(this.#state === 'up');
    return this.#once(work);
  }

  async #read<T>(work: Work<T>): Promise<T> {
    this.#probe(this.#state !== 'away');
    // That a read is answered says nothing of writes.
    return this.#once(work, this.#state === 'read-only' ? 'read-only' : 'up');
  }

  /** Throws unless the store is well, or this is the try of a second. */
  #probe(well: boolean): void {
    const nowMs = performance.now();
    if (!well && nowMs - this.#probedAtMs < this.#patience.probeMs) {
      throw new StoreUnavailable('the store is away');
    }
    if (!well) this.#probedAtMs = nowMs;
  }

  async #goOn<T>(work: Work<T>): Promise<T> {
    const { waitMs, pauseMs, pauseMsMax } = this.#patience;
    const untilMs = performance.now() + waitMs;
    for (let pause = pauseMs; ; pause = Math.min(pause * 2, pauseMsMax)) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || performance.now() + pause > untilMs) {
          throw error;
        }
      }
      await sleep(pause);
    }
  }

  async #once<T>(work: Work<T>, then: StoreState = 'up'): Promise<T> {
    const store = this.#store(); // While there is none, nothing is asked, and nothing learnt of it.
    try {
      const done = await work(store);
      this.#is(then);
      return done;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#is(error instanceof StoreReadOnly ? 'read-only' : 'away');
      throw error;
    }
  }

  #is(state: StoreState): void {
    if (this.#state !== state) {
      this.#state = state;
      this.#onState(state);
    }
  }
}
