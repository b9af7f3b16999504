/**
 * Rows in SQLite, through Node's own module: it comes with the pinned runtime, needs no native add-on to be
 * built or shipped, and costs the same per statement as the add-ons do.
 *
 * Statements run on this thread (tens of microseconds each); what may take long, the sync of the log, does
 * not (wal-sync.ts). Every statement is a transaction of its own, but for those that are wrapped in one.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type PlatformSettings, StoreReadOnly, StoreUnavailable, StoreUnusable } from '../contract.ts';
import { runFields } from '../row-shapes.ts';
import type {
  BatchHead,
  BatchRow,
  ChunkRow,
  ListPosition,
  NewRunRow,
  RowStore,
  RunRow,
  RunRowChange,
  RunRowExpectation,
  UnheldKind,
} from '../rows.ts';
import {
  batchHead,
  batchRow,
  type Cells,
  cellsOf,
  chunkRow,
  number,
  runColumns,
  runRow,
  text,
} from './columns.ts';
import { prepareSchema, rewriteVersion } from './schema.ts';
import { WalSync } from './wal-sync.ts';

export interface SqliteOptions {
  /** Path of the file, in a folder that is there; `:memory:` keeps everything in memory. */
  readonly path: string;
  /**
   * What an acknowledged write survives: `power` everything (synced to the disk), `process` the kill of any
   * process, not of the machine.
   */
  readonly durability: 'power' | 'process';
}

/** How long a statement waits, and blocks this thread, while another process writes the same file. */
const busyTimeoutMs = 2_000;

/**
 * Pages of the write-ahead log (16 MiB) after which they are moved into the database. That syncs both files on this
 * thread, and a page of the journal, which each append of its run writes again, is moved once: seldom is cheaper.
 */
const walPages = 4_000;
/** Each page has a head of 24 bytes, and the file one of 32. */
const walBytes = walPages * (4096 + 24) + 32;

export class SqliteRows implements RowStore {
  readonly #database: DatabaseSync;
  readonly #wal: WalSync | undefined;
  readonly #statements = new Map<string, StatementSync>();
  /** Whether the last write was taken: a full disk still reads. */
  #writable = true;

  constructor({ path, durability }: SqliteOptions) {
    const inMemory = path === ':memory:';
    let database: DatabaseSync | undefined;
    try {
      if (!inMemory) {
        makePrivateFile(path);
      }
      database = new DatabaseSync(path, { timeout: busyTimeoutMs });
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      database.exec(`PRAGMA wal_autocheckpoint = ${walPages}`);
      prepareSchema(database);
      this.#database = database;
      this.#wal = inMemory || durability === 'process' ? undefined : openLog(database, path);
    } catch (error) {
      database?.close();
      throw notOpened(error, path);
    }
  }

  insertRun(row: NewRunRow): Promise<boolean> {
    const columns = runFields.map((field) => runColumns[field]);
    const places = columns.map(() => '?');
    const sql = `INSERT INTO code_runs (${columns}) VALUES (${places}) ON CONFLICT DO NOTHING`;
    return this.#write(sql, ...cellsOf(row));
  }

  async run(id: string): Promise<RunRow | undefined> {
    const cells = this.#get('SELECT * FROM code_runs WHERE id = ?', id);
    return cells && runRow(cells);
  }

  async runOfCall(session: string, turn: string, callId: string): Promise<RunRow | undefined> {
    const sql = 'SELECT * FROM code_runs WHERE session = ? AND turn = ? AND call_id = ?';
    const cells = this.#get(sql, session, turn, callId);
    return cells && runRow(cells);
  }

