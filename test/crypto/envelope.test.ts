import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { open, overheadBytes, seal, Unauthentic } from '../../services/code-run/crypto/envelope.ts';

const key = randomBytes(32);
const context = ['start', 'run-1', 7] as const;
const plain = Buffer.from('a program');

describe('envelope', () => {
  test.each([0, 1, 15, 16, 17, 100_000])('opens what was sealed, %i bytes', (length) => {
    const bytes = randomBytes(length);
    const sealed = seal(key, context, 1, bytes);
    expect(sealed).toHaveLength(length + overheadBytes);
    expect(open(key, context, sealed).equals(bytes)).toBe(true);
  });

  test('never seals the same twice', () => {
    expect(seal(key, context, 0, plain).equals(seal(key, context, 0, plain))).toBe(false);
  });

  test('uses a nonce once, over more pieces than are drawn for at a time', () => {
    const nonces = Array.from({ length: 2_000 }, () => seal(key, context, 0, plain).toString('hex', 2, 14));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  test('refuses a flip of any one bit', () => {
    const sealed = seal(key, context, 0, plain);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => open(key, context, changed)).toThrow(Unauthentic);
    }
  });

  test('refuses every shortened piece', () => {
    const sealed = seal(key, context, 0, plain);
    for (let length = 0; length < sealed.length; length++) {
      expect(() => open(key, context, sealed.subarray(0, length))).toThrow(Unauthentic);
    }
  });

  test('refuses another key', () => {
    expect(() => open(randomBytes(32), context, seal(key, context, 0, plain))).toThrow(Unauthentic);
  });

  test.each([
    [['start', 'run-2', 7]],
    [['end', 'run-1', 7]],
    [['start', 'run-1', 8]],
    [['start', 'run-1', '7']],
    [['start', 'run-1']],
    [['start', 'run-1,7']],
    [['start', 'run-1', 7, '']],
  ])('refuses the context %j', (other) => {
    expect(() => open(key, other, seal(key, context, 0, plain))).toThrow(Unauthentic);
  });
});
