/**
 * Rows in MongoDB, or in any server of its protocol: inserts, finds, updates with $set, deletes, unique and
 * plain indexes. No transactions, no change streams, no pipelines.
 *
 * What is asked of the server is what MongoDB promises for one document: an insert under an id that is taken
 * fails, and an update matches and changes in one step.
 */
import { type Collection, type Db, type Filter, type MongoClient, MongoServerError } from 'mongodb';
import { limits } from '../../../shared/limits.ts';
import type { PlatformSettings } from '../contract.ts';
import type {
  BatchHead,
  BatchRow,
  ChunkRow,
  ListPosition,
  RowStatus,
  RowStore,
  RunRow,
  RunRowChange,
  RunRowExpectation,
  UnheldKind,
} from '../rows.ts';
import { hostsOf, mongoClient } from './client.ts';
import {
  type BatchDocument,
  batchDocument,
  batchHead,
  batchId,
  batchRow,
  type ChunkDocument,
  chunkDocument,
  chunkId,
  chunkRow,
  idsUnder,
  type RunDocument,
  runDocument,
  runRow,
  type SettingsDocument,
} from './documents.ts';
import { isDuplicate, notOpened, unavailable } from './failures.ts';

const settingsId = 'code-mode';
const held: RowStatus[] = ['Running', 'Released'];
const ended: RowStatus[] = ['Completed', 'Failed', 'Cancelled', 'Deleted'];
/** One insert command stays below the 48 MB that a server takes. */
const chunksAtOnce = Math.floor((32 * 1024 * 1024) / limits.storeChunkBytesMax);
const orphansAtOnce = 1_000;
/** The end of a log is decided by inserts: what is on the primary counts, majority or not. */
const local = { readConcern: { level: 'local' } } as const;

export class MongoRows implements RowStore {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #runs: Collection<RunDocument>;
  readonly #journal: Collection<BatchDocument>;
  readonly #chunks: Collection<ChunkDocument>;
  readonly #settings: Collection<SettingsDocument>;

  private constructor(client: MongoClient, database: Db) {
    this.#client = client;
    this.#database = database;
    this.#runs = database.collection('code_runs');
    this.#journal = database.collection('code_run_journal');
    this.#chunks = database.collection('code_run_chunks');
    this.#settings = database.collection('platform_settings');
  }

  /** Connects and makes the indexes that are not there. */
  static async open(url: string): Promise<MongoRows> {
    const { client, database } = mongoClient(url);
    const rows = new MongoRows(client, client.db(database));
    try {
      await rows.#prepare();
      return rows;
    } catch (error) {
      await client.close();
      throw notOpened(error, hostsOf(client));
    }
  }

