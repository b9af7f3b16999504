/**
 * The contract over any row store. Who may write is decided by the log (log.ts) and by compare-and-change on
 * the run's row; what is written is sealed by the codec.
 *
 * An instance remembers where the log of each run it has claimed ends, and the run's data key: an append is
 * then one insert. Whatever it has forgotten it reads again, so this is never more than a saving.
 *
 * A write whose answer was lost may be repeated (S6): its trace is recognized and counts as done.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { limits } from '../../shared/limits.ts';
import type { Attempt, JournalEntry, NewRun, RunResult, StoredRun, WaitingCall } from '../core/model.ts';
import type { KeyKeeper } from '../crypto/keys.ts';
import { RunCanceller } from './canceller.ts';
import {
  type ClaimRequest,
  type ClaimResult,
  type CodeRunStore,
  type KeyRotation,
  LeaseLost,
  type Page,
  type PlatformSettings,
  type RotationReport,
  StoreUnavailable,
  type Writer,
} from './contract.ts';
import { type HeldRun, HeldRuns } from './held-runs.ts';
import { emptyLog, RunLog } from './log.ts';
import { RunReader } from './reader.ts';
import { RunRemover } from './remover.ts';
import { rotate } from './rotation.ts';
import { isFinalRow, outward, type RowStatus, type RowStore, type RunRowChange } from './rows.ts';
import { RunCodec } from './run-codec.ts';
import { initialSettings } from './settings.ts';

export interface SealedStoreOptions {
  readonly rows: RowStore;
  readonly keys: KeyKeeper;
  /** Called for each run found unreadable: it deserves an alarm. The message holds no content. */
  readonly onUnreadable?: (runId: string, message: string) => void;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type GivenUp = Exclude<RowStatus, 'Running' | 'Deleted'>;

export class SealedStore implements CodeRunStore, KeyRotation {
  readonly #rows: RowStore;
  readonly #keys: KeyKeeper;
  readonly #codec: RunCodec;
  readonly #log: RunLog;
  readonly #held = new HeldRuns(limits.storeHeldRunsMax);
  readonly #reader: RunReader;
  readonly #canceller: RunCanceller;
  readonly #remover: RunRemover;

