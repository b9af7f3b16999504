/**
 * Reading runs, the same for gRPC and HTTP.
 *
 * What a caller may not see does not exist: a run of somebody else and no run at all give the same answer.
 */
import { type Caller, maySee, permissions, requirePermission } from '../../shared/auth/caller.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import type { StoredRun } from '../core/model.ts';
import type { RunRecord } from '../runner/contract.ts';
import { type CodeRunStore, PageTokenInvalid, RunUnreadable } from '../store/contract.ts';
import { payloadBytes } from './calls.ts';
import { stored } from './stored.ts';
import { Fields, isRunId } from './validate.ts';

export interface RecordPage {
  readonly records: readonly RunRecord[];
  readonly nextPageToken?: string;
}

export interface ListQuery {
  readonly session: string;
  /** 0 means the default. */
  readonly pageSize: number;
  /** "" for the first page. */
  readonly pageToken: string;
}

type ReadStore = Pick<CodeRunStore, 'get' | 'journal' | 'list'>;

export class Reading {
  readonly #store: ReadStore;

  constructor(store: ReadStore) {
    this.#store = store;
  }

  async run(caller: Caller, runId: string): Promise<RunRecord> {
    requireReader(caller);
    const run = isRunId(runId) ? await stored(this.#store.get(runId)) : undefined;
    if (run === undefined || !maySee(caller, run)) throw noSuchRun();
    return { run, journal: await stored(this.#store.journal(run.id)) };
  }

  async list(caller: Caller, query: ListQuery, names: ListNames): Promise<RecordPage> {
    requireReader(caller);
    if (!caller.permissions.has(permissions.execute)) requirePermission(caller, permissions.readSessions);
    checkQuery(query, names);
    if (caller.sessions !== undefined && !maySee(caller, { owner: caller.subject, session: query.session })) {
      throw noSuchSession();
    }
    const page = await this.#visible(caller, query).catch((error: unknown) => {
      throw error instanceof PageTokenInvalid ? invalidField(names.pageToken, error.message) : error;
    });
    // Without a list of sessions in its token, a caller owns a session by its runs.
    if (page.records.length === 0 && query.pageToken === '' && !knowsSession(caller)) throw noSuchSession();
    return page;
  }

  /**
   * A page of what the caller may see. What is passed over counts for nothing, so that no page is short; a
   * page ends early where its runs together would be more than a message may hold.
   */
  async #visible(caller: Caller, query: ListQuery): Promise<RecordPage> {
    const size = query.pageSize === 0 ? limits.pageSizeDefault : query.pageSize;
    const records: RunRecord[] = [];
    let bytes = 0;
    let token = query.pageToken === '' ? undefined : query.pageToken;
    do {
      const from = token;
      const page = await stored(this.#store.list(query.session, size - records.length, from));
      for (const [index, run] of page.runs.entries()) {
        if (!maySee(caller, run)) continue;
        const record = await this.#listed(run);
        bytes += Math.min(payloadBytes(record), limits.recordBytesMax);
        if (bytes > limits.recordBytesMax && records.length > 0) {
          return this.#endBefore(records, query, from, index);
        }
        records.push(record);
      }
      token = page.nextPageToken;
    } while (token !== undefined && records.length < size);
    return { records, ...(token === undefined ? {} : { nextPageToken: token }) };
  }

  /** A run of a list. One that cannot be read stands there as Failed / Unavailable and hides no other. */
  async #listed(run: StoredRun): Promise<RunRecord> {
    try {
      return { run, journal: await this.#store.journal(run.id) };
    } catch (error) {
      if (!(error instanceof RunUnreadable)) return stored(Promise.reject(error));
      const { message } = error;
      const result = { tag: 'Failed', reason: 'Unavailable', message, line: 0, column: 0, logs: [] } as const;
      return { run: { ...run, status: 'Failed', result }, journal: [] };
    }
  }

  /** Ends a page after the first `count` runs that follow `from`: the store gives the token of that place. */
  async #endBefore(
    records: readonly RunRecord[],
    query: ListQuery,
    from: string | undefined,
    count: number,
  ): Promise<RecordPage> {
    if (count === 0) return { records, ...(from === undefined ? {} : { nextPageToken: from }) };
    const { nextPageToken } = await stored(this.#store.list(query.session, count, from));
    return { records, ...(nextPageToken === undefined ? {} : { nextPageToken }) };
  }
}

/** Names of the fields of a list as the transport writes them. */
export interface ListNames {
  readonly session: string;
  readonly pageSize: string;
  readonly pageToken: string;
}

function checkQuery(query: ListQuery, names: ListNames): void {
  const fields = new Fields();
  fields.id(names.session, query.session);
  if (query.pageSize !== 0) fields.range(names.pageSize, query.pageSize, 1, limits.pageSizeMax);
  fields.text(names.pageToken, query.pageToken, 0, limits.pageTokenBytesMax);
  fields.done();
}

function requireReader(caller: Caller): void {
  if (!caller.permissions.has(permissions.execute)) requirePermission(caller, permissions.useApps);
}

function knowsSession(caller: Caller): boolean {
  return caller.sessions !== undefined || caller.permissions.has(permissions.execute);
}

export function noSuchRun(): AppError {
  return new AppError('NOT_FOUND', 'no such code run');
}

function noSuchSession(): AppError {
  return new AppError('NOT_FOUND', 'no such session');
}
