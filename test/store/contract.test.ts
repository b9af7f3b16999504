/** What every store must do, on each database. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry, NewRun, RunResult } from '../../services/code-run/core/model.ts';
import { type CodeRunStore, LeaseLost, type Writer } from '../../services/code-run/store/contract.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { initialSettings } from '../../services/code-run/store/settings.ts';
import { callRanges, limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');
const completed: RunResult = {
  tag: 'Completed',
  valueJson: '{"sent":true}',
  logs: [{ index: 0, level: 'info', text: 'sent' }],
};

for (const { name, available, start } of backends('the store contract')) {
  describe.runIf(available)(`store on ${name}`, () => {
    let backend: Backend;
    let store: CodeRunStore;
    /** A second instance on the same database: what it knows it has read. */
    let other: CodeRunStore;

    beforeAll(async () => {
      backend = await start();
      store = new SealedStore({ rows: await backend.rows(), keys });
      other = new SealedStore({ rows: await backend.rows(), keys });
    });
    afterAll(async () => {
      await store?.close();
      await other?.close();
      await backend?.stop();
    });

    async function started(changes: Partial<NewRun> = {}): Promise<{ run: NewRun; writer: Writer }> {
      const run = newRun(changes);
      const { created } = await store.create(run, claimBy('a'));
      expect(created).toBe(true);
      return { run, writer: { runId: run.id, epoch: 1 } };
    }

    async function expectLost(write: Promise<unknown>): Promise<void> {
      await expect(write).rejects.toBeInstanceOf(LeaseLost);
    }

    test('create stores the run as Running under the first lease', async () => {
      const run = newRun();
      const { created, run: stored } = await store.create(run, claimBy('a', t0, 5_000));
      const expected = {
        ...run,
        status: 'Running',
        updatedAtMs: t0,
        lease: { owner: 'a', epoch: 1, expiresAtMs: t0 + 5_000 },
        journalLength: 0,
        logLines: 0,
        waiting: [],
        attempts: [],
      };
      expect(created).toBe(true);
      expect(stored).toStrictEqual(expected);
      expect(await store.get(run.id)).toStrictEqual(expected);
      expect(await other.get(run.id)).toStrictEqual(expected);
      expect(await store.journal(run.id)).toStrictEqual([]);
    });

    test('create gives the run that exists for its session, turn and call', async () => {
      const { run } = await started();
      const again = await other.create(
        newRun({ session: run.session, code: 'return 2', createdAtMs: t0 + 9 }),
        claimBy('b'),
      );
      expect(again.created).toBe(false);
      expect(again.run).toStrictEqual(await store.get(run.id));
    });

    test('create repeated with the same id counts as created', async () => {
      const { run } = await started();
      const again = await other.create(run, claimBy('a'));
      expect(again.created).toBe(true);
    });

    test('create at once from many gives one run', async () => {
      const session = `session-at-once-${name}`;
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? store : other).create(newRun({ session }), claimBy('a')),
        ),
      );
      expect(results.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(results.map(({ run }) => run.id)).size).toBe(1);
    });

    test('texts come back exactly, lone surrogates and NUL included', async () => {
      const text = 'a\u0000b\ud800c\u{1f600}\r\n\udfff "quoted" \\';
      const { run, writer } = await started({
        code: text,
        reason: text,
        program: { text, columnShifts: [] },
      });
      const entries: JournalEntry[] = [
        called(0, text),
        settled(0, text),
        {
          kind: 'Settled',
          index: 1,
          outcome: { tag: 'Failed', reason: 'ToolError', message: text },
          atMs: t0,
        },
        { kind: 'Settled', index: 2, outcome: { tag: 'Denied', message: text }, operationId: 'op', atMs: t0 },
        { kind: 'Settled', index: 3, outcome: { tag: 'InputRequired', operationId: 'op-2' }, atMs: t0 },
      ];
      await store.append(writer, 0, entries, 0, t0);
      const result: RunResult = {
        tag: 'Failed',
        reason: 'Error',
        message: text,
        line: 3,
        column: 4,
        logs: [{ index: 0, level: 'debug', text }],
      };
      await store.finish(writer, result, attempt(), t0 + 1);
      expect(await other.journal(run.id)).toStrictEqual(entries);
      expect(await other.get(run.id)).toMatchObject({ code: text, reason: text, program: { text }, result });
    });

    test('append keeps entries in order and counts log lines', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0), called(1)], 2, t0 + 1);
      await store.append(writer, 2, [settled(1)], 2, t0 + 2);
      await store.append(writer, 3, [settled(0)], 5, t0 + 3);
      expect(await other.journal(run.id)).toStrictEqual([called(0), called(1), settled(1), settled(0)]);
      expect(await other.get(run.id)).toMatchObject({ journalLength: 4, logLines: 5, updatedAtMs: t0 + 3 });
    });

    test('append after another number of entries loses the lease and changes nothing', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      await expectLost(store.append(writer, 0, [called(7)], 0, t0));
      await expectLost(store.append(writer, 2, [settled(0)], 0, t0));
      await expectLost(other.append(writer, 0, [called(8)], 0, t0));
      expect(await store.journal(run.id)).toStrictEqual([called(0)]);
    });

    test('append at once with the same length happens once', async () => {
      const { run, writer } = await started();
      const writes = await Promise.allSettled(
        [store, other, store, other].map((each, n) => each.append(writer, 0, [called(n)], 0, t0)),
      );
      expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const write of writes) {
        expect(write.status === 'fulfilled' || write.reason instanceof LeaseLost).toBe(true);
      }
      expect(await other.journal(run.id)).toHaveLength(1);
    });

    test('append repeated as it was succeeds and changes nothing', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      await store.append(writer, 0, [called(0)], 0, t0 + 9);
      await other.append(writer, 0, [called(0)], 0, t0 + 9);
      await store.append(writer, 1, [settled(0)], 0, t0);
      await other.append(writer, 1, [settled(0)], 0, t0);
      expect(await store.journal(run.id)).toStrictEqual([called(0), settled(0)]);
    });

    test('append from another instance goes on where the first stopped', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      await other.append(writer, 1, [settled(0)], 0, t0);
      expect(await store.journal(run.id)).toStrictEqual([called(0), settled(0)]);
      await expectLost(store.append(writer, 1, [settled(0, '"other"')], 0, t0));
    });

    test('claim is refused while the lease of another lasts, and takes it over after', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 3, t0);
      expect(await other.claim(run.id, claimBy('b', t0 + 9_999))).toMatchObject({
        tag: 'Refused',
        run: { lease: { owner: 'a', epoch: 1 } },
      });
      const claimed = await other.claim(run.id, claimBy('b', t0 + 10_000));
      expect(claimed).toMatchObject({
        tag: 'Claimed',
        run: {
          status: 'Running',
          journalLength: 1,
          logLines: 3,
          updatedAtMs: t0 + 10_000,
          lease: { owner: 'b', epoch: 2, expiresAtMs: t0 + 20_000 },
        },
      });
      await other.append({ runId: run.id, epoch: 2 }, 1, [settled(0)], 3, t0);
      expect(await store.journal(run.id)).toStrictEqual([called(0), settled(0)]);
    });

    test('every write of an older epoch loses and changes nothing', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      await other.claim(run.id, claimBy('b', t0 + 10_000));
      const before = await other.get(run.id);
      await expectLost(store.append(writer, 1, [settled(0)], 0, t0));
      await expectLost(store.append(writer, 1, [settled(0)], 0, t0));
      await expectLost(store.renew(writer, t0 + 99_999));
      await expectLost(store.release(writer, attempt(), t0));
      await expectLost(store.wait(writer, [], attempt(), 0, t0));
      await expectLost(store.finish(writer, completed, attempt(), t0));
      expect(await other.get(run.id)).toStrictEqual(before);
      expect(await other.journal(run.id)).toStrictEqual([called(0)]);
    });

    test('claim at once from many is won by one', async () => {
      const { run } = await started();
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 ? store : other).claim(run.id, claimBy(`c${n}`, t0 + 10_000)),
        ),
      );
      expect(claims.filter(({ tag }) => tag === 'Claimed')).toHaveLength(1);
      expect(claims.filter(({ tag }) => tag === 'Refused')).toHaveLength(7);
    });

    test('a race of an append with a claim leaves no doubt about the journal', async () => {
      for (let round = 0; round < 10; round++) {
        const { run, writer } = await started();
        const [append, claim] = await Promise.allSettled([
          store.append(writer, 0, [called(0)], 0, t0),
          other.claim(run.id, claimBy('b', t0 + 10_000)),
        ]);
        const claimed =
          claim.status === 'fulfilled' && claim.value.tag === 'Claimed' ? claim.value.run : undefined;
        expect(claimed?.journalLength).toBe(append.status === 'fulfilled' ? 1 : 0);
        expect(await store.journal(run.id)).toHaveLength(claimed?.journalLength ?? -1);
      }
    });

    test('renew moves the end of the lease', async () => {
      const { run, writer } = await started();
      await store.renew(writer, t0 + 50_000);
      expect(await other.claim(run.id, claimBy('b', t0 + 49_999))).toMatchObject({ tag: 'Refused' });
      expect((await store.get(run.id))?.lease.expiresAtMs).toBe(t0 + 50_000);
    });

    test('release leaves the run Running and free at once', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      await store.release(writer, attempt(), t0 + 4);
      await store.release(writer, attempt(), t0 + 4);
      expect(await store.get(run.id)).toMatchObject({
        status: 'Running',
        journalLength: 1,
        attempts: [attempt()],
        lease: { owner: '', epoch: 1, expiresAtMs: t0 + 4 },
      });
      await expectLost(store.append(writer, 1, [settled(0)], 0, t0));
      await expectLost(store.renew(writer, t0 + 99_999));
      expect(await other.claim(run.id, claimBy('b', t0 + 4))).toMatchObject({ tag: 'Claimed' });
    });

    test('wait gives the lease up, and what follows keeps the ids of the waiting calls', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0), called(1)], 0, t0);
      const waiting = [
        { index: 0, after: 0 },
        { index: 1, operationId: 'op-1', after: 0 },
      ];
      await store.wait(writer, waiting, attempt(), 7, t0 + 2);
      await other.wait(writer, waiting, attempt(), 7, t0 + 2);
      expect(await other.get(run.id)).toMatchObject({
        status: 'Waiting',
        waiting,
        journalLength: 2,
        logLines: 7,
        updatedAtMs: t0 + 2,
        attempts: [attempt()],
        lease: { owner: '' },
      });
      await expectLost(store.append(writer, 2, [settled(0)], 0, t0));
      const claimed = await other.claim(run.id, claimBy('b', t0 + 3));
      expect(claimed).toMatchObject({
        tag: 'Claimed',
        run: { status: 'Running', waiting, journalLength: 2, logLines: 7, lease: { epoch: 2 } },
      });
      expect(await store.get(run.id)).toStrictEqual(claimed.tag === 'Claimed' ? claimed.run : undefined);
      // The attempt dies; the next one suspends with other calls, and the last one ends the run.
      const third = await store.claim(run.id, claimBy('c', t0 + 60_000));
      expect(third).toMatchObject({ run: { waiting, lease: { epoch: 3 } } });
      const others = [{ index: 1, operationId: 'op-1', after: 1 }];
      await store.wait({ runId: run.id, epoch: 3 }, others, attempt(3), 7, t0 + 60_001);
      await store.claim(run.id, claimBy('d', t0 + 60_002));
      const failed = { tag: 'Failed', reason: 'Timeout', message: '', line: 0, column: 0, logs: [] } as const;
      const ended = await store.finish({ runId: run.id, epoch: 4 }, failed, attempt(4), t0 + 60_003);
      expect(ended).toMatchObject({ status: 'Failed', waiting: others });
      expect(await other.get(run.id)).toStrictEqual(ended);
    });

    test('attempts follow each other', async () => {
      const { run, writer } = await started();
      await store.wait(writer, [], attempt(1), 0, t0);
      await other.claim(run.id, claimBy('b', t0));
      await other.release({ runId: run.id, epoch: 2 }, attempt(2), t0);
      await store.claim(run.id, claimBy('c', t0));
      const run3 = await store.finish({ runId: run.id, epoch: 3 }, completed, attempt(3), t0);
      expect(run3.attempts).toStrictEqual([attempt(1), attempt(2), attempt(3)]);
      expect(await other.get(run.id)).toStrictEqual(run3);
    });

    test('of the attempts of a run the last are kept', async () => {
      const { run } = await started();
      const max = limits.storeAttemptsMax;
      for (let number = 1; number <= max + 1; number++) {
        await store.release({ runId: run.id, epoch: number }, attempt(number), t0);
        const kept = (await store.claim(run.id, claimBy('a'))) as { run: { attempts: unknown } };
        const first = Math.max(1, number - max + 1);
        const expected = Array.from({ length: number - first + 1 }, (_, at) => attempt(first + at));
        if (number >= max) expect(kept.run.attempts).toStrictEqual(expected);
      }
    }, 60_000);

    test.each<RunResult>([
      completed,
      { tag: 'Completed', logs: [] },
      { tag: 'Failed', reason: 'Timeout', message: 'It used all its time.', line: 0, column: 0, logs: [] },
      { tag: 'Cancelled', logs: [{ index: 0, level: 'warn', text: 'x' }] },
    ])('finish makes the run final as $tag', async (result) => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 1, t0);
      const finished = await store.finish(writer, result, attempt(), t0 + 8);
      expect(finished).toMatchObject({
        status: result.tag,
        journalLength: 1,
        logLines: 1,
        updatedAtMs: t0 + 8,
      });
      expect(finished.result).toStrictEqual(result);
      expect(await other.get(run.id)).toStrictEqual(finished);
      expect(await other.journal(run.id)).toStrictEqual([called(0)]);
    });

    test('a final run never changes', async () => {
      const { run, writer } = await started();
      const finished = await store.finish(writer, completed, attempt(), t0);
      await expectLost(store.append(writer, 0, [called(0)], 0, t0));
      await expectLost(other.append(writer, 0, [called(0)], 0, t0));
      await expectLost(store.renew(writer, t0 + 99_999));
      await expectLost(store.release(writer, attempt(), t0));
      await expectLost(store.wait(writer, [], attempt(), 0, t0));
      await expectLost(store.finish(writer, { tag: 'Completed', logs: [] }, attempt(), t0));
      expect(await store.claim(run.id, claimBy('b', t0 + 99_999))).toStrictEqual({
        tag: 'Refused',
        run: finished,
      });
      expect(await store.cancel(run.id, t0 + 99_999)).toStrictEqual(finished);
      expect(await other.get(run.id)).toStrictEqual(finished);
    });

    test('finish repeated as it was gives the same run', async () => {
      const { writer } = await started();
      const finished = await store.finish(writer, completed, attempt(), t0);
      expect(await store.finish(writer, completed, attempt(), t0 + 5)).toStrictEqual(finished);
      expect(await other.finish(writer, completed, attempt(), t0 + 5)).toStrictEqual(finished);
    });

    test('cancel ends a run whoever owns it, and no append comes after', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 2, t0);
      const cancelled = await other.cancel(run.id, t0 + 6);
      expect(cancelled).toMatchObject({
        status: 'Cancelled',
        journalLength: 1,
        logLines: 2,
        updatedAtMs: t0 + 6,
        result: { tag: 'Cancelled', logs: [] },
        lease: { owner: '', epoch: 2 },
      });
      await expectLost(store.append(writer, 1, [settled(0)], 0, t0));
      await expectLost(store.finish(writer, completed, attempt(), t0));
      expect(await store.get(run.id)).toStrictEqual(cancelled);
      expect(await store.journal(run.id)).toStrictEqual([called(0)]);
    });

    test('cancel ends a waiting run', async () => {
      const { run, writer } = await started();
      await store.append(writer, 0, [called(0)], 0, t0);
      const waiting = [{ index: 0, operationId: 'op-0', after: 0 }];
      await store.wait(writer, waiting, attempt(), 4, t0);
      expect(await store.cancel(run.id, t0)).toMatchObject({ status: 'Cancelled', waiting, logLines: 4 });
    });

    test('a race of cancel with finish ends as one of them', async () => {
      for (let round = 0; round < 10; round++) {
        const { run, writer } = await started();
        const [finish, cancel] = await Promise.allSettled([
          store.finish(writer, completed, attempt(), t0),
          other.cancel(run.id, t0),
        ]);
        const final = await store.get(run.id);
        expect(cancel.status === 'fulfilled' && cancel.value).toStrictEqual(final);
        expect(final?.status).toBe(finish.status === 'fulfilled' ? 'Completed' : 'Cancelled');
      }
    });

    test('a run that is not there is not found', async () => {
      const id = newRun().id;
      expect(await store.get(id)).toBeUndefined();
      expect(await store.journal(id)).toStrictEqual([]);
      expect(await store.cancel(id, t0)).toBeUndefined();
      expect(await store.claim(id, claimBy('a'))).toStrictEqual({ tag: 'NotFound' });
      await expectLost(store.append({ runId: id, epoch: 1 }, 0, [], 0, t0));
    });

    test('list gives pages newest first that survive inserts', async () => {
      const session = `session-list-${name}`;
      const add = async (callId: string, createdAtMs: number) => {
        const { run } = await started({ session, callId, createdAtMs });
        return run.id;
      };
      const same = [await add('c1', t0), await add('c2', t0), await add('c3', t0)].sort().reverse();
      const older = await add('c0', t0 - 1);
      const first = await store.list(session, 2);
      expect(first.runs.map(({ id }) => id)).toStrictEqual(same.slice(0, 2));
      await add('c4', t0 + 1);
      const second = await other.list(session, 2, first.nextPageToken);
      expect(second.runs.map(({ id }) => id)).toStrictEqual([same[2], older]);
      expect(second.nextPageToken).toBeUndefined();
      expect((await store.list(session, limits.pageSizeMax)).runs).toHaveLength(5);
      expect((await store.list(`${session}-none`, 2)).runs).toStrictEqual([]);
    });

    test('list gives each run as get does', async () => {
      const session = `session-list-get-${name}`;
      const { run, writer } = await started({ session, callId: 'a' });
      await store.append(writer, 0, [called(0)], 1, t0 + 5);
      const { writer: second } = await started({ session, callId: 'b' });
      await store.finish(second, completed, attempt(), t0);
      const { runs } = await other.list(session, 10);
      for (const each of runs) {
        expect(each).toStrictEqual(await store.get(each.id));
      }
      expect(runs.find(({ id }) => id === run.id)?.journalLength).toBe(1);
    });

    test('list ends a page early when its runs are large', async () => {
      const session = `session-list-large-${name}`;
      const value = JSON.stringify('v'.repeat(limits.pageBytesMax / 2));
      for (const callId of ['a', 'b', 'c']) {
        const { writer } = await started({ session, callId });
        await store.finish(writer, { tag: 'Completed', valueJson: value, logs: [] }, attempt(), t0);
      }
      const first = await store.list(session, 10);
      expect(first.runs).toHaveLength(1);
      const second = await store.list(session, 10, first.nextPageToken);
      const third = await store.list(session, 10, second.nextPageToken);
      expect(third.nextPageToken).toBeUndefined();
      const ids = [first, second, third].flatMap(({ runs }) => runs.map(({ id }) => id));
      expect(new Set(ids).size).toBe(3);
    });

    test.each([
      ['garbage', 'xx'],
      ['nothing', ''],
      ['another version', Buffer.from('2 1 0123456789abcdef id').toString('base64url')],
    ])('list refuses a page token that is %s', async (_, token) => {
      await expect(store.list('session', 2, token)).rejects.toMatchObject({
        name: 'PageTokenInvalid',
      });
    });

    test('list refuses the page token of another session', async () => {
      const session = `session-token-${name}`;
      await started({ session, callId: 'a' });
      await started({ session, callId: 'b' });
      const { nextPageToken } = await store.list(session, 1);
      expect(nextPageToken).toBeDefined();
      await expect(store.list(`${session}-other`, 1, nextPageToken)).rejects.toMatchObject({
        name: 'PageTokenInvalid',
      });
    });

    test('deleteSession deletes all its runs, running ones too, and no other', async () => {
      const session = `session-delete-${name}`;
      const { run: running, writer } = await started({ session, callId: 'a' });
      await store.append(writer, 0, [called(0)], 0, t0);
      const { run: done, writer: second } = await started({ session, callId: 'b' });
      await store.finish(second, completed, attempt(), t0);
      const { run: waiting, writer: third } = await started({ session, callId: 'c' });
      await store.wait(third, [], attempt(), 0, t0);
      const { run: another } = await started();

      expect(await other.deleteSession(session)).toBe(3);

      expect(await store.deleteSession(session)).toBe(0);
      for (const { id } of [running, done, waiting]) {
        expect(await store.get(id)).toBeUndefined();
        expect(await store.journal(id)).toStrictEqual([]);
        expect(await store.claim(id, claimBy('b', t0 + 99_999))).toStrictEqual({ tag: 'NotFound' });
      }
      await expectLost(store.append(writer, 1, [settled(0)], 0, t0));
      await expectLost(store.renew(writer, t0));
      await expectLost(store.finish(writer, completed, attempt(), t0));
      expect((await store.list(session, 10)).runs).toStrictEqual([]);
      expect(await store.get(another.id)).toBeDefined();
      expect((await store.create(newRun({ session, callId: 'a' }), claimBy('a'))).created).toBe(true);
    });

    test('purge deletes final runs last changed before a time, and those alone', async () => {
      const old = t0 - 1_000_000;
      const { run: running } = await started({ createdAtMs: old });
      const { run: done, writer } = await started({ createdAtMs: old });
      await store.append(writer, 0, [called(0)], 0, old);
      await store.finish(writer, completed, attempt(), old);
      const { run: edge, writer: second } = await started({ createdAtMs: old });
      await store.finish(second, completed, attempt(), old + 1);

      expect(await other.purge(old + 1)).toBe(1);

      expect(await store.get(done.id)).toBeUndefined();
      expect(await store.journal(done.id)).toStrictEqual([]);
      expect(await store.get(running.id)).toBeDefined();
      expect(await store.get(edge.id)).toBeDefined();
      expect(await other.purge(old + 2)).toBe(1);
      expect(await other.purge(old + 2)).toBe(0);
    });

    test('abandoned names Running runs whose lease expired before a time', async () => {
      const past = t0 - 5_000_000;
      const expired = async () => {
        const run = newRun();
        await store.create(run, claimBy('a', past, 1_000));
        return { run, writer: { runId: run.id, epoch: 1 } };
      };
      const { run: held } = await expired();
      const { run: released, writer } = await expired();
      await store.release(writer, attempt(), past + 1_000);
      const { writer: third } = await expired();
      await store.wait(third, [], attempt(), 0, past);
      const { writer: fourth } = await expired();
      await store.finish(fourth, completed, attempt(), past);

      const [first = '', second = ''] = [held.id, released.id].toSorted();
      expect(await other.abandoned(past + 1_001, 10, '')).toStrictEqual([first, second]);
      expect(await other.abandoned(past + 1_001, 1, '')).toStrictEqual([first]);
      expect(await other.abandoned(past + 1_001, 1, first)).toStrictEqual([second]);
      expect(await other.abandoned(past + 1_001, 1, second)).toStrictEqual([]);
      expect(await other.abandoned(past + 1_000, 10, '')).toStrictEqual([]);
    });

    test('settings are replaced by the next version alone', async () => {
      expect(await store.settings()).toStrictEqual(initialSettings);
      const first = { ...initialSettings, version: 1, enabled: true, timeoutMs: 5_000 };
      expect(await store.replaceSettings({ ...first, version: 2 })).toBe(false);
      const tries = await Promise.all([store, other, store].map((each) => each.replaceSettings(first)));
      expect(tries.filter(Boolean)).toHaveLength(1);
      expect(await other.settings()).toStrictEqual(first);
      expect(await store.replaceSettings({ ...first, version: 3 })).toBe(false);
      const second = { ...first, version: 2, enabled: false };
      expect(await other.replaceSettings(second)).toBe(true);
      expect(await store.settings()).toStrictEqual(second);
    });

    test('a result of the largest size comes back exactly', async () => {
      const { run, writer } = await started();
      const noise = randomBytes(callRanges.resultBytesMax.max / 2);
      const large = JSON.stringify(noise.toString('hex').slice(2));
      expect(Buffer.byteLength(large)).toBe(callRanges.resultBytesMax.max);
      await store.append(writer, 0, [called(0), settled(0, large)], 0, t0);
      await store.finish(writer, { tag: 'Completed', valueJson: large, logs: [] }, attempt(), t0);
      const [, entry] = await other.journal(run.id);
      expect(
        entry?.kind === 'Settled' && entry.outcome.tag === 'Completed' && entry.outcome.valueJson === large,
      ).toBe(true);
      const stored = await other.get(run.id);
      expect(stored?.result?.tag === 'Completed' && stored.result.valueJson === large).toBe(true);
    }, 120_000);

    test('ping answers', async () => {
      await store.ping();
    });
  });
}
