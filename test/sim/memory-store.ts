/**
 * The store contract in memory, for simulations: each method applies at once and whole. What a real store
 * adds (sealing, disks, servers) is tested with the stores.
 */

import {
  type Attempt,
  isFinal,
  type JournalEntry,
  type NewRun,
  type RunResult,
  type StoredRun,
  type WaitingCall,
} from '../../services/code-run/core/model.ts';
import {
  type ClaimRequest,
  type ClaimResult,
  type CodeRunStore,
  LeaseLost,
  type Page,
  type PlatformSettings,
  type Writer,
} from '../../services/code-run/store/contract.ts';
import { AppError } from '../../services/shared/errors.ts';
import { settingRanges } from '../../services/shared/limits.ts';

interface Row {
  run: StoredRun;
  journal: JournalEntry[];
}

export class MemoryStore implements CodeRunStore {
  readonly rows = new Map<string, Row>();
  #settings: PlatformSettings = {
    version: 0,
    enabled: true,
    timeoutMs: settingRanges.timeoutMs.initial,
    memoryMb: settingRanges.memoryMb.initial,
    outputBytes: settingRanges.outputBytes.initial,
  };

  async create(run: NewRun, claim: ClaimRequest) {
    for (const { run: other } of this.rows.values()) {
      const same = other.session === run.session && other.turn === run.turn && other.callId === run.callId;
      if (same) return { created: false, run: other };
    }
    const stored: StoredRun = {
      ...run,
      status: 'Running',
      updatedAtMs: claim.nowMs,
      lease: leaseOf(claim, 1),
      journalLength: 0,
      logLines: 0,
      waiting: [],
      attempts: [],
    };
    this.rows.set(run.id, { run: stored, journal: [] });
    return { created: true, run: stored };
  }

  async claim(runId: string, claim: ClaimRequest): Promise<ClaimResult> {
    const row = this.rows.get(runId);
    if (row === undefined) return { tag: 'NotFound' };
    const { run } = row;
    if (isFinal(run.status) || run.lease.expiresAtMs > claim.nowMs) return { tag: 'Refused', run };
    row.run = { ...run, status: 'Running', lease: leaseOf(claim, run.lease.epoch + 1) };
    return { tag: 'Claimed', run: row.run };
  }

  async renew(writer: Writer, expiresAtMs: number): Promise<void> {
    const row = this.#owned(writer);
    row.run = { ...row.run, lease: { ...row.run.lease, expiresAtMs } };
  }

  async release(writer: Writer, attempt: Attempt, nowMs: number): Promise<void> {
    const row = this.#owned(writer);
    row.run = { ...row.run, ...this.#ended(row.run, attempt, nowMs) };
  }

  async append(
    writer: Writer,
    length: number,
    entries: readonly JournalEntry[],
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    const row = this.#owned(writer);
    if (row.journal.length !== length) throw new LeaseLost();
    row.journal.push(...entries);
    row.run = { ...row.run, journalLength: row.journal.length, logLines, updatedAtMs: nowMs };
  }

  async wait(
    writer: Writer,
    waiting: readonly WaitingCall[],
    attempt: Attempt,
    logLines: number,
    nowMs: number,
  ): Promise<void> {
    const row = this.#owned(writer);
    row.run = { ...row.run, ...this.#ended(row.run, attempt, nowMs), status: 'Waiting', waiting, logLines };
  }

  async finish(writer: Writer, result: RunResult, attempt: Attempt, nowMs: number): Promise<StoredRun> {
    const row = this.#owned(writer);
    row.run = { ...row.run, ...this.#ended(row.run, attempt, nowMs), status: result.tag, result };
    return row.run;
  }

  async cancel(runId: string, nowMs: number): Promise<StoredRun | undefined> {
    const row = this.rows.get(runId);
    if (row === undefined || isFinal(row.run.status)) return row?.run;
    row.run = {
      ...row.run,
      status: 'Cancelled',
      result: { tag: 'Cancelled', logs: [] },
      updatedAtMs: nowMs,
      lease: { owner: '', epoch: row.run.lease.epoch + 1, expiresAtMs: nowMs },
    };
    return row.run;
  }

  async get(runId: string): Promise<StoredRun | undefined> {
    return this.rows.get(runId)?.run;
  }

  async journal(runId: string): Promise<readonly JournalEntry[]> {
    return this.rows.get(runId)?.journal.slice() ?? [];
  }

  async list(session: string, pageSize: number): Promise<Page> {
    const all = [...this.rows.values()].map(({ run }) => run).filter((run) => run.session === session);
    return { runs: all.slice(0, pageSize) };
  }

  async deleteSession(session: string): Promise<number> {
    const { runs } = await this.list(session, Number.POSITIVE_INFINITY);
    for (const { id } of runs) this.rows.delete(id);
    return runs.length;
  }

  async purge(beforeMs: number): Promise<number> {
    const old = [...this.rows.values()].filter(
      ({ run }) => isFinal(run.status) && run.updatedAtMs < beforeMs,
    );
    for (const { run } of old) this.rows.delete(run.id);
    return old.length;
  }

  async abandoned(beforeMs: number, max: number, afterId: string): Promise<readonly string[]> {
    return [...this.rows.values()]
      .filter(({ run }) => run.status === 'Running' && run.lease.expiresAtMs < beforeMs)
      .map(({ run }) => run.id)
      .filter((id) => id > afterId)
      .toSorted()
      .slice(0, max);
  }

  async settings(): Promise<PlatformSettings> {
    return this.#settings;
  }

  async replaceSettings(next: PlatformSettings): Promise<boolean> {
    if (next.version !== this.#settings.version + 1) return false;
    this.#settings = next;
    return true;
  }

  async ping(): Promise<void> {}
  async close(): Promise<void> {}

  #owned(writer: Writer): Row {
    const row = this.rows.get(writer.runId);
    if (row === undefined || isFinal(row.run.status) || row.run.lease.epoch !== writer.epoch) {
      throw new LeaseLost();
    }
    if (row.run.status === 'Waiting') throw new AppError('INTERNAL', 'a write to a run that waits');
    return row;
  }

  #ended(run: StoredRun, attempt: Attempt, nowMs: number): Partial<StoredRun> {
    return {
      attempts: [...run.attempts, attempt],
      updatedAtMs: nowMs,
      waiting: [],
      lease: { ...run.lease, expiresAtMs: nowMs },
    };
  }
}

function leaseOf(claim: ClaimRequest, epoch: number): StoredRun['lease'] {
  return { owner: claim.owner, epoch, expiresAtMs: claim.nowMs + claim.leaseMs };
}
