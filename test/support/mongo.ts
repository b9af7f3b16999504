/**
 * The MongoDB-protocol server that tests use: MONGODB_URI if it is set, else `mongod` from PATH, else the
 * FerretDB that `make tools` builds. Where there is none, the suite that needs one says that it did not run;
 * with CI=true it fails.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { available } from './available.ts';

const { MONGODB_URI: given } = process.env;

/** Whether suites on MongoDB can run. `suite` names the one that asks. */
export function mongoAvailable(suite: string): boolean {
  const there = given !== undefined || mongoProgram() !== undefined;
  return available(
    suite,
    there ? undefined : 'no MONGODB_URI, no mongod on PATH, no .tools/bin/ferretdb (make tools)',
  );
}

export interface TestMongo {
  /** URL of a database of its own. */
  readonly url: string;
  /** The local server; undefined on MONGODB_URI, which nobody here may stop. */
  readonly server: MongoServer | undefined;
  /** Folder with the server's data. */
  readonly folder: string | undefined;
  /** Drops the database, and stops the server if it was started here. */
  stop(): Promise<void>;
}

export async function startMongo(): Promise<TestMongo> {
  const name = `code_mode_test_${randomUUID().slice(0, 8)}`;
  if (given !== undefined) {
    const url = withDatabase(given, name);
    return { url, server: undefined, folder: undefined, stop: () => drop(url, name) };
  }
  return startLocalMongo(name);
}

/** A server that the test may kill. Undefined: none can be had here. */
export async function startLocalMongo(name = 'code_mode_test'): Promise<TestMongo> {
  const program = mongoProgram();
  if (program === undefined) {
    throw new Error('mongoAvailable was not asked');
  }
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-mongo-'));
  const server = await MongoServer.start(program, folder);
  return {
    url: withDatabase(server.url, name),
    server,
    folder,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function withDatabase(url: string, name: string): string {
  const [, hosts, options = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?[^?]*(\?.*)?$/.exec(url) ?? [];
  return `${hosts}/${name}${options}`;
}

async function drop(url: string, name: string): Promise<void> {
  const client = await MongoClient.connect(url);
  await client.db(name).dropDatabase();
  await client.close();
}
