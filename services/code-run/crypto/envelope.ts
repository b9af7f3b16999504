/**
 * AES-256-GCM over one piece of bytes. A sealed piece is
 *
 *   version (1) · form (1) · nonce (12) · ciphertext · tag (16)
 *
 * C1  Every piece has a random nonce. A data key seals the pieces of one run only, far below the 2^32 pieces
 *     that a key may seal with random nonces; counters would need state that survives a crash.
 * C2  Version, form and the caller's context are authenticated: a piece opens only where it was made for.
 * C3  What does not authenticate gives `Unauthentic` and not one byte of plaintext.
 */
import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';

/** Format of a sealed piece and of what is inside; grows with any change of either. */
export const formatVersion = 1;

const headerBytes = 2;
const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

/** What sealing adds to the plaintext. */
export const overheadBytes = headerBytes + nonceBytes + tagBytes;

/** What a piece is bound to. Unambiguous: it is authenticated as a JSON array. */
export type Context = readonly (string | number)[];

export class Unauthentic extends Error {
  override readonly name = 'Unauthentic';
}

function authenticated(version: number, form: number, context: Context): Buffer {
  return Buffer.from(JSON.stringify(['openbot.codemode', version, form, ...context]), 'utf8');
}

export function seal(key: Uint8Array, context: Context, form: number, plain: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(overheadBytes + plain.length);
  sealed[0] = formatVersion;
  sealed[1] = form;
  const nonce = nextNonce();
  sealed.set(nonce, headerBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(authenticated(formatVersion, form, context));
  cipher.update(plain).copy(sealed, headerBytes + nonceBytes);
  cipher.final();
  cipher.getAuthTag().copy(sealed, sealed.length - tagBytes);
  return sealed;
}

/** Drawn by the hundred: asking for twelve bytes at a time costs more than a short piece's encryption. Each is used once. */
const nonces = Buffer.alloc(nonceBytes * 256);
let noncesUsed = nonces.length;

function nextNonce(): Buffer {
  if (noncesUsed === nonces.length) {
    randomFillSync(nonces);
    noncesUsed = 0;
  }
  noncesUsed += nonceBytes;
  return nonces.subarray(noncesUsed - nonceBytes, noncesUsed);
}

/** The form of a piece, before anything is known to be authentic. */
export function formOf(sealed: Uint8Array): number {
  return sealed[1] ?? -1;
}

export function open(key: Uint8Array, context: Context, sealed: Uint8Array): Buffer {
  const [version, form] = sealed;
  if (sealed.length < overheadBytes || version === undefined || form === undefined) {
    throw new Unauthentic('too short for a sealed piece');
  }
  if (version !== formatVersion) {
    throw new Unauthentic(`format version ${version} is not known here`);
  }
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(authenticated(version, form, context));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plain = decipher.update(sealed.subarray(headerBytes + nonceBytes, sealed.length - tagBytes));
  try {
    decipher.final();
  } catch {
    throw new Unauthentic('it was sealed with another key, for another place, or was changed');
  }
  return plain;
}
