/**
 * What stands in clear, changed in the database itself to what no store writes: that run alone suffers, everything that
 * is done with it comes to an end, and it can still be deleted.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { create, toBinary } from '@bufbuild/protobuf';
import { MongoClient, type UpdateFilter } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunSchema } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { toCodeRun } from '../../services/code-run/api/convert.ts';
import type { NewRun, StoredRun } from '../../services/code-run/core/model.ts';
import { RunUnreadable } from '../../services/code-run/store/contract.ts';
import type { RowStore } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { runColumns } from '../../services/code-run/store/sqlite/columns.ts';
import { limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { attempt, called, claimBy, localKeeper, newRun, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const huge = 2n ** 60n;
/** Takes the field away. */
const gone = { tag: 'gone' };
type Value = string | number | bigint | null | object;

const texts = ['session', 'turn', 'callId', 'owner', 'leaseOwner', 'keyId'] as const;
const counts = ['epoch', 'journalLength', 'logLines'] as const;
const times = ['createdAtMs', 'updatedAtMs', 'leaseExpiresAtMs'] as const;
const sealed = ['wrappedKey', 'start', 'end'] as const;
const fields = [...texts, ...counts, ...times, ...sealed, 'status', 'waiting', 'attempts'] as const;
const headFields = ['epoch', 'first', 'count', 'logLines', 'atMs'] as const;

/** What no store writes, of the type that the column has. */
const ofType: [string, Value][] = [
  ...[...counts, ...times].flatMap((field) => [huge, -1n].map((value): [string, Value] => [field, value])),
  ['status', 'Paused'],
  ...['', 'null', '7', '{', '[null]', '[{}]', '[{"index":-1,"after":0}]', '[{"index":0,"after":"x"}]'].map(
    (value): [string, Value] => ['waiting', value],
  ),
  ...['null', '[null]', '[{}]', JSON.stringify([{ ...attempt(), number: 2 ** 40 }])].map(
    (value): [string, Value] => ['attempts', value],
  ),
  ['attempts', JSON.stringify([{ ...attempt(), fingerprint: 7 }])],
];
const placesOfType: [string, Value][] = [
  ...headFields.flatMap((field) => [huge, -1n].map((value): [string, Value] => [field, value])),
  ['kind', 'other'],
];
/** Documents take any type. What both databases have in common is not done a second time: this server is slow. */
const away = fields.map((field): [string, Value] => [field, gone]);
const ofOtherType = fields.map((field): [string, Value] => [field, 1.5]);
const placesOfOtherType: [string, Value][] = [
  ...[...headFields, 'kind', 'body'].map((field): [string, Value] => [field, gone]),
  ...[...headFields, 'kind', 'body'].map((field): [string, Value] => [field, 'text']),
];
const moves = [1n, 99_999_999n, huge].map((slot): [string, Value] => ['slot', slot]);
const longMs = 1_000_000_000;

