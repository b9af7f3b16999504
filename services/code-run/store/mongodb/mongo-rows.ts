/**
 * Rows in MongoDB, or in any server of its protocol: inserts, finds, updates with $set, deletes, unique and
 * plain indexes. No transactions, no change streams, no pipelines.
 *
 * What is asked of the server is what MongoDB promises for one document: an insert under an id that is taken
 * fails, and an update matches and changes in one step.
 */
import { randomUUID } from 'node:crypto';
import { type Filter, MongoServerError } from 'mongodb';
import { limits } from '../../../shared/limits.ts';
import { type PlatformSettings, StoreReadOnly } from '../contract.ts';
import type {
  BatchHead,
  BatchRow,
  ChunkRow,
  ListPosition,
  NewRunRow,
  RowStatus,
  RowStore,
  RunRow,
  RunRowChange,
  RunRowExpectation,
  UnheldKind,
} from '../rows.ts';
import {
  type BatchDocument,
  batchDocument,
  batchHead,
  batchId,
  batchRow,
  chunkDocument,
  chunkId,
  chunkRow,
  idsUnder,
  type RunDocument,
  runDocument,
  runRow,
} from './documents.ts';
import { isDuplicate, notOpened, readOnly } from './failures.ts';
import { type Collections, MongoLink, type Silence, silenceDefault } from './link.ts';

const settingsId = 'code-mode';
const probeId = 'probe';
const held: RowStatus[] = ['Running', 'Released'];
const ended: RowStatus[] = ['Completed', 'Failed', 'Cancelled', 'Deleted'];
/** One insert command stays below the 48 MB that a server takes. */
const chunksAtOnce = Math.floor((32 * 1024 * 1024) / limits.storeChunkBytesMax);
const orphansAtOnce = 1_000;
const nothing = new Uint8Array(0);
/** The end of a log is decided by inserts: what is on the primary counts, majority or not. */
const local = { readConcern: { level: 'local' } } as const;

export class MongoRows implements RowStore {
  readonly #link: MongoLink;
  /** Whether the server took the last write that it answered: one whose disk is full still reads. */
  #writable = true;

  private constructor(link: MongoLink) {
    this.#link = link;
  }

  /** Connects and makes the indexes that are not there. */
  static async open(url: string, silence: Silence = silenceDefault): Promise<MongoRows> {
    const link = new MongoLink(url, silence);
    const rows = new MongoRows(link);
    try {
      await rows.#prepare();
      return rows;
    } catch (error) {
      await link.close();
      throw notOpened(error, link.hosts);
    }
  }

