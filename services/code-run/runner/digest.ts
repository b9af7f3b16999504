/** Hashes that bind an outcome to its call, and a run to its numbers. */
import { hash } from 'node:crypto';

/** SHA-256 of a text as UTF-8, lower-case hexadecimal. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The seed of a run: 16 bytes that follow from its id alone, so that every attempt has the same. */
export function seedOf(runId: string): Uint8Array {
  return hash('sha256', `openbot.codemode.v1 seed\0${runId}`, 'buffer').subarray(0, 16);
}
