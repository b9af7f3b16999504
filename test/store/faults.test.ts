/** What becomes of writes while the database fails: connections cut, answers lost, servers killed, disks full. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../services/code-run/core/model.ts';
import {
  type CodeRunStore,
  StoreUnavailable,
  StoreUnusable,
  type Writer,
} from '../../services/code-run/store/contract.ts';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import { PatientStore, patienceDefault } from '../../services/code-run/store/patient-store.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { limits } from '../../services/shared/limits.ts';
import { type MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { available } from '../support/available.ts';
import { growthOf } from '../support/disk.ts';
import { startLocalMongo, type TestMongo } from '../support/mongo.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const completed: RunResult = { tag: 'Completed', valueJson: '1', logs: [] };
const lack =
  mongoProgram() === undefined ? 'no mongod on PATH, no .tools/bin/ferretdb (make tools)' : undefined;

describe.runIf(available('faults of MongoDB', lack))('store on MongoDB', () => {
  let mongo: TestMongo;
  let server: MongoServer;
  let store: SealedStore;

  beforeAll(async () => {
    mongo = await startLocalMongo();
    if (mongo.server === undefined) {
      throw new Error('a local server was started');
    }
    server = mongo.server;
    const quick = '&serverSelectionTimeoutMS=2000&socketTimeoutMS=1000';
    store = new SealedStore({ rows: await MongoRows.open(`${mongo.url}${quick}`), keys });
  });
  afterEach(() => {
    server.gate.fault = () => 'pass';
    server.gate.away = false;
  });
  afterAll(async () => {
    await store?.close();
    await mongo?.stop();
  });

  /** The next write to a collection meets its fate once. */
  function failNext(
    collection: string,
    fate: 'cut-before' | 'cut-after' | 'hang',
    names = ['insert', 'update'],
  ): () => boolean {
    let met = false;
    server.gate.fault = (command) => {
      const hit = !met && command.collection === collection && names.includes(command.name);
      met ||= hit;
      return hit ? fate : 'pass';
    };
    return () => met;
  }

  async function started(): Promise<Writer> {
    const run = newRun();
    await store.create(run, claimBy('a'));
    const writer = { runId: run.id, epoch: 1 };
    await store.append(writer, 0, [called(0)], 0, t0);
    return writer;
  }

  const writes: [string, string, (writer: Writer) => Promise<unknown>][] = [
    ['append', 'code_run_journal', (writer) => store.append(writer, 1, [settled(0)], 0, t0)],
    ['finish', 'code_runs', (writer) => store.finish(writer, completed, attempt(), t0)],
    ['wait', 'code_runs', (writer) => store.wait(writer, [{ index: 0, after: 0 }], attempt(), 0, t0)],
    ['release', 'code_runs', (writer) => store.release(writer, attempt(), t0)],
    ['renew', 'code_runs', (writer) => store.renew(writer, t0 + 77)],
    ['cancel (fence)', 'code_run_journal', (writer) => store.cancel(writer.runId, t0)],
    ['cancel (row)', 'code_runs', (writer) => store.cancel(writer.runId, t0)],
  ];

  for (const fate of ['cut-before', 'cut-after', 'hang'] as const) {
    test.each(writes)(
      `%s with its connection ${fate} fails, and its repeat is as if nothing was`,
      async (...args) => {
        const [, collection, write] = args;
        const clean = await started();
        await write(clean);
        const writer = await started();
        const met = failNext(collection, fate);

        await expect(write(writer)).rejects.toBeInstanceOf(StoreUnavailable);
        expect(met()).toBe(true);
        await write(writer);

        expect(await store.journal(writer.runId)).toStrictEqual(await store.journal(clean.runId));
        const { id: _, session: __, lease, ...run } = (await store.get(writer.runId)) ?? fail();
        const {
          id: ___,
          session: ____,
          lease: cleanLease,
          ...cleanRun
        } = (await store.get(clean.runId)) ?? fail();
        expect(run).toStrictEqual(cleanRun);
        expect(lease).toStrictEqual(cleanLease);
      },
    );
  }

  test.each(['cut-before', 'cut-after'] as const)(
    'create with its connection %s may be repeated',
    async (fate) => {
      const run = newRun();
      failNext('code_runs', fate);
      await expect(store.create(run, claimBy('a'))).rejects.toBeInstanceOf(StoreUnavailable);
      expect((await store.create(run, claimBy('a'))).created).toBe(true);
      expect((await store.get(run.id))?.code).toBe(run.code);
    },
  );

  test('a claim that is cut off leaves a run that is claimed after its lease', async () => {
    const { runId } = await started();
    failNext('code_run_journal', 'cut-before');
    await expect(store.claim(runId, claimBy('b', t0 + 10_000))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await store.claim(runId, claimBy('c', t0 + 10_001))).toMatchObject({ tag: 'Refused' });
    expect(await store.claim(runId, claimBy('c', t0 + 20_000))).toMatchObject({
      tag: 'Claimed',
      run: { journalLength: 1, lease: { epoch: 3 } },
    });
  });

  const removals = ['code_run_chunks', 'code_run_journal', 'code_runs'].flatMap((collection) =>
    (['cut-before', 'cut-after'] as const).map((fate) => [collection, fate] as const),
  );
  test.each(removals)('a purge that removes from %s and is %s is finished by the next', async (...args) => {
    const [collection, fate] = args;
    const writer = await started();
    const longAgo = t0 - 1_000_000;
    const valueJson = JSON.stringify(randomBytes(limits.storeChunkBytesMax).toString('base64'));
    await store.finish(writer, { ...completed, valueJson }, attempt(), longAgo);
    const met = failNext(collection, fate, ['delete']);
    await expect(store.purge(longAgo + 1)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(met()).toBe(true);
    expect(await store.get(writer.runId)).toBeUndefined();

    await store.purge(longAgo + 1);
    expect(await countUnder(mongo.url, writer.runId)).toStrictEqual([0, 0, 0]);
  });

  test('chunks of a create that is cut off are removed with age', async () => {
    const run = newRun({ code: randomBytes(2 * limits.storeInlineBytesMax).toString('base64') });
    failNext('code_runs', 'cut-before');
    await expect(store.create(run, claimBy('a'))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await countChunks(mongo.url)).toBe(1);
    await store.purge(t0 + 1);
    expect(await countChunks(mongo.url)).toBe(0);
  });

  test('while the server is away a new run fails at once and a running one goes on when it is back', async () => {
    const states: string[] = [];
    const patience = { ...patienceDefault, probeMs: 60_000 };
    const patient: CodeRunStore = new PatientStore(
      () => store,
      patience,
      (state) => states.push(state),
    );
    const writer = await started();
    server.gate.away = true;
    await expect(patient.create(newRun(), claimBy('a'))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(patient.create(newRun(), claimBy('a'))).rejects.toThrow('the store is away');
    const append = patient.append(writer, 1, [settled(0)], 0, t0);
    await expect(patient.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    server.gate.away = false;
    await append;
    expect(await patient.journal(writer.runId)).toStrictEqual([called(0), settled(0)]);
    expect((await patient.create(newRun(), claimBy('a'))).created).toBe(true);
    expect(states).toStrictEqual(['away', 'up']);
  });

  test('a running one fails when the server stays away for longer than the bound', async () => {
    const patient = new PatientStore(() => store, { ...patienceDefault, waitMs: 100 });
    const writer = await started();
    server.gate.away = true;
    await expect(patient.append(writer, 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  test('on a full disk of the server a write fails, is not there, reads go on, and it is up again when there is room', async () => {
    const states: string[] = [];
    const patience = { ...patienceDefault, probeMs: 60_000 };
    const patient = new PatientStore(
      () => store,
      patience,
      (state) => states.push(state),
    );
    const writer = await started();
    const run = newRun();
    growthOf(server.pid, '1000');
    await expect(store.append(writer, 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.finish(writer, completed, attempt(), t0)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.create(run, claimBy('a'))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(patient.create(run, claimBy('a'))).rejects.toThrow('MongoDB: ');
    await expect(patient.create(run, claimBy('a'))).rejects.toThrow('the store is away');
    await expect(patient.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await patient.journal(writer.runId)).toStrictEqual([called(0)]);
    expect(states).toStrictEqual(['read-only']);
    expect(await store.get(writer.runId)).toMatchObject({ status: 'Running', journalLength: 1 });
    expect(await store.get(run.id)).toBeUndefined();
    growthOf(server.pid, 'unlimited');
    await patient.ping();
    await patient.ping();
    expect(states).toStrictEqual(['read-only', 'up']);
    await store.append(writer, 1, [settled(0)], 0, t0);
    await store.finish(writer, completed, attempt(), t0);
    expect((await store.create(run, claimBy('a'))).created).toBe(true);
    expect(await store.journal(writer.runId)).toStrictEqual([called(0), settled(0)]);
  });

  test('what was acknowledged is there after the server was killed', async () => {
    const writer = await started();
    await server.kill();
    await expect(store.append(writer, 1, [settled(0)], 0, t0)).rejects.toBeInstanceOf(StoreUnavailable);
    await server.restart();
    const patient = new PatientStore(() => store, patienceDefault);
    await patient.append(writer, 1, [settled(0)], 0, t0);
    expect(await store.journal(writer.runId)).toStrictEqual([called(0), settled(0)]);
  });
});

describe('store on SQLite', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'code-mode-faults-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is unavailable while another process holds the file, and goes on after', async () => {
    const path = join(folder, 'busy.db');
    const store = new SealedStore({ rows: new SqliteRows({ path, durability: 'power' }), keys });
    const run = newRun();
    await store.create(run, claimBy('a'));
    const writer = { runId: run.id, epoch: 1 };
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.append(writer, 0, [called(0)], 0, t0)).rejects.toThrow(
      new StoreUnavailable('SQLite: database is locked'),
    );
    expect(await store.journal(run.id)).toStrictEqual([]);
    other.exec('ROLLBACK');
    other.close();
    await store.append(writer, 0, [called(0)], 0, t0);
    expect(await store.journal(run.id)).toStrictEqual([called(0)]);
    await store.close();
  });

  /** What a script of this folder says as JSON, run by a shell that has `"$0" "$@"` for it. */
  function reported(shell: string, script: string, path: string): unknown {
    const args = ['--no-warnings', join(import.meta.dirname, script), path];
    const { stdout, stderr, status } = spawnSync('bash', ['-c', shell, process.execPath, ...args], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toStrictEqual([0, '']);
    return JSON.parse(stdout);
  }

  const full = {
    failed: expect.any(String),
    pinged: 'StoreUnavailable',
    entries: expect.any(Number),
    whole: true,
    created: false,
    afterwards: 'goes on',
  };

  test('is unavailable where its file may not grow, half-writes nothing, and goes on when it may', () => {
    const shell = 'ulimit -S -f 1024 && exec "$0" "$@"';
    expect(reported(shell, 'full-disk.ts', join(folder, 'limited.db'))).toStrictEqual({
      ...full,
      failed: 'StoreUnavailable: SQLite: disk I/O error',
    });
  });

  const mounts = spawnSync('unshare', ['-rm', 'true']).status === 0;
  test.runIf(mounts)(
    'is unavailable on a full file system, half-writes nothing, and goes on when there is room',
    () => {
      const mount = `mount -t tmpfs -o size=1m tmpfs ${folder} && exec "$0" "$@"`;
      const shell = `exec unshare -rm bash -c '${mount}' "$0" "$@"`;
      expect(reported(shell, 'full-disk.ts', join(folder, 'full.db'))).toStrictEqual({
        ...full,
        failed: 'StoreUnavailable: SQLite: database or disk is full',
      });
    },
  );

  test('acknowledges nothing after a failed sync, says so, and has what was acknowledged when it is opened again', () => {
    expect(reported('exec "$0" "$@"', 'failed-sync.ts', join(folder, 'sync.db'))).toStrictEqual({
      failed: 'StoreUnavailable: SQLite: EBADF: bad file descriptor, fdatasync',
      repeated: 'StoreUnavailable: SQLite: EBADF: bad file descriptor, fdatasync',
      finished: 'StoreUnavailable: SQLite: EBADF: bad file descriptor, fdatasync',
      pinged: 'StoreUnavailable: SQLite: EBADF: bad file descriptor, fdatasync',
      reopened: { status: 'Running', first: true, whole: true, afterwards: 'goes on' },
    });
  });

  test('refuses a file that is no database, and one of a newer service', () => {
    const path = join(folder, 'newer.db');
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => new SqliteRows({ path, durability: 'power' })).toThrow(
      new StoreUnusable('has schema version 99; this service knows 1: use a newer service, or another file'),
    );
    expect(() => new SqliteRows({ path: process.execPath, durability: 'power' })).toThrow(StoreUnusable);
  });

  test('is unavailable after it was closed', async () => {
    const store = new SealedStore({ rows: new SqliteRows({ path: ':memory:', durability: 'power' }), keys });
    await store.ping();
    await store.close();
    await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

function fail(): never {
  throw new Error('the run is there');
}

async function countChunks(url: string): Promise<number> {
  const client = await MongoClient.connect(url);
  const count = await client.db().collection('code_run_chunks').countDocuments();
  await client.close();
  return count;
}

/** Rows, places and chunks of a run. */
async function countUnder(url: string, runId: string): Promise<number[]> {
  const client = await MongoClient.connect(url);
  const names = ['code_runs', 'code_run_journal', 'code_run_chunks'];
  const filter = { _id: { $regex: `^${runId}` } };
  const counts = await Promise.all(
    names.map((name) => client.db().collection<{ _id: string }>(name).countDocuments(filter)),
  );
  await client.close();
  return counts;
}
