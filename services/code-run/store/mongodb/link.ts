/**
 * The way to a MongoDB: the driver's client, and a new one where it has gone silent. The driver (7.9) can wait for
 * ever on a connection that breaks in the moment in which it is written to: an operation then never ends, and a
 * monitor that is caught so never finds its server again.
 *
 * L1  Every operation ends: without an answer within `answerMs` it is StoreUnavailable, and the client is replaced.
 * L2  Where nothing was answered for `renewMs` a failure replaces the client, at most once in that time.
 * L3  What a server refuses is an answer.
 */
import { type Collection, type Db, type MongoClient, MongoServerError } from 'mongodb';
import { StoreUnavailable } from '../contract.ts';
import { hostsOf, mongoClient } from './client.ts';
import type {
  BatchDocument,
  ChunkDocument,
  ProbeDocument,
  RunDocument,
  SettingsDocument,
} from './documents.ts';
import { unavailable } from './failures.ts';

export interface Silence {
  /** Above what the driver's own time-outs add up to for one operation. Milliseconds. */
  readonly answerMs: number;
  /** Milliseconds. */
  readonly renewMs: number;
}

export const silenceDefault: Silence = { answerMs: 30_000, renewMs: 15_000 };

/** What an operation works on. */
export interface Collections {
  readonly client: MongoClient;
  readonly database: Db;
  readonly runs: Collection<RunDocument>;
  readonly journal: Collection<BatchDocument>;
  readonly chunks: Collection<ChunkDocument>;
  readonly settings: Collection<SettingsDocument>;
  readonly probes: Collection<ProbeDocument>;
}

export class MongoLink {
  readonly #url: string;
  readonly #silence: Silence;
  #collections: Collections;
  #answeredAtMs = performance.now();
  #closed = false;

  /** Connects at the first operation. */
  constructor(url: string, silence: Silence) {
    this.#url = url;
    this.#silence = silence;
    this.#collections = collectionsOf(url);
  }

  get hosts(): string {
    return hostsOf(this.#collections.client);
  }

  /** Does one operation. Throws StoreUnavailable, with the driver's error as its cause. */
  async use<T>(work: (collections: Collections) => Promise<T>): Promise<T> {
    const used = this.#collections;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const { answerMs } = this.#silence;
    const timer = setTimeout(() => {
      reject(new StoreUnavailable(`MongoDB: no answer within ${answerMs} ms`));
      this.#renew(used);
    }, answerMs);
    try {
      const done = await Promise.race([work(used), late]);
      this.#answeredAtMs = performance.now();
      return done;
    } catch (error) {
      if (error instanceof MongoServerError) this.#answeredAtMs = performance.now();
      else if (performance.now() - this.#answeredAtMs >= this.#silence.renewMs) this.#renew(used);
      throw unavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#collections.client.close();
  }

  /** Of many that failed on one client the first replaces it. */
  #renew(failed: Collections): void {
    if (this.#closed || failed !== this.#collections) return;
    this.#answeredAtMs = performance.now();
    this.#collections = collectionsOf(this.#url);
    failed.client.close().catch(() => {}); // What still waited on it hears that it is closed.
  }
}

function collectionsOf(url: string): Collections {
  const { client, database: name } = mongoClient(url);
  const database = client.db(name);
  return {
    client,
    database,
    runs: database.collection('code_runs'),
    journal: database.collection('code_run_journal'),
    chunks: database.collection('code_run_chunks'),
    settings: database.collection('platform_settings'),
    probes: database.collection('platform_settings'),
  };
}
