/**
 * What the store costs, as ratios: one append, and the writes of a run of ten sequential calls (one create,
 * twenty appends, one finish), each against the same rows written to the same database without sealing,
 * measured in turns. `node test/bench/store.ts`; ROUNDS sets how often (default 30).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import type { BatchRow, RowStore, RunRow } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { attempt, called, claimBy, newRun, settled, t0 } from '../store/example-runs.ts';
import { startMongo } from '../support/mongo.ts';

const { ROUNDS } = process.env;
const rounds = Number(ROUNDS ?? 30);
const roundsToWarmUp = 10;
const appendsOfRound = 100;
const callsOfRun = 10;
const nothing = new Uint8Array(0);
const keys = new LocalKeeper([{ id: 'k1', secret: randomBytes(32) }]);

function plainRow(end: string): RunRow {
  const { session, turn, callId, owner, createdAtMs, id, ...rest } = newRun();
  return {
    ...{ id, session, turn, callId, owner, createdAtMs, status: 'Running', updatedAtMs: t0 },
    ...{ leaseOwner: 'a', epoch: 1, leaseExpiresAtMs: t0, journalLength: 0, logLines: 0 },
    ...{ waiting: '[]', attempts: '[]', keyId: '', wrappedKey: nothing },
    ...{ start: Buffer.from(JSON.stringify(rest)), end: Buffer.from(end) },
  };
}

function plainBatch(runId: string, slot: number): BatchRow {
  const entry = slot % 2 === 0 ? called(slot >> 1) : settled(slot >> 1);
  const body = Buffer.from(JSON.stringify([entry]));
  return { runId, slot, kind: 'entries', epoch: 1, first: slot, count: 1, logLines: 0, atMs: t0, body };
}

async function plainAppends(rows: RowStore, count: number): Promise<void> {
  const id = randomUUID();
  for (let slot = 0; slot < count; slot++) {
    await rows.insertBatch(plainBatch(id, slot));
  }
}

async function sealedAppends(store: SealedStore, count: number, runId: string): Promise<void> {
  for (let at = 0; at < count; at++) {
    const entry = at % 2 === 0 ? called(at >> 1) : settled(at >> 1);
    await store.append({ runId, epoch: 1 }, at, [entry], 0, t0);
  }
}

async function plainRun(rows: RowStore): Promise<void> {
  const row = plainRow('');
  await rows.insertRun(row);
  for (let slot = 0; slot < 2 * callsOfRun; slot++) {
    await rows.insertBatch(plainBatch(row.id, slot));
  }
  const change = { status: 'Completed', end: Buffer.from('{"tag":"Completed"}'), attempts: '[]' } as const;
  await rows.changeRun(row.id, { status: 'Running', epoch: 1 }, change);
}

async function sealedRun(store: SealedStore): Promise<void> {
  const run = newRun();
  await store.create(run, claimBy('a'));
  await sealedAppends(store, 2 * callsOfRun, run.id);
  await store.finish({ runId: run.id, epoch: 1 }, { tag: 'Completed', logs: [] }, attempt(), t0);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** The tenth that was disturbed least by whatever else the machine does. */
function calm(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? Number.NaN;
}

async function measure(name: string, rows: RowStore): Promise<void> {
  const store = new SealedStore({ rows, keys });
  const times = { plainAppend: [], sealedAppend: [], plainRun: [], sealedRun: [] } as Record<
    string,
    number[]
  >;
  for (let round = -roundsToWarmUp; round < rounds; round++) {
    if (round === 0) {
      for (const each of Object.values(times)) {
        each.length = 0;
      }
    }
    const run = newRun();
    await store.create(run, claimBy('a'));
    times['plainAppend']?.push((await timed(() => plainAppends(rows, appendsOfRound))) / appendsOfRound);
    times['sealedAppend']?.push(
      (await timed(() => sealedAppends(store, appendsOfRound, run.id))) / appendsOfRound,
    );
    times['plainRun']?.push(await timed(() => plainRun(rows)));
    times['sealedRun']?.push(await timed(() => sealedRun(store)));
  }
  const [plain = 0, sealed = 0, runPlain = 0, runSealed = 0] = Object.values(times).map(calm);
  const say = (what: string, a: number, b: number) =>
    `${name.padEnd(18)} ${what.padEnd(16)} plain ${a.toFixed(3)} ms, sealed ${b.toFixed(3)} ms, ratio ${(b / a).toFixed(2)}\n`;
  process.stdout.write(say('one append', plain, sealed) + say('run of ten calls', runPlain, runSealed));
  await rows.close();
}

const folder = mkdtempSync(join(tmpdir(), 'code-mode-bench-'));
await measure('SQLite, memory', new SqliteRows({ path: ':memory:', durability: 'power' }));
await measure('SQLite, process', new SqliteRows({ path: join(folder, 'process.db'), durability: 'process' }));
await measure('SQLite, power', new SqliteRows({ path: join(folder, 'power.db'), durability: 'power' }));
rmSync(folder, { recursive: true });
const mongo = await startMongo();
await measure('MongoDB', await MongoRows.open(mongo.url));
await mongo.stop();
