/** The databases that stores are tested on. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON, MongoClient } from 'mongodb';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { mongoAvailable, startMongo } from '../support/mongo.ts';

export interface Backend {
  /** As a service is given it. */
  readonly url: string;
  /** Another connection to the same database. */
  rows(): Promise<RowStore>;
  /** Every byte that the database holds. */
  dump(): Promise<Buffer>;
  stop(): Promise<void>;
}

export interface BackendKind {
  readonly name: string;
  readonly available: boolean;
  start(): Promise<Backend>;
}

/** `suite` names who asks, for the case that one is not to be had. */
export function backends(suite: string): readonly BackendKind[] {
  return [
    { name: 'SQLite', available: true, start: startSqlite },
    { name: 'MongoDB', available: mongoAvailable(`${suite} on MongoDB`), start: startMongoBackend },
  ];
}

async function startSqlite(): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-sqlite-'));
  const path = join(folder, 'runs.db');
  return {
    url: `sqlite:${path}`,
    rows: async () => new SqliteRows({ path, durability: 'power' }),
    dump: async () => filesIn(folder),
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

async function startMongoBackend(): Promise<Backend> {
  const { url, folder, stop } = await startMongo();
  return {
    url,
    rows: () => MongoRows.open(url),
    dump: async () =>
      Buffer.concat([await documents(url), folder === undefined ? Buffer.alloc(0) : filesIn(folder)]),
    stop,
  };
}

function filesIn(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Buffer.concat(names.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

async function documents(url: string): Promise<Buffer> {
  const client = await MongoClient.connect(url);
  const collections = await client.db().collections();
  const all = await Promise.all(collections.map((each) => each.find().toArray()));
  await client.close();
  return Buffer.concat(all.flat().map((each) => BSON.serialize(each)));
}