  constructor({ rows, keys, onUnreadable }: SealedStoreOptions) {
    this.#rows = rows;
    this.#keys = keys;
    this.#codec = new RunCodec(rows, keys);
    this.#log = new RunLog(rows, this.#codec);
    this.#reader = new RunReader(rows, this.#codec, this.#log, onUnreadable ?? (() => {}));
    this.#canceller = new RunCanceller({
      rows,
      codec: this.#codec,
      log: this.#log,
      reader: this.#reader,
      onCancelled: (runId) => this.#held.drop(runId),
    });
    this.#remover = new RunRemover(rows, this.#log, this.#reader, (runId) => {
      this.#held.drop(runId);
      this.#codec.forget(runId);
    });
  }

  async create(
    run: NewRun,
    claim: ClaimRequest,
  ): Promise<{ readonly created: boolean; readonly run: StoredRun }> {
    assert.match(run.id, uuid, 'a run id is a UUID: rows are kept under it');
    const { row, chunks, key } = await this.#codec.sealRun(run, claim);
    if (chunks.length > 0) {
      await this.#rows.insertChunks(chunks);
    }
    if (await this.#rows.insertRun(row)) {
      const lease = { owner: row.leaseOwner, epoch: row.epoch, expiresAtMs: row.leaseExpiresAtMs };
      const stored: StoredRun = {
        ...run,
        status: 'Running',
        updatedAtMs: run.createdAtMs,
        lease,
        journalLength: 0,
        logLines: 0,
        waiting: [],
        attempts: [],
      };
      this.#held.put({ key, run: stored, end: emptyLog });
      return { created: true, run: stored };
    }
    this.#codec.forget(run.id);
    const there = await this.#rows.runOfCall(run.session, run.turn, run.callId);
    const known = there && (await this.#reader.open(there));
    if (there === undefined || known === undefined) {
      throw new StoreUnavailable('the run of this call was deleted at this moment: start it again');
    }
    const own = there.id === run.id && there.epoch === 1 && there.leaseOwner === claim.owner;
    return { created: own && there.status === 'Running', run: known };
  }

  async claim(runId: string, claim: ClaimRequest): Promise<ClaimResult> {
    for (;;) {
      const row = await this.#reader.row(runId);
      if (row === undefined) {
        return { tag: 'NotFound' };
      }
      const run = await this.#reader.open(row);
      if (run === undefined) {
        return { tag: 'NotFound' };
      }
      const owned = row.status === 'Running' && row.leaseExpiresAtMs > claim.nowMs;
      if (owned || isFinalRow(row.status)) {
        return { tag: 'Refused', run };
      }
      const change = {
        status: 'Running',
        epoch: row.epoch + 1,
        leaseOwner: claim.owner,
        leaseExpiresAtMs: claim.nowMs + claim.leaseMs,
        updatedAtMs: claim.nowMs,
      } as const;
      const { status, epoch, leaseExpiresAtMs } = row;
      if (!(await this.#rows.changeRun(runId, { status, epoch, leaseExpiresAtMs }, change))) {
        continue;
      }
      const key = await this.#codec.keyOf(row);
      const end = await this.#log.fence(key, change.epoch, row.logLines, claim.nowMs);
      if (end === undefined) {
        continue;
      }
      const claimed: StoredRun = {
        ...run,
        status: 'Running',
        updatedAtMs: claim.nowMs,
        lease: { owner: claim.owner, epoch: change.epoch, expiresAtMs: change.leaseExpiresAtMs },
        journalLength: end.length,
        logLines: end.logLines,
      };
      this.#held.put({ key, run: claimed, end });
      return { tag: 'Claimed', run: claimed };
    }
  }

  async renew({ runId, epoch }: Writer, expiresAtMs: number): Promise<void> {
    const expected = { status: 'Running', epoch } as const;
    if (!(await this.#rows.changeRun(runId, expected, { leaseExpiresAtMs: expiresAtMs }))) {
      throw this.#lost(runId);
    }
  }

  async append(
    writer: Writer,
    length: number,
    entries: readonly JournalEntry[],
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    const held = await this.#heldRun(writer);
    if (held === undefined) {
      throw this.#lost(writer.runId);
    }
    const { key, end } = held;
    const fits = end.length === length;
    if (fits && (await this.#log.append(key, writer.epoch, end, entries, logLines, nowMs))) {
      held.end = { slot: end.slot + 1, length: length + entries.length, logLines };
      return;
    }
    const slot = fits ? end.slot : end.slot - 1;
    const written = await this.#log.written(key, slot, writer.epoch, length);
    if (written === undefined || !isDeepStrictEqual(written, entries)) {
      throw this.#lost(writer.runId);
    }
    held.end = { slot: slot + 1, length: length + entries.length, logLines };
  }

  async wait(
    writer: Writer,
    waiting: readonly WaitingCall[],
    attempt: Attempt,
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    await this.#giveUp(writer, 'Waiting', attempt, nowMs, () => ({
      waiting: JSON.stringify(waiting),
      logLines,
    }));
  }

  async release(writer: Writer, attempt: Attempt, nowMs: number): Promise<void> {
    await this.#giveUp(writer, 'Released', attempt, nowMs, () => ({}));
  }

  async finish(writer: Writer, result: RunResult, attempt: Attempt, nowMs: number): Promise<StoredRun> {
    const done = await this.#giveUp(writer, result.tag, attempt, nowMs, async ({ key, end }) => {
      const { sealed, chunks } = await this.#codec.sealEnd(
        key,
        {
          id: writer.runId,
          status: result.tag,
          epoch: writer.epoch,
          journalLength: end.length,
          logLines: end.logLines,
          updatedAtMs: nowMs,
        },
        result,
      );
      if (chunks.length > 0) {
        await this.#rows.insertChunks(chunks);
      }
      return { end: sealed };
    });
    if (done.result !== undefined && !isDeepStrictEqual(done.result, result)) {
      throw this.#lost(writer.runId);
    }
    return { ...done, result };
  }

  cancel(runId: string, nowMs: number): Promise<StoredRun | undefined> {
    return this.#canceller.cancel(runId, nowMs);
  }

  get(runId: string): Promise<StoredRun | undefined> {
    return this.#reader.get(runId);
  }

  journal(runId: string): Promise<readonly JournalEntry[]> {
    return this.#reader.journal(runId);
  }

  list(session: string, pageSize: number, pageToken?: string): Promise<Page> {
    return this.#reader.list(session, pageSize, pageToken);
  }

  deleteSession(session: string): Promise<number> {
    return this.#remover.deleteSession(session);
  }

  purge(beforeMs: number, signal?: AbortSignal): Promise<number> {
    return this.#remover.purge(beforeMs, signal);
  }

  abandoned(beforeMs: number, max: number, afterId: string): Promise<readonly string[]> {
    return this.#rows.idsOfUnheld('Running', beforeMs, max, afterId);
  }

  async settings(): Promise<PlatformSettings> {
    return (await this.#rows.settings()) ?? initialSettings;
  }

  replaceSettings(next: PlatformSettings): Promise<boolean> {
    return this.#rows.replaceSettings(next);
  }

  rotate(signal?: AbortSignal): Promise<RotationReport> {
    return rotate(this.#rows, this.#keys, signal);
  }

  ping(): Promise<void> {
    return this.#rows.ping();
  }

  close(): Promise<void> {
    return this.#rows.close();
  }

  /** What is known of the writer's run; read again if forgotten. Undefined: the lease is not its own. */
  async #heldRun({ runId, epoch }: Writer): Promise<HeldRun | undefined> {
    const held = this.#held.get(runId);
    if (held?.run.lease.epoch === epoch) {
      return held;
    }
    const row = await this.#reader.row(runId);
    if (row?.epoch !== epoch || row.status !== 'Running') {
      return undefined;
    }
    const run = await this.#reader.open(row);
    if (run === undefined) {
      return undefined;
    }
    const fresh: HeldRun = { key: await this.#codec.keyOf(row), run, end: await this.#log.end(runId) };
    this.#held.put(fresh);
    return fresh;
  }

  /**
   * Ends the writer's lease with a change of status, and gives the run as it is then: without its result,
   * unless an earlier try had already done it.
   */
  async #giveUp(
    writer: Writer,
    status: GivenUp,
    attempt: Attempt,
    nowMs: number,
    changeOf: (held: HeldRun) => RunRowChange | Promise<RunRowChange>,
  ): Promise<StoredRun> {
    const { runId, epoch } = writer;
    const held = await this.#heldRun(writer);
    if (held !== undefined) {
      const { run, end } = held;
      const attempts = [...run.attempts, attempt].slice(-limits.storeAttemptsMax);
      const known = {
        status,
        journalLength: end.length,
        logLines: end.logLines,
        updatedAtMs: nowMs,
      } as const;
      const lease = { leaseOwner: '', leaseExpiresAtMs: nowMs };
      const change = { ...known, ...lease, attempts: JSON.stringify(attempts), ...(await changeOf(held)) };
      if (await this.#rows.changeRun(runId, { status: 'Running', epoch }, change)) {
        this.#held.drop(runId);
        const given = { owner: '', epoch, expiresAtMs: nowMs };
        return { ...run, ...known, status: outward(status), lease: given, attempts };
      }
    }
    const row = await this.#reader.row(runId);
    const repeated = row?.epoch === epoch && row.status === status;
    const run = repeated ? await this.#reader.open(row) : undefined;
    if (run?.attempts.at(-1)?.number !== attempt.number) {
      throw this.#lost(runId);
    }
    this.#held.drop(runId);
    return run;
  }

  #lost(runId: string): LeaseLost {
    this.#held.drop(runId);
    return new LeaseLost(`run ${runId} was claimed by another, cancelled, ended or deleted`);
  }
}
