/** Math.random and crypto.randomUUID: xoshiro128** from the run's seed, so that every attempt draws the same. */
import { define, imul, numberToString, padStart } from './primordials.ts';

let a = 1;
let b = 2;
let c = 3;
let d = 4;

export function seedRandom(seed: readonly [number, number, number, number]): void {
  a = seed[0] | 0;
  b = seed[1] | 0;
  c = seed[2] | 0;
  d = seed[3] | 0;
  // All zero is the one state that the generator never leaves.
  if ((a | b | c | d) === 0) {
    d = 1;
  }
}

/** 32 random bits, unsigned. */
function next(): number {
  const times5 = imul(b, 5);
  const result = imul((times5 << 7) | (times5 >>> 25), 9) >>> 0;
  const t = b << 9;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= t;
  d = (d << 11) | (d >>> 21);
  return result;
}

function hex(value: number, digits: number): string {
  return padStart(numberToString(value, 16), digits, '0');
}

function randomUUID(): string {
  const w0 = next();
  const w1 = next();
  const w2 = next();
  const w3 = next();
  const version = (w1 & 0x0fff) | 0x4000;
  const variant = ((w2 >>> 16) & 0x3fff) | 0x8000;
  return `${hex(w0, 8)}-${hex(w1 >>> 16, 4)}-${hex(version, 4)}-${hex(variant, 4)}-${hex(w2 & 0xffff, 4)}${hex(w3, 8)}`;
}

export function installRandom(): void {
  // 53 bits: the top 27 of one word over the top 26 of the next.
  const random = { random: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53 }.random;
  define(Math, 'random', random);
  const crypto = {};
  define(crypto, 'randomUUID', { randomUUID: () => randomUUID() }.randomUUID, true);
  define(crypto, Symbol.toStringTag, 'Crypto');
  define(globalThis, 'crypto', crypto);
}