  /** One index a command: FerretDB v1 closes the connection on a list of which several are there already. */
  async #prepare(): Promise<void> {
    await attempt(async () => {
      await this.#client.connect();
      await this.#runs.createIndex({ session: 1, turn: 1, callId: 1 }, { name: 'call', unique: true });
      await this.#runs.createIndex({ session: 1, createdAtMs: -1, _id: -1 }, { name: 'list' });
      await this.#runs.createIndex({ status: 1, leaseExpiresAtMs: 1 }, { name: 'lease' });
      await this.#runs.createIndex({ status: 1, updatedAtMs: 1 }, { name: 'age' });
      await this.#chunks.createIndex({ atMs: 1 }, { name: 'age' });
    });
  }

  insertRun(row: RunRow): Promise<boolean> {
    return unlessDuplicate(() => this.#runs.insertOne(runDocument(row)));
  }

  async run(id: string): Promise<RunRow | undefined> {
    const found = await attempt(() => this.#runs.findOne({ _id: id }));
    return found === null ? undefined : runRow(found);
  }

  async runOfCall(session: string, turn: string, callId: string): Promise<RunRow | undefined> {
    const found = await attempt(() => this.#runs.findOne({ session, turn, callId }));
    return found === null ? undefined : runRow(found);
  }

  async changeRun(id: string, expected: RunRowExpectation, change: RunRowChange): Promise<boolean> {
    const { matchedCount } = await attempt(() =>
      this.#runs.updateOne({ _id: id, ...expected }, { $set: change }),
    );
    return matchedCount === 1;
  }

  insertBatch(row: BatchRow): Promise<boolean> {
    return unlessDuplicate(() => this.#journal.insertOne(batchDocument(row)));
  }

  async lastBatch(runId: string): Promise<BatchHead | undefined> {
    const [last] = await attempt(() =>
      this.#journal
        .find<Omit<BatchDocument, 'body'>>(
          { _id: idsUnder(runId) },
          { projection: { body: 0 }, sort: { _id: -1 }, limit: 1, ...local },
        )
        .toArray(),
    );
    return last && batchHead(last);
  }

  async batch(runId: string, slot: number): Promise<BatchRow | undefined> {
    const found = await attempt(() => this.#journal.findOne({ _id: batchId(runId, slot) }, local));
    return found === null ? undefined : batchRow(found);
  }

  async batches(runId: string): Promise<readonly BatchRow[]> {
    const found = await attempt(() =>
      this.#journal.find({ _id: idsUnder(runId) }, { sort: { _id: 1 }, ...local }).toArray(),
    );
    return found.map(batchRow);
  }

  async insertChunks(rows: readonly ChunkRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += chunksAtOnce) {
      const documents = rows.slice(at, at + chunksAtOnce).map(chunkDocument);
      await attempt(() => this.#chunks.insertMany(documents));
    }
  }

  async chunks(runId: string, blob: string, count: number): Promise<readonly ChunkRow[]> {
    const ids = Array.from({ length: count }, (_, index) => chunkId(runId, blob, index));
    const found = await attempt(() => Promise.all(ids.map((_id) => this.#chunks.findOne({ _id }, local))));
    return found.filter((each) => each !== null).map(chunkRow);
  }

  async list(session: string, max: number, after?: ListPosition): Promise<readonly RunRow[]> {
    const filter: Filter<RunDocument> =
      after === undefined
        ? { session }
        : {
            session,
            $or: [
              { createdAtMs: { $lt: after.createdAtMs } },
              { createdAtMs: after.createdAtMs, _id: { $lt: after.id } },
            ],
          };
    const found = await attempt(() =>
      this.#runs.find(filter, { sort: { createdAtMs: -1, _id: -1 }, limit: max }).toArray(),
    );
    return found.filter(({ status }) => status !== 'Deleted').map(runRow);
  }

  idsOfSession(session: string, max: number): Promise<readonly string[]> {
    return this.#ids({ session, status: { $ne: 'Deleted' } }, max);
  }

  idsOfUnheld(kind: UnheldKind, beforeMs: number, max: number, afterId: string): Promise<readonly string[]> {
    const which: RowStatus[] = kind === 'Waiting' ? ['Waiting'] : held;
    const filter = { status: { $in: which }, leaseExpiresAtMs: { $lt: beforeMs }, _id: { $gt: afterId } };
    return this.#ids(filter, max, { _id: 1 });
  }

  idsOfEnded(beforeMs: number, max: number): Promise<readonly string[]> {
    return this.#ids({ status: { $in: ended }, updatedAtMs: { $lt: beforeMs } }, max);
  }

  async idsNotUnderKey(keyId: string, afterId: string, max: number): Promise<readonly string[]> {
    const filter = { _id: { $gt: afterId }, keyId: { $ne: keyId }, status: { $ne: 'Deleted' as const } };
    return this.#ids(filter, max, { _id: 1 });
  }

  async removeContent(runId: string, belowSlot: number): Promise<void> {
    await attempt(async () => {
      await this.#chunks.deleteMany({ _id: idsUnder(runId) });
      const { $gt, $lt } = idsUnder(runId);
      const end = belowSlot === Number.POSITIVE_INFINITY ? $lt : batchId(runId, belowSlot);
      await this.#journal.deleteMany({ _id: { $gt, $lt: end } });
    });
  }

  async removeRun(id: string): Promise<void> {
    await attempt(() => this.#runs.deleteOne({ _id: id }));
  }

  async removeOrphans(beforeMs: number): Promise<void> {
    let afterId = '';
    for (;;) {
      const old = await attempt(() =>
        this.#chunks
          .find<{ _id: string }>(
            { atMs: { $lt: beforeMs }, _id: { $gt: afterId } },
            { projection: { _id: 1 }, sort: { _id: 1 }, limit: orphansAtOnce },
          )
          .toArray(),
      );
      const last = old.at(-1);
      if (last === undefined) {
        return;
      }
      afterId = last._id;
      const owners = [...new Set(old.map(({ _id }) => _id.slice(0, _id.indexOf('/'))))];
      const known = new Set(await this.#ids({ _id: { $in: owners } }, owners.length));
      for (const owner of owners.filter((each) => !known.has(each))) {
        await attempt(() => this.#chunks.deleteMany({ _id: idsUnder(owner), atMs: { $lt: beforeMs } }));
      }
    }
  }

  async settings(): Promise<PlatformSettings | undefined> {
    const found = await attempt(() => this.#settings.findOne({ _id: settingsId }));
    if (found === null) {
      return undefined;
    }
    const { _id, ...settings } = found;
    return settings;
  }

  async replaceSettings(next: PlatformSettings): Promise<boolean> {
    if (next.version === 1) {
      return unlessDuplicate(() => this.#settings.insertOne({ _id: settingsId, ...next }));
    }
    const expected = { _id: settingsId, version: next.version - 1 };
    const { matchedCount } = await attempt(() => this.#settings.updateOne(expected, { $set: next }));
    return matchedCount === 1;
  }

  async ping(): Promise<void> {
    await attempt(() => this.#database.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #ids(
    filter: Filter<RunDocument>,
    max: number,
    sort?: Record<string, 1 | -1>,
  ): Promise<readonly string[]> {
    const options = { projection: { _id: 1 }, limit: max, ...(sort && { sort }) };
    const found = await attempt(() => this.#runs.find<{ _id: string }>(filter, options).toArray());
    return found.map(({ _id }) => _id);
  }
}

async function unlessDuplicate(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && isDuplicate(error)) {
      return false;
    }
    throw unavailable(error);
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(error);
  }
}
