/** What the database sees, and what becomes of a run whose stored form was changed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RunUnreadable } from '../../services/code-run/store/contract.ts';
import type { BatchRow, ChunkRow, RowStore, RunRow } from '../../services/code-run/store/rows.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { limits } from '../../services/shared/limits.ts';
import { type Backend, backends } from './backends.ts';
import { type Changes, changedRows, flipped } from './changed-rows.ts';
import { formsOf } from './dump.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

const keys = localKeeper('k1');

for (const { name, available, start } of backends('sealing')) {
  describe.runIf(available)(`sealing on ${name}`, () => {
    let backend: Backend;
    let rows: RowStore;
    /** Two runs with everything: two batches, an end in chunks. No test changes them. */
    let id: string;
    let otherId: string;

    beforeAll(async () => {
      backend = await start();
      rows = await backend.rows();
      id = await fullRun(noise(3));
      otherId = await fullRun('"short"');
    });
    afterAll(async () => {
      await rows?.close();
      await backend?.stop();
    });

    test('no byte of the database shows program, reason, names, arguments, results, logs or messages', async () => {
      const store = new SealedStore({ rows, keys });
      const markers: string[] = [];
      const marker = (what: string) => {
        const text = `MARKER-${what}-MARKER`;
        markers.push(text);
        return text;
      };
      const large = (text: string) =>
        JSON.stringify([text, 'x'.repeat(limits.storeChunkBytesMax + 1), Math.random()]);
      const run = newRun({
        session: 'READABLE-session',
        code: marker('code'),
        reason: marker('reason'),
        program: { text: marker('program'), columnShifts: [] },
        bindings: [
          {
            connection: marker('binding-connection'),
            capability: marker('binding-capability'),
            rawName: marker('raw-name'),
            source: {
              connectionId: marker('connection-id'),
              connectionName: marker('connection-name'),
              kind: 'tool',
              name: marker('source-name'),
            },
          },
        ],
      });
      await store.create(run, claimBy('a'));
      const writer = { runId: run.id, epoch: 1 };
      await store.append(writer, 0, [called(0, marker('arguments'))], 0, t0);
      await store.append(writer, 1, [settled(0, marker('result'))], 0, t0);
      await store.append(writer, 2, [settled(1, large(marker('large-result')))], 0, t0);
      await store.append(
        writer,
        3,
        [
          {
            kind: 'Settled',
            index: 2,
            outcome: { tag: 'Failed', reason: 'ToolError', message: marker('call-error') },
            atMs: t0,
          },
          { kind: 'Settled', index: 3, outcome: { tag: 'Denied', message: marker('denial') }, atMs: t0 },
        ],
        0,
        t0,
      );
      await store.finish(
        writer,
        {
          tag: 'Failed',
          reason: 'Error',
          message: marker('error'),
          line: 1,
          column: 1,
          logs: [{ index: 0, level: 'info', text: marker('log') }],
        },
        attempt(),
        t0,
      );
      const done = newRun();
      await store.create(done, claimBy('a'));
      const end = { tag: 'Completed', valueJson: large(marker('value')), logs: [] } as const;
      await store.finish({ runId: done.id, epoch: 1 }, end, attempt(), t0);

      const dump = await backend.dump();
      expect(dump.includes('READABLE-session')).toBe(true);
      expect(dump.includes(run.id)).toBe(true);
      for (const text of markers) {
        expect([text, formsOf(text).some((form) => dump.includes(form))]).toStrictEqual([text, false]);
      }
      expect(dump.includes('MARKER')).toBe(false);
    });

    async function fullRun(valueJson: string): Promise<string> {
      const store = new SealedStore({ rows, keys });
      const run = newRun({ code: `x${'y'.repeat(100)}` });
      await store.create(run, claimBy('a'));
      const writer = { runId: run.id, epoch: 1 };
      await store.append(writer, 0, [called(0)], 0, t0);
      await store.append(writer, 1, [settled(0)], 0, t0);
      await store.finish(writer, { tag: 'Completed', valueJson, logs: [] }, attempt(), t0);
      return run.id;
    }

    /** Rows as read by a store whose database was changed behind its back. */
    function storeOnChanged(change: Changes): { store: SealedStore; alarms: string[] } {
      const alarms: string[] = [];
      const changed = changedRows(rows, change);
      const store = new SealedStore({ rows: changed, keys, onUnreadable: (runId) => alarms.push(runId) });
      return { store, alarms };
    }

    async function expectUnreadable(runId: string, change: Changes, what: 'get' | 'journal'): Promise<void> {
      const { store, alarms } = storeOnChanged(change);
      await expect(store[what](runId)).rejects.toBeInstanceOf(RunUnreadable);
      expect(alarms).toStrictEqual([runId]);
    }

    test('a run that nobody changed is read through the same path', async () => {
      const { store, alarms } = storeOnChanged({
        run: (row) => row,
        batches: (all) => all,
        chunks: (all) => all,
      });
      expect((await store.get(id))?.status).toBe('Completed');
      expect(await store.journal(id)).toHaveLength(2);
      expect(alarms).toStrictEqual([]);
    });

    test.each<[string, (row: RunRow) => RunRow]>([
      ['another session', (row) => ({ ...row, session: 'mine' })],
      ['another owner', (row) => ({ ...row, owner: 'me' })],
      ['another turn', (row) => ({ ...row, turn: 't-1' })],
      ['another call', (row) => ({ ...row, callId: 'call-1' })],
      ['another time', (row) => ({ ...row, createdAtMs: row.createdAtMs + 1 })],
      ['another status', (row) => ({ ...row, status: 'Cancelled' })],
      ['another length of its journal', (row) => ({ ...row, journalLength: 1 })],
      ['start and end swapped', (row) => ({ ...row, start: row.end, end: row.start })],
      ['one bit of its start flipped', (row) => ({ ...row, start: flipped(row.start) })],
      ['one bit of its end flipped', (row) => ({ ...row, end: flipped(row.end) })],
      ['one bit of its wrapped key flipped', (row) => ({ ...row, wrappedKey: flipped(row.wrappedKey) })],
      ['no end', (row) => ({ ...row, end: new Uint8Array(0) })],
      ['the name of a key that is not there', (row) => ({ ...row, keyId: 'local:k0' })],
    ])('a run with %s is unreadable', async (_, run) => {
      await expectUnreadable(id, { run }, 'get');
    });

    test('a run with the sealed fields of another is unreadable', async () => {
      const other = await rows.run(otherId);
      await expectUnreadable(id, { run: (row) => ({ ...row, start: other?.start ?? row.start }) }, 'get');
      await expectUnreadable(id, { run: (row) => ({ ...row, end: other?.end ?? row.end }) }, 'get');
      await expectUnreadable(
        id,
        { run: (row) => ({ ...row, wrappedKey: other?.wrappedKey ?? row.wrappedKey }) },
        'get',
      );
    });

    test.each<[string, (all: readonly BatchRow[]) => readonly BatchRow[]]>([
      ['its first batch missing', (all) => all.slice(1)],
      ['its last batch missing', (all) => all.slice(0, -1)],
      ['two batches swapped', (all) => all.toReversed()],
      [
        'the bodies of two batches swapped',
        ([a, b]) =>
          a && b
            ? [
                { ...a, body: b.body },
                { ...b, body: a.body },
              ]
            : [],
      ],
      ['a batch twice', (all) => [...all, ...all.slice(-1)]],
      [
        'a batch copied to the next slot',
        (all) => [...all, ...all.slice(-1).map((row) => ({ ...row, slot: 2, first: 2 }))],
      ],
      ['one bit of a batch flipped', (all) => all.map((row) => ({ ...row, body: flipped(row.body) }))],
      ['another number of entries', (all) => all.map((row, at) => (at === 1 ? { ...row, count: 2 } : row))],
      ['another epoch', (all) => all.map((row) => ({ ...row, epoch: 2 }))],
      ['another time', (all) => all.map((row) => ({ ...row, atMs: row.atMs + 1 }))],
    ])('a journal with %s is unreadable', async (_, batches) => {
      await expectUnreadable(id, { batches }, 'journal');
    });

    test.each<[string, (all: readonly ChunkRow[]) => readonly ChunkRow[]]>([
      ['one missing', (all) => all.slice(1)],
      ['the last missing', (all) => all.slice(0, -1)],
      ['two swapped', ([a, b, ...rest]) => (a && b ? [b, a, ...rest] : [])],
      ['one bit flipped', (all) => all.map((row) => ({ ...row, body: flipped(row.body) }))],
      ['one twice', ([a, _, ...rest]) => (a ? [a, a, ...rest] : [])],
    ])('a result whose chunks have %s is unreadable', async (_, chunks) => {
      await expectUnreadable(id, { chunks }, 'get');
    });

    test('a chunk of an older write of the same field is detected', async () => {
      const blobs: ChunkRow[][] = [];
      const recording = changedRows(rows, {});
      const store = new SealedStore({ rows: recording, keys });
      recording.insertChunks = async (chunks) => {
        blobs.push([...chunks]);
        await rows.insertChunks(chunks);
      };
      const other = newRun();
      await store.create(other, claimBy('a'));
      const again = { runId: other.id, epoch: 1 };
      const end = { tag: 'Completed', valueJson: noise(2), logs: [] } as const;
      recording.changeRun = async () => false;
      await expect(store.finish(again, end, attempt(), t0)).rejects.toThrow('claimed by another');
      recording.changeRun = (...change) => rows.changeRun(...change);
      await store.finish(again, end, attempt(), t0);
      const [older = [], newer = []] = blobs;
      expect(older.length).toBe(newer.length);
      await expectUnreadable(other.id, { chunks: (all) => [...older.slice(0, 1), ...all.slice(1)] }, 'get');
      await expectUnreadable(other.id, { chunks: () => older }, 'get');
    });
  });
}

/** JSON text that does not compress, of about that many chunks. */
function noise(chunks: number): string {
  let state = 1;
  const bytes = Buffer.alloc(Math.floor((chunks - 0.5) * limits.storeChunkBytesMax));
  for (let at = 0; at < bytes.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return JSON.stringify(bytes.toString('base64'));
}