  changeRun(id: string, expected: RunRowExpectation, change: RunRowChange): Promise<boolean> {
    const set = fieldsOf(change);
    const where = fieldsOf(expected);
    const sql = `UPDATE code_runs SET ${set.map((field) => `${runColumns[field]} = ?`)}
      WHERE ${['id = ?', ...where.map((field) => `${runColumns[field]} = ?`)].join(' AND ')}`;
    const changed = set.map((field) => defined(change[field as keyof RunRowChange]));
    return this.#write(
      sql,
      ...changed,
      id,
      ...where.map((field) => defined(expected[field as keyof RunRowExpectation])),
    );
  }

  insertBatch({ runId, slot, kind, epoch, first, count, logLines, atMs, body }: BatchRow): Promise<boolean> {
    const sql = `INSERT INTO code_run_journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    return this.#write(sql, runId, slot, kind, epoch, first, count, logLines, atMs, body);
  }

  async lastBatch(runId: string): Promise<BatchHead | undefined> {
    const cells = this.#get(
      `SELECT run_id, slot, kind, epoch, first, count, log_lines, at_ms FROM code_run_journal
       WHERE run_id = ? ORDER BY slot DESC LIMIT 1`,
      runId,
    );
    return cells && batchHead(cells);
  }

  async batch(runId: string, slot: number): Promise<BatchRow | undefined> {
    const cells = this.#get('SELECT * FROM code_run_journal WHERE run_id = ? AND slot = ?', runId, slot);
    return cells && batchRow(cells);
  }

  async batches(runId: string): Promise<readonly BatchRow[]> {
    return this.#all('SELECT * FROM code_run_journal WHERE run_id = ? ORDER BY slot', runId).map(batchRow);
  }

  async insertChunks(rows: readonly ChunkRow[]): Promise<void> {
    this.#transaction(() => {
      for (const { runId, blob, index, atMs, body } of rows) {
        this.#run('INSERT INTO code_run_chunks VALUES (?, ?, ?, ?, ?)', runId, blob, index, atMs, body);
      }
    });
    await this.#synced();
  }

  async chunks(runId: string, blob: string, count: number): Promise<readonly ChunkRow[]> {
    const sql = 'SELECT * FROM code_run_chunks WHERE run_id = ? AND blob = ? AND part < ? ORDER BY part';
    return this.#all(sql, runId, blob, count).map(chunkRow);
  }

  async list(session: string, max: number, after?: ListPosition): Promise<readonly RunRow[]> {
    const { createdAtMs, id } = after ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
    const sql = `SELECT * FROM code_runs
      WHERE session = ? AND (created_at_ms, id) < (?, ?) AND status <> 'Deleted'
      ORDER BY created_at_ms DESC, id DESC LIMIT ?`;
    return this.#all(sql, session, createdAtMs, id, max).map(runRow);
  }

  async idsOfSession(session: string, max: number): Promise<readonly string[]> {
    return this.#ids('SELECT id FROM code_runs WHERE session = ? LIMIT ?', session, max);
  }

  async idsOfUnheld(
    kind: UnheldKind,
    beforeMs: number,
    max: number,
    afterId: string,
  ): Promise<readonly string[]> {
    // As the partial indexes have it: only then they are used.
    const which = kind === 'Waiting' ? `status = 'Waiting'` : `status IN ('Running', 'Released')`;
    const sql = `SELECT id FROM code_runs
      WHERE ${which} AND lease_expires_at_ms < ? AND id > ? ORDER BY id LIMIT ?`;
    return this.#ids(sql, beforeMs, afterId, max);
  }

  async idsOfEnded(beforeMs: number, max: number): Promise<readonly string[]> {
    const sql = `SELECT id FROM code_runs
      WHERE status IN ('Completed', 'Failed', 'Cancelled', 'Deleted') AND updated_at_ms < ? LIMIT ?`;
    return this.#ids(sql, beforeMs, max);
  }

  async idsNotUnderKey(keyId: string, afterId: string, max: number): Promise<readonly string[]> {
    const sql = `SELECT id FROM code_runs
      WHERE id > ? AND key_id <> ? AND status <> 'Deleted' ORDER BY id LIMIT ?`;
    return this.#ids(sql, afterId, keyId, max);
  }

  async removeContent(runId: string, places: 'go' | 'stay'): Promise<void> {
    const journal =
      places === 'go'
        ? 'DELETE FROM code_run_journal WHERE run_id = ?'
        : `UPDATE code_run_journal SET kind = 'fence', body = x'' WHERE run_id = ?`;
    this.#transaction(() => {
      this.#run('DELETE FROM code_run_chunks WHERE run_id = ?', runId);
      this.#run(journal, runId);
    });
    await this.#synced();
  }

  async removeRun(id: string): Promise<void> {
    await this.#write('DELETE FROM code_runs WHERE id = ?', id);
  }

  async removeOrphans(beforeMs: number): Promise<void> {
    await this.#write(
      `DELETE FROM code_run_chunks WHERE at_ms < ?
       AND NOT EXISTS (SELECT 1 FROM code_runs WHERE code_runs.id = code_run_chunks.run_id)`,
      beforeMs,
    );
  }

  async settings(): Promise<PlatformSettings | undefined> {
    const cells = this.#get('SELECT * FROM platform_settings WHERE id = 1');
    return (
      cells && {
        version: number(cells, 'version'),
        enabled: number(cells, 'enabled') === 1,
        timeoutMs: number(cells, 'timeout_ms'),
        memoryMb: number(cells, 'memory_mb'),
        outputBytes: number(cells, 'output_bytes'),
      }
    );
  }

  replaceSettings({
    version,
    enabled,
    timeoutMs,
    memoryMb,
    outputBytes,
  }: PlatformSettings): Promise<boolean> {
    const values = [version, enabled ? 1 : 0, timeoutMs, memoryMb, outputBytes];
    if (version === 1) {
      const sql = 'INSERT INTO platform_settings VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
      return this.#write(sql, ...values);
    }
    const sql = `UPDATE platform_settings
      SET version = ?, enabled = ?, timeout_ms = ?, memory_mb = ?, output_bytes = ? WHERE version = ?`;
    return this.#write(sql, ...values, version - 1);
  }

  /** Where writes fail, one that changes nothing tells whether they still do. */
  async ping(): Promise<void> {
    this.#get('SELECT count(*) FROM code_runs WHERE id = ?', '');
    if (!this.#writable) {
      this.#run(rewriteVersion);
    }
  }

  async close(): Promise<void> {
    await this.#wal?.close();
    this.#database.close();
  }

  /** One durable statement; whether it changed a row. */
  async #write(sql: string, ...values: SQLInputValue[]): Promise<boolean> {
    const changed = this.#run(sql, ...values);
    await this.#synced();
    return changed;
  }

  async #synced(): Promise<void> {
    try {
      await this.#wal?.done();
    } catch (error) {
      this.#writable = false;
      throw readOnly(error);
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): boolean {
    this.#writable = false;
    try {
      this.#wal?.check();
      const changed = Number(this.#statement(sql).run(...values).changes) > 0;
      this.#writable = true;
      return changed;
    } catch (error) {
      throw readOnly(error);
    }
  }

  #get(sql: string, ...values: SQLInputValue[]): Cells | undefined {
    return this.#read(sql, (statement) => {
      const cells = statement.get(...values);
      return cells === undefined ? [] : [cells];
    })[0];
  }

  #all(sql: string, ...values: SQLInputValue[]): Cells[] {
    return this.#read(sql, (statement) => statement.all(...values));
  }

  #ids(sql: string, ...values: SQLInputValue[]): string[] {
    return this.#all(sql, ...values).map((cells) => text(cells, 'id'));
  }

  #transaction(work: () => void): void {
    this.#run('BEGIN IMMEDIATE');
    try {
      work();
      this.#run('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) {
        this.#database.exec('ROLLBACK');
      }
      throw error;
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** Numbers that no store writes may be too large to be read as such: then each is read as what holds it. */
  #read(sql: string, read: (statement: StatementSync) => Cells[]): Cells[] {
    try {
      const statement = this.#statement(sql);
      try {
        return read(statement);
      } catch (error) {
        if (!isOutOfRange(error)) throw error;
      }
      statement.setReadBigInts(true);
      try {
        return read(statement).map(inNumbers);
      } finally {
        statement.setReadBigInts(false);
      }
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function openLog(database: DatabaseSync, path: string): WalSync {
  const wal = new WalSync(path);
  database.exec('BEGIN IMMEDIATE');
  wal.extend(walBytes);
  database.exec('COMMIT');
  return wal;
}

function fieldsOf(change: RunRowChange | RunRowExpectation): (keyof NewRunRow)[] {
  return runFields.filter((field) => field in change);
}

function defined(value: string | number | Uint8Array | undefined): SQLInputValue {
  if (value === undefined) {
    throw new TypeError('a field that is named has a value');
  }
  return value;
}

/** Readable by its owner alone; SQLite gives its side files the mode of the database. */
function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

/**
 * What SQLite says when the database cannot be reached or written: its result code is below 100, and those of
 * a mistake in a statement (error, misuse, mismatch, range) stay what they are.
 */
function unavailable(error: unknown): unknown {
  const mistakes = [1, 20, 21, 25];
  if (!(error instanceof Error) || error instanceof StoreUnavailable || error instanceof TypeError) {
    return error;
  }
  const result = resultOf(error);
  if (result !== undefined && mistakes.includes(result)) {
    return error;
  }
  return new StoreUnavailable(`SQLite: ${error.message}`, { cause: error });
}

/** Of a write that failed: whether it could be read all the same shows when it is. */
function readOnly(error: unknown): unknown {
  const sorted = unavailable(error);
  return sorted instanceof StoreUnavailable && !(sorted instanceof StoreReadOnly)
    ? new StoreReadOnly(sorted.message, { cause: sorted.cause })
    : sorted;
}

/** What is no number stays as it is, and fits no field. */
function inNumbers(cells: Cells): Cells {
  const given = Object.entries(cells).map(([column, value]) => {
    const fits = typeof value === 'bigint' && Number.isSafeInteger(Number(value));
    return [column, fits ? Number(value) : value] as const;
  });
  return Object.fromEntries(given);
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';
}

/** SQLite's primary result code. */
function resultOf(error: Error): number | undefined {
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** What the system says of a disk that is full or fails, where a file is not opened or written by SQLite. */
function isDiskTrouble(error: Error): boolean {
  const codes: unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'];
  return 'code' in error && codes.includes(error.code);
}

/** Why the database did not open. The lock of another process passes by itself, and so may what ails a disk. */
function notOpened(error: unknown, path: string): unknown {
  const [busy, locked, ioError, full, notADatabase] = [5, 6, 10, 13, 26];
  if (!(error instanceof Error) || error instanceof StoreUnusable) return error;
  const result = resultOf(error);
  const passes = result !== undefined && [busy, locked, ioError, full].includes(result);
  if (passes || isDiskTrouble(error)) {
    return new StoreUnavailable(`names ${path}, which cannot be opened now: ${error.message}`, {
      cause: error,
    });
  }
  if (result === notADatabase) {
    return new StoreUnusable(
      `names a file that is no SQLite database, ${path}: name another, or move it away`,
      {
        cause: error,
      },
    );
  }
  return new StoreUnusable(
    `cannot be opened as the SQLite database ${path} (${error.message}): name a file that this user may make and write`,
    { cause: error },
  );
}