  /** One index a command: FerretDB v1 closes the connection on a list of which several are there already. */
  async #prepare(): Promise<void> {
    const link = this.#link;
    await link.use(({ client }) => client.connect());
    await link.use(({ runs }) =>
      runs.createIndex({ session: 1, turn: 1, callId: 1 }, { name: 'call', unique: true }),
    );
    await link.use(({ runs }) =>
      runs.createIndex({ session: 1, createdAtMs: -1, _id: -1 }, { name: 'list' }),
    );
    await link.use(({ runs }) => runs.createIndex({ status: 1, leaseExpiresAtMs: 1 }, { name: 'lease' }));
    await link.use(({ runs }) => runs.createIndex({ status: 1, updatedAtMs: 1 }, { name: 'age' }));
    await link.use(({ chunks }) => chunks.createIndex({ atMs: 1 }, { name: 'age' }));
  }

  insertRun(row: NewRunRow): Promise<boolean> {
    return this.#insert(({ runs }) => runs.insertOne(runDocument(row)));
  }

  async run(id: string): Promise<RunRow | undefined> {
    const found = await this.#link.use(({ runs }) => runs.findOne({ _id: id }));
    return found === null ? undefined : runRow(found);
  }

  async runOfCall(session: string, turn: string, callId: string): Promise<RunRow | undefined> {
    const found = await this.#link.use(({ runs }) => runs.findOne({ session, turn, callId }));
    return found === null ? undefined : runRow(found);
  }

  async changeRun(id: string, expected: RunRowExpectation, change: RunRowChange): Promise<boolean> {
    const { matchedCount } = await this.#write(({ runs }) =>
      runs.updateOne({ _id: id, ...expected }, { $set: change }),
    );
    return matchedCount === 1;
  }

  insertBatch(row: BatchRow): Promise<boolean> {
    return this.#insert(({ journal }) => journal.insertOne(batchDocument(row)));
  }

  async lastBatch(runId: string): Promise<BatchHead | undefined> {
    const [last] = await this.#link.use(({ journal }) =>
      journal
        .find<Omit<BatchDocument, 'body'>>(
          { _id: idsUnder(runId) },
          { projection: { body: 0 }, sort: { _id: -1 }, limit: 1, ...local },
        )
        .toArray(),
    );
    return last && batchHead(last);
  }

  async batch(runId: string, slot: number): Promise<BatchRow | undefined> {
    const found = await this.#link.use(({ journal }) =>
      journal.findOne({ _id: batchId(runId, slot) }, local),
    );
    return found === null ? undefined : batchRow(found);
  }

  async batches(runId: string): Promise<readonly BatchRow[]> {
    const found = await this.#link.use(({ journal }) =>
      journal.find({ _id: idsUnder(runId) }, { sort: { _id: 1 }, ...local }).toArray(),
    );
    return found.map(batchRow);
  }

  async insertChunks(rows: readonly ChunkRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += chunksAtOnce) {
      const documents = rows.slice(at, at + chunksAtOnce).map(chunkDocument);
      await this.#write(({ chunks }) => chunks.insertMany(documents));
    }
  }

  async chunks(runId: string, blob: string, count: number): Promise<readonly ChunkRow[]> {
    const ids = Array.from({ length: count }, (_, index) => chunkId(runId, blob, index));
    const found = await this.#link.use(({ chunks }) =>
      Promise.all(ids.map((_id) => chunks.findOne({ _id }, local))),
    );
    return found.filter((each) => each !== null).map(chunkRow);
  }

  async list(session: string, max: number, after?: ListPosition): Promise<readonly RunRow[]> {
    const there: Filter<RunDocument> = { session, status: { $ne: 'Deleted' } };
    const filter: Filter<RunDocument> =
      after === undefined
        ? there
        : {
            ...there,
            $or: [
              { createdAtMs: { $lt: after.createdAtMs } },
              { createdAtMs: after.createdAtMs, _id: { $lt: after.id } },
            ],
          };
    const found = await this.#link.use(({ runs }) =>
      runs.find(filter, { sort: { createdAtMs: -1, _id: -1 }, limit: max }).toArray(),
    );
    return found.map(runRow);
  }

  idsOfSession(session: string, max: number): Promise<readonly string[]> {
    return this.#ids({ session }, max);
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

  async removeContent(runId: string, places: 'go' | 'stay'): Promise<void> {
    const all = { _id: idsUnder(runId) };
    await this.#write(({ chunks }) => chunks.deleteMany(all));
    if (places === 'go') {
      await this.#write(({ journal }) => journal.deleteMany(all));
    } else {
      const fence = { kind: 'fence', body: nothing } as const;
      await this.#write(({ journal }) => journal.updateMany(all, { $set: fence }));
    }
  }

  async removeRun(id: string): Promise<void> {
    await this.#write(({ runs }) => runs.deleteOne({ _id: id }));
  }

  async removeOrphans(beforeMs: number): Promise<void> {
    let afterId = '';
    for (;;) {
      const old = await this.#link.use(({ chunks }) =>
        chunks
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
        await this.#write(({ chunks }) =>
          chunks.deleteMany({ _id: idsUnder(owner), atMs: { $lt: beforeMs } }),
        );
      }
    }
  }

  async settings(): Promise<PlatformSettings | undefined> {
    const found = await this.#link.use(({ settings }) => settings.findOne({ _id: settingsId }));
    if (found === null) {
      return undefined;
    }
    const { _id, ...settings } = found;
    return settings;
  }

  async replaceSettings(next: PlatformSettings): Promise<boolean> {
    if (next.version === 1) {
      return this.#insert(({ settings }) => settings.insertOne({ _id: settingsId, ...next }));
    }
    const expected = { _id: settingsId, version: next.version - 1 };
    const { matchedCount } = await this.#write(({ settings }) =>
      settings.updateOne(expected, { $set: next }),
    );
    return matchedCount === 1;
  }

  /** Where writes fail, one tells whether they still do: it has to change something, or the server writes nothing. */
  async ping(): Promise<void> {
    await this.#link.use(({ database }) => database.command({ ping: 1 }));
    if (!this.#writable) {
      const probe = { $set: { nonce: randomUUID() } };
      await this.#write(({ probes }) => probes.updateOne({ _id: probeId }, probe, { upsert: true }));
    }
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async #write<T>(write: (collections: Collections) => Promise<T>): Promise<T> {
    try {
      const done = await this.#link.use(write);
      this.#writable = true;
      return done;
    } catch (error) {
      const sorted = readOnly(error);
      this.#writable &&= !(sorted instanceof StoreReadOnly);
      throw sorted;
    }
  }

  /** False: there is one already. */
  async #insert(insert: (collections: Collections) => Promise<unknown>): Promise<boolean> {
    try {
      await this.#write(insert);
      return true;
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof MongoServerError && isDuplicate(cause)) {
        return false;
      }
      throw error;
    }
  }

  async #ids(
    filter: Filter<RunDocument>,
    max: number,
    sort?: Record<string, 1 | -1>,
  ): Promise<readonly string[]> {
    const options = { projection: { _id: 1 }, limit: max, ...(sort && { sort }) };
    const found = await this.#link.use(({ runs }) => runs.find<{ _id: string }>(filter, options).toArray());
    return found.map(({ _id }) => _id);
  }
}
