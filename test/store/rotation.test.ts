/** Key rotation while runs go on: with local keys on each database, and with a key-management server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KeyRing } from '../../services/code-run/crypto/key-ring.ts';
import type { KeyKeeper } from '../../services/code-run/crypto/keys.ts';
import { TransitKeeper } from '../../services/code-run/crypto/transit-keeper.ts';
import { RunUnreadable, StoreUnavailable } from '../../services/code-run/store/contract.ts';
import { SealedStore } from '../../services/code-run/store/sealed-store.ts';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { Bao, baoAvailable } from '../support/bao.ts';
import { type Backend, backends } from './backends.ts';
import { attempt, called, claimBy, localKeeper, newRun, settled, t0 } from './example-runs.ts';

for (const { name, available, start } of backends('key rotation')) {
  describe.runIf(available)(`rotation on ${name}`, () => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await start();
    });
    afterAll(() => backend?.stop());

    async function storeWith(keys: KeyKeeper): Promise<SealedStore> {
      return new SealedStore({ rows: await backend.rows(), keys });
    }

    async function finished(store: SealedStore, count: number): Promise<string[]> {
      const runs = Array.from({ length: count }, () => newRun());
      for (const run of runs) {
        await store.create(run, claimBy('a'));
        const writer = { runId: run.id, epoch: 1 };
        await store.append(writer, 0, [called(0)], 0, t0);
        await store.finish(writer, { tag: 'Completed', valueJson: '1', logs: [] }, attempt(), t0);
      }
      return runs.map(({ id }) => id);
    }

    test('keeps every run readable, during and after, while new and running ones go on', async () => {
      const old = await storeWith(localKeeper('k1'));
      const ids = await finished(old, 20);
      const running = newRun();
      await old.create(running, claimBy('a'));
      const before = await Promise.all(ids.map((id) => old.get(id)));

      const rotating = await storeWith(localKeeper('k2', 'k1'));
      let done = false;
      const load = async () => {
        let length = 0;
        do {
          await old.append({ runId: running.id, epoch: 1 }, length, [called(length)], 0, t0);
          length += 1;
          expect(await rotating.get(ids[length % ids.length] ?? '')).toBeDefined();
        } while (!done);
        return length;
      };
      const rotation = async () => {
        const report = await rotating.rotate();
        done = true;
        return report;
      };
      const [length, report] = await Promise.all([load(), rotation()]);

      expect(report).toStrictEqual({ keyId: 'local:k2', rewrapped: 21, unreadable: [] });
      expect(await rotating.rotate()).toStrictEqual({ keyId: 'local:k2', rewrapped: 0, unreadable: [] });
      const fresh = await storeWith(localKeeper('k2'));
      expect(await Promise.all(ids.map((id) => fresh.get(id)))).toStrictEqual(before);
      expect(await fresh.journal(running.id)).toHaveLength(length);
      await old.append({ runId: running.id, epoch: 1 }, length, [settled(0)], 0, t0);
      for (const each of [old, rotating, fresh]) {
        await each.close();
      }
    });

    test('cut off goes on where it was', async () => {
      const old = await storeWith(localKeeper('k2'));
      const ids = await finished(old, 6);
      const controller = new AbortController();
      const keys = localKeeper('k3', 'k2');
      const stopping = await storeWith({
        name: keys.name,
        activeKeyId: () => keys.activeKeyId(),
        unwrap: (...given) => keys.unwrap(...given),
        wrap: (...given) => {
          controller.abort();
          return keys.wrap(...given);
        },
      });
      expect(await stopping.rotate(controller.signal)).toMatchObject({ rewrapped: 1 });
      const rotating = await storeWith(keys);
      expect((await rotating.rotate()).rewrapped).toBeGreaterThanOrEqual(5);
      const fresh = await storeWith(localKeeper('k3'));
      for (const id of ids) {
        expect(await fresh.journal(id)).toStrictEqual([called(0)]);
      }
      for (const each of [old, stopping, rotating, fresh]) {
        await each.close();
      }
    });

    test('names the runs whose key is missing and leaves them as they are', async () => {
      const lost = await storeWith(localKeeper('lost'));
      const [id = ''] = await finished(lost, 1);
      const rotating = await storeWith(localKeeper('k4', 'k3'));
      expect((await rotating.rotate()).unreadable).toStrictEqual([id]);
      await expect(rotating.get(id)).rejects.toThrow(
        new RunUnreadable(`run ${id} cannot be read: key "local:lost" is not in the key ring`),
      );
      const found = await storeWith(localKeeper('k4', 'lost'));
      expect(await found.rotate()).toMatchObject({ rewrapped: 1, unreadable: [] });
      expect(await rotating.get(id)).toBeDefined();
      for (const each of [lost, rotating, found]) {
        await each.close();
      }
    });
  });
}

describe.runIf(baoAvailable('rotation with a key-management server'))('rotation with OpenBao', () => {
  let bao: Bao;
  beforeAll(async () => {
    bao = await Bao.start();
    await bao.ask('POST', 'sys/mounts/transit', { type: 'transit' });
    await bao.ask('POST', 'transit/keys/runs', { type: 'aes256-gcm96' });
  });
  afterAll(() => bao?.stop());

  test('moves runs from a local key to the server, and on to a new version of its key', async () => {
    const { address, token } = bao;
    const options = { address, mount: 'transit', key: 'runs', token: () => token, timeoutMs: 5_000 };
    const transit = new TransitKeeper(options);
    const local = localKeeper('k1');
    const rows = new SqliteRows({ path: ':memory:', durability: 'power' });
    const run = newRun();
    await new SealedStore({ rows, keys: local }).create(run, claimBy('a'));

    const both = new SealedStore({ rows, keys: new KeyRing([transit, local]) });
    expect(await both.rotate()).toMatchObject({ keyId: 'transit/transit/runs:v1', rewrapped: 1 });
    await bao.ask('POST', 'transit/keys/runs/rotate', {});
    const remote = new SealedStore({ rows, keys: transit });
    expect((await remote.get(run.id))?.code).toBe(run.code);
    expect(await remote.rotate()).toMatchObject({ keyId: 'transit/transit/runs:v2', rewrapped: 1 });
    await bao.ask('POST', 'transit/keys/runs/config', { min_decryption_version: 2 });
    const trimmed = new SealedStore({ rows, keys: transit });
    expect((await trimmed.get(run.id))?.code).toBe(run.code);

    const refused = new SealedStore({ rows, keys: new TransitKeeper({ ...options, token: () => 'wrong' }) });
    await expect(refused.get(run.id)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(refused.create(newRun(), claimBy('a'))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(refused.rotate()).rejects.toBeInstanceOf(StoreUnavailable);
    await rows.close();
  });
});
