import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KeyServiceUnavailable, KeyUnusable } from '../../services/code-run/crypto/keys.ts';
import { TransitKeeper, type TransitOptions } from '../../services/code-run/crypto/transit-keeper.ts';
import { Bao, baoAvailable } from '../support/bao.ts';

describe.runIf(baoAvailable('transit keeper on OpenBao'))('transit keeper', () => {
  let bao: Bao;
  const dataKey = randomBytes(32);

  beforeAll(async () => {
    bao = await Bao.start();
    await bao.ask('POST', 'sys/mounts/transit', { type: 'transit' });
    for (const key of ['runs', 'others', 'turning']) {
      await bao.ask('POST', `transit/keys/${key}`, { type: 'aes256-gcm96' });
    }
  });
  afterAll(() => bao?.stop());

  function keeper(changes: Partial<TransitOptions> = {}): TransitKeeper {
    const { address, token } = bao;
    return new TransitKeeper({
      address,
      mount: 'transit',
      key: 'runs',
      token: () => token,
      timeoutMs: 5_000,
      ...changes,
    });
  }

  test('unwraps what it wrapped, under the id it named', async () => {
    const wrapped = await keeper().wrap(dataKey, 'run-1');
    expect(wrapped.keyId).toBe('transit/transit/runs:v1');
    expect(await keeper().activeKeyId()).toBe(wrapped.keyId);
    expect(Buffer.from(await keeper().unwrap(wrapped, 'run-1'))).toStrictEqual(dataKey);
  });

  test('refuses another run, another key and a changed byte as unusable', async () => {
    const { keyId, wrapped } = await keeper().wrap(dataKey, 'run-1');
    const changed = Buffer.from(wrapped);
    changed[20] = (changed[20] ?? 0) ^ 1;
    await expect(keeper().unwrap({ keyId, wrapped }, 'run-2')).rejects.toBeInstanceOf(KeyUnusable);
    await expect(keeper({ key: 'others' }).unwrap({ keyId, wrapped }, 'run-1')).rejects.toBeInstanceOf(
      KeyUnusable,
    );
    await expect(keeper({ key: 'none' }).unwrap({ keyId, wrapped }, 'run-1')).rejects.toBeInstanceOf(
      KeyUnusable,
    );
    await expect(keeper().unwrap({ keyId, wrapped: changed }, 'run-1')).rejects.toBeInstanceOf(KeyUnusable);
  });

  test('keeps reading with an old version until the server gives it up', async () => {
    const turning = keeper({ key: 'turning' });
    const old = await turning.wrap(dataKey, 'run-1');
    await bao.ask('POST', 'transit/keys/turning/rotate', {});
    expect(await turning.activeKeyId()).toBe('transit/transit/turning:v2');
    expect((await turning.wrap(dataKey, 'run-1')).keyId).toBe('transit/transit/turning:v2');
    expect(Buffer.from(await turning.unwrap(old, 'run-1'))).toStrictEqual(dataKey);
    await bao.ask('POST', 'transit/keys/turning/config', { min_decryption_version: 2 });
    await expect(turning.unwrap(old, 'run-1')).rejects.toBeInstanceOf(KeyUnusable);
  });

  test('says that the service is unavailable when its token is refused', async () => {
    const wrapped = await keeper().wrap(dataKey, 'run-1');
    const refused = keeper({ token: () => 'wrong' });
    const asks = [
      () => refused.activeKeyId(),
      () => refused.wrap(dataKey, 'x'),
      () => refused.unwrap(wrapped, 'run-1'),
    ];
    for (const ask of asks) {
      await expect(ask()).rejects.toThrow(
        new KeyServiceUnavailable('transit/transit/runs: the server answered 403: permission denied'),
      );
    }
  });

  test('says that the service is unavailable when it has no such key to wrap with', async () => {
    await expect(keeper({ key: 'none' }).activeKeyId()).rejects.toBeInstanceOf(KeyServiceUnavailable);
  });

  test('says that the service is unavailable when nobody listens, or nobody answers in time', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const slow = keeper({ address: `http://127.0.0.1:${port}`, timeoutMs: 50 });
    await expect(slow.wrap(dataKey, 'x')).rejects.toBeInstanceOf(KeyServiceUnavailable);
    silent.closeAllConnections();
    silent.close();
    const away = keeper({ address: `http://127.0.0.1:${port}` });
    await expect(away.wrap(dataKey, 'x')).rejects.toBeInstanceOf(KeyServiceUnavailable);
  });
});
