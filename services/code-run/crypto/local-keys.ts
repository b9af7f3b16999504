/**
 * Local keys as text: one `id:base64` an entry, separated by line breaks, commas or blanks; the first is the
 * active one. Lines that begin with `#` are comments. The same in the environment and in a file.
 *
 * Nothing here ever puts a key, or a part of one, into an error.
 */
import { randomBytes } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { keyBytes } from './envelope.ts';

export interface LocalKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The text of local keys cannot be used. The message says where and what to do. */
export class KeyTextInvalid extends Error {
  override readonly name = 'KeyTextInvalid';
}

const idPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** `origin` names the variable or file in errors; without it the caller does. */
export function parseLocalKeys(text: string, origin?: string): [LocalKey, ...LocalKey[]] {
  const where = origin === undefined ? '' : `${origin}: `;
  const entries = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  const keys = entries.map((entry, at) => parseEntry(entry, `${where}key ${at + 1}`));
  const ids = new Set(keys.map((key) => key.id));
  if (ids.size !== keys.length) {
    throw new KeyTextInvalid(`${where}two keys have the same id`);
  }
  const [active, ...others] = keys;
  if (active === undefined) {
    throw new KeyTextInvalid(`${where}holds no key; write "id:base64 of ${keyBytes} random bytes"`);
  }
  return [active, ...others];
}

function parseEntry(entry: string, where: string): LocalKey {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, Math.max(colon, 0));
  if (!idPattern.test(id)) {
    throw new KeyTextInvalid(
      `${where}: must be "id:base64", the id of 1 to 64 letters, digits, ".", "_", "-"`,
    );
  }
  const secret = Buffer.from(entry.slice(colon + 1), 'base64');
  if (secret.length !== keyBytes || secret.toString('base64') !== entry.slice(colon + 1)) {
    throw new KeyTextInvalid(`${where} ("${id}"): must be ${keyBytes} bytes in base64`);
  }
  return { id, secret };
}

/** A new key as text. */
export function newLocalKey(id: string): string {
  return `${id}:${randomBytes(keyBytes).toString('base64')}`;
}

/**
 * Reads the keys of a file, and makes it with one new key if it is not there: readable by its owner alone,
 * durable before it is used. Its folder must be there. `created` is for the caller to tell the person who started the service.
 */
export async function readOrCreateKeyFile(
  path: string,
): Promise<{ readonly keys: [LocalKey, ...LocalKey[]]; readonly created: boolean }> {
  const there = await readIfThere(path);
  const created = there === undefined && (await createKeyFile(path));
  return { keys: parseLocalKeys(there ?? (await readFile(path, 'utf8')), path), created };
}

/** What is there is only read: its folder may be read-only, or its disk full. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Written whole under another name and then linked: another process never sees half of it. */
async function createKeyFile(path: string): Promise<boolean> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    try {
      await file.writeFile(
        `# Keys that wrap the data keys of code runs; the first is the active one.\n# Without them no stored run can be read.\n${newLocalKey('k1')}\n`,
      );
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    await unlink(draft);
  }
}