for (const { name, available, start } of backends('tampered')) {
  describe.runIf(available)(`a run whose clear fields were changed on ${name}`, () => {
    let backend: Backend;
    let rows: RowStore;
    let alter: (where: 'run' | 'place', id: string, field: string, value: Value) => Promise<void>;
    let closeAltering: () => unknown;

    beforeAll(async () => {
      backend = await start();
      rows = await backend.rows();
      ({ alter, close: closeAltering } =
        name === 'SQLite' ? alteringSqlite(backend.url) : await alteringMongo(backend.url));
    });
    afterAll(async () => {
      await closeAltering?.();
      await rows?.close();
      await backend?.stop();
    });

    async function stored(session: string, callId: string, ended: boolean): Promise<NewRun> {
      const store = new SealedStore({ rows, keys });
      const run = newRun({ session, callId });
      const writer = { runId: run.id, epoch: 1 };
      await store.create(run, claimBy('a'));
      await store.append(writer, 0, [called(0)], 3, t0);
      if (ended) await store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), t0);
      else await store.wait(writer, [{ index: 0, after: 0 }], attempt(), 3, t0);
      return run;
    }

    async function listed(store: SealedStore, session: string): Promise<StoredRun[]> {
      const all: StoredRun[] = [];
      let token: string | undefined;
      do {
        const { runs, nextPageToken } = await store.list(session, limits.pageSizeMax, token);
        all.push(...runs);
        token = nextPageToken;
      } while (token !== undefined);
      return all;
    }

    function expectSendable(run: StoredRun): void {
      toBinary(CodeRunSchema, create(CodeRunSchema, toCodeRun({ run, journal: [] })));
    }

    async function orUnreadable<T>(what: string, work: Promise<T>): Promise<T | undefined> {
      return work.catch((error: unknown) => {
        expect([what, (error as Error).name]).toStrictEqual([what, RunUnreadable.name]);
        return undefined;
      });
    }

    /** Does with a session all that can be done, where each run but one was changed. */
    async function expectHarmless(
      ended: boolean,
      changes: readonly [string, Value][],
      where: 'run' | 'place',
    ): Promise<void> {
      const session = `session-${randomUUID()}`;
      const good = await stored(session, 'good', ended);
      const bad = new Map<string, string>();
      for (const [at, [field, value]] of changes.entries()) {
        const { id } = await stored(session, `bad ${at} of ${session}`, ended);
        await alter(where, id, field, value);
        bad.set(id, `${field} to ${String(value)}`);
      }
      const alarms: string[] = [];
      const store = new SealedStore({ rows, keys, onUnreadable: (id) => alarms.push(id) });
      const whole = await store.get(good.id);

      const runs = await listed(store, session);
      expect(runs.find(({ id }) => id === good.id)).toStrictEqual(whole);
      for (const run of runs) expectSendable(run);
      expect((await store.rotate()).unreadable).not.toContain(good.id);
      await store.purge(t0 - longMs);
      for (const [id, what] of bad) {
        const seen = await orUnreadable(what, store.get(id));
        const journal = await orUnreadable(what, store.journal(id));
        expect([what, where === 'run' ? seen : journal]).toStrictEqual([what, undefined]);
        expect([what, alarms.includes(id)]).toStrictEqual([what, true]);
        await orUnreadable(what, store.claim(id, claimBy('b', t0 + longMs)));
        await orUnreadable(what, store.cancel(id, t0 + longMs + 1));
      }
      await store.abandoned(t0 + 2 * longMs, 10, '');
      expect(await store.get(good.id)).toStrictEqual(whole);
      expect(await store.journal(good.id)).toStrictEqual([called(0)]);
      expect(alarms).not.toContain(good.id);

      await store.purge(t0 - longMs);
      await store.deleteSession(session);
      expect(await listed(store, session)).toStrictEqual([]);
      for (const [at, [id, what]] of [...bad].entries()) {
        const moved = where === 'run' && changes[at]?.[0] === 'session';
        if (!moved) expect([what, await store.get(id)]).toStrictEqual([what, undefined]);
      }
      await store.purge(t0 + 2 * longMs);
      expect(await rows.run(good.id)).toBeUndefined();
    }

    const anyType = name === 'MongoDB';
    test.each([
      ['waits', false, anyType ? away : ofType],
      ['has ended', true, anyType ? ofOtherType : ofType],
    ])(
      'harms no other where it %s, and can be deleted',
      async (_, ended, changes) => {
        await expectHarmless(ended, changes, 'run');
      },
      60_000,
    );

    test('harms no other where places of its log were changed or moved, and can be deleted', async () => {
      await expectHarmless(false, [...(anyType ? placesOfOtherType : placesOfType), ...moves], 'place');
    }, 60_000);
  });
}

function alteringSqlite(url: string) {
  const database = new DatabaseSync(url.slice('sqlite:'.length));
  const columns: Record<string, string> = { ...runColumns, logLines: 'log_lines', atMs: 'at_ms' };
  return {
    alter: async (where: 'run' | 'place', id: string, field: string, value: Value) => {
      const [table, key] = where === 'run' ? ['code_runs', 'id'] : ['code_run_journal', 'run_id'];
      database
        .prepare(`UPDATE ${table} SET ${columns[field] ?? field} = ? WHERE ${key} = ?`)
        .run(value as SQLInputValue, id);
    },
    close: () => database.close(),
  };
}

async function alteringMongo(url: string) {
  const client = await MongoClient.connect(url);
  const alter = async (where: 'run' | 'place', id: string, field: string, value: Value) => {
    const all = client.db().collection<{ _id: string }>(where === 'run' ? 'code_runs' : 'code_run_journal');
    const _id = where === 'run' ? id : `${id}/00000000`;
    if (field === 'slot') {
      const { _id: _, ...place } = (await all.findOne({ _id })) ?? expect.unreachable();
      await all.deleteOne({ _id });
      await all.insertOne({ _id: `${id}/${String(value).padStart(8, '0')}`, ...place });
      return;
    }
    const change: UpdateFilter<{ _id: string }> =
      value === gone ? { $unset: { [field]: 1 } } : { $set: { [field]: value } };
    const { modifiedCount } = await all.updateOne({ _id }, change);
    expect(modifiedCount).toBe(1);
  };
  return { alter, close: () => client.close() };
}
