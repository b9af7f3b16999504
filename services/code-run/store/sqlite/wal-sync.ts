/**
 * Makes commits durable without stopping the event loop. SQLite's own FULL would fsync the write-ahead log
 * inside each commit, on this thread. Here it commits with NORMAL (one write into the log, checkpoints still
 * synced by SQLite), and the log is synced from the thread pool before the write is acknowledged: all commits
 * made until a sync begins share it.
 *
 * W1  `done` resolves only after a sync that began after the call.
 * W2  After a failed sync nothing is known of what is on disk: every later `done` fails too, and `check` says so
 *     before anything more is written. A new start reads what the disk has.
 */
import { closeSync, fdatasync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const syncFile = promisify(fdatasync);
const zerosBytes = 1024 * 1024;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

export class WalSync {
  readonly #file: number;
  #waiters: Waiter[] = [];
  #running: Promise<void> | undefined;
  #failure: unknown;

  /**
   * The log exists once a connection in WAL mode has written. Its descriptor may be opened and closed beside
   * SQLite's: SQLite holds its locks on the database and the shared-memory file, never on the log.
   */
  constructor(databasePath: string) {
    this.#file = openSync(`${databasePath}-wal`, 'r+');
    const folder = openSync(dirname(databasePath), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }

  /**
   * Makes the log as large as it will be, with zeros, which SQLite takes for the rest of an older log: a sync of a
   * file that grows has to write its size as well, and takes about twice as long. To be called while the database is
   * locked for writing, so that nobody appends meanwhile. Where there is no room for it, the log stays as it is.
   */
  extend(bytes: number): void {
    const { size } = fstatSync(this.#file);
    const zeros = Buffer.alloc(zerosBytes);
    try {
      for (let at = size; at < bytes; ) {
        at += writeSync(this.#file, zeros, 0, Math.min(zeros.length, bytes - at), at);
      }
      fsyncSync(this.#file);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EFBIG') throw error;
      ftruncateSync(this.#file, size);
    }
  }

  done(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiters.push({ resolve, reject });
    this.#running ??= this.#work();
    return promise;
  }

  /** Throws if a sync has failed. */
  check(): void {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  async close(): Promise<void> {
    await this.#running;
    closeSync(this.#file);
  }

  /** One sync at a time, until nobody waits. Never rejects. */
  async #work(): Promise<void> {
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters;
      this.#waiters = [];
      try {
        if (this.#failure === undefined) {
          await syncFile(this.#file);
        }
      } catch (error) {
        this.#failure = error;
      }
      for (const { resolve, reject } of waiters) {
        if (this.#failure === undefined) {
          resolve();
        } else {
          reject(this.#failure);
        }
      }
    }
    this.#running = undefined;
  }
}
