import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { KeyRing } from '../../services/code-run/crypto/key-ring.ts';
import { type KeyKeeper, KeyUnusable } from '../../services/code-run/crypto/keys.ts';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';

const dataKey = randomBytes(32);
const k1 = { id: 'k1', secret: randomBytes(32) };
const k2 = { id: 'k2', secret: randomBytes(32) };

describe('local keeper', () => {
  test('wraps with the first key and unwraps with each', async () => {
    const old = await new LocalKeeper([k1]).wrap(dataKey, 'run-1');
    const keeper = new LocalKeeper([k2, k1]);
    const wrapped = await keeper.wrap(dataKey, 'run-1');
    expect([old.keyId, wrapped.keyId, await keeper.activeKeyId()]).toStrictEqual([
      'local:k1',
      'local:k2',
      'local:k2',
    ]);
    expect(Buffer.from(await keeper.unwrap(old, 'run-1'))).toStrictEqual(dataKey);
    expect(Buffer.from(await keeper.unwrap(wrapped, 'run-1'))).toStrictEqual(dataKey);
  });

  test('names the key that is missing', async () => {
    const old = await new LocalKeeper([k1]).wrap(dataKey, 'run-1');
    await expect(new LocalKeeper([k2]).unwrap(old, 'run-1')).rejects.toThrow(
      new KeyUnusable('key "local:k1" is not in the key ring'),
    );
  });

  test('refuses another run, another key under the same id, and a key under another id', async () => {
    const wrapped = await new LocalKeeper([k1]).wrap(dataKey, 'run-1');
    const wrong = new LocalKeeper([{ id: 'k1', secret: k2.secret }]);
    const renamed = new LocalKeeper([{ id: 'k9', secret: k1.secret }]);
    await expect(new LocalKeeper([k1]).unwrap(wrapped, 'run-2')).rejects.toBeInstanceOf(KeyUnusable);
    await expect(wrong.unwrap(wrapped, 'run-1')).rejects.toThrow(
      new KeyUnusable('key "local:k1" did not wrap this data key, or it was changed'),
    );
    await expect(renamed.unwrap({ ...wrapped, keyId: 'local:k9' }, 'run-1')).rejects.toBeInstanceOf(
      KeyUnusable,
    );
  });
});

describe('key ring', () => {
  const other: KeyKeeper = {
    name: 'other',
    activeKeyId: async () => 'other:1',
    wrap: async (key) => ({ keyId: 'other:1', wrapped: key }),
    unwrap: async ({ wrapped }) => wrapped,
  };

  test('wraps with its first keeper and lets each unwrap its own', async () => {
    const local = new LocalKeeper([k1]);
    const old = await local.wrap(dataKey, 'run-1');
    const ring = new KeyRing([other, local]);
    expect(await ring.activeKeyId()).toBe('other:1');
    expect((await ring.wrap(dataKey, 'run-1')).keyId).toBe('other:1');
    expect(Buffer.from(await ring.unwrap(old, 'run-1'))).toStrictEqual(dataKey);
  });

  test('names a key that no keeper holds', async () => {
    const ring = new KeyRing([other]);
    await expect(ring.unwrap({ keyId: 'local:k1', wrapped: dataKey }, 'x')).rejects.toThrow(
      new KeyUnusable('no key keeper here holds key "local:k1"'),
    );
  });
});
