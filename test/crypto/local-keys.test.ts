import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  KeyTextInvalid,
  newLocalKey,
  parseLocalKeys,
  readOrCreateKeyFile,
} from '../../services/code-run/crypto/local-keys.ts';

const secret = Buffer.alloc(32, 'seven').toString('base64');

describe('local keys', () => {
  test('parse takes the first as the active one, comments and any separator', () => {
    const keys = parseLocalKeys(
      `# a comment, with: a colon\nk2:${secret}, k1:${secret}\n\n k0:${secret}\n`,
      'KEYS',
    );
    expect(keys.map(({ id }) => id)).toStrictEqual(['k2', 'k1', 'k0']);
    expect(Buffer.from(keys[0].secret).toString('base64')).toBe(secret);
  });

  test.each([
    ['', 'KEYS: holds no key; write "id:base64 of 32 random bytes"'],
    ['# only a comment', 'KEYS: holds no key; write "id:base64 of 32 random bytes"'],
    [secret, 'KEYS: key 1: must be "id:base64", the id of 1 to 64 letters, digits, ".", "_", "-"'],
    [
      `k1:${secret} k ä:x`,
      'KEYS: key 2: must be "id:base64", the id of 1 to 64 letters, digits, ".", "_", "-"',
    ],
    [`k1:${secret.slice(4)}`, 'KEYS: key 1 ("k1"): must be 32 bytes in base64'],
    [`k1:${secret}x`, 'KEYS: key 1 ("k1"): must be 32 bytes in base64'],
    [`k1:${secret} k1:${secret}`, 'KEYS: two keys have the same id'],
  ])('parse refuses %j by saying where and why', (text, message) => {
    expect(() => parseLocalKeys(text, 'KEYS')).toThrow(new KeyTextInvalid(message));
  });

  test('an error never shows a part of a key', () => {
    for (const text of [secret, `k1:${secret}x`, `k1:${secret} k1:${secret}`]) {
      expect(() => parseLocalKeys(text, 'KEYS')).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining(secret.slice(0, 8)) }),
      );
    }
  });

  test('a new key is one that parse takes', () => {
    expect(parseLocalKeys(newLocalKey('k9'), 'KEYS')[0].id).toBe('k9');
  });
});

describe('key file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'code-mode-keys-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('is made once, for its owner alone, and then read', async () => {
    const path = join(folder, 'keys');
    const first = await readOrCreateKeyFile(path);
    const second = await readOrCreateKeyFile(path);
    expect([first.created, second.created]).toStrictEqual([true, false]);
    expect(second.keys).toStrictEqual(first.keys);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('made by many at once is one', async () => {
    const path = join(folder, 'at-once');
    const all = await Promise.all(Array.from({ length: 20 }, () => readOrCreateKeyFile(path)));
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(all.map(({ keys }) => Buffer.from(keys[0].secret).toString('hex'))).size).toBe(1);
    expect(await readFile(path, 'utf8')).toContain('k1:');
  });

  test('that is there is read where nothing can be written beside it', async () => {
    // No name that is longer than this one can be made.
    const path = join(folder, 'k'.repeat(255));
    await writeFile(path, newLocalKey('k7'));
    expect(await readOrCreateKeyFile(path)).toMatchObject({ created: false, keys: [{ id: 'k7' }] });
  });

  test('is not made in a folder that is not there', async () => {
    await expect(readOrCreateKeyFile(join(folder, 'nowhere', 'keys'))).rejects.toThrow('ENOENT');
  });

  test('that is not one is refused with its path', async () => {
    const path = join(folder, 'bad');
    await writeFile(path, 'hello');
    await expect(readOrCreateKeyFile(path)).rejects.toThrow(`${path}: key 1: must be "id:base64"`);
  });
});
