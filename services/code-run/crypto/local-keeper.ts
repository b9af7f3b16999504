/**
 * Wraps data keys with keys held in this process: AES-256-GCM, bound to the key's id and the context.
 * One wrap per run under a random nonce: rotate long before 2^32 runs under one key.
 */
import { open, seal, Unauthentic } from './envelope.ts';
import { type KeyKeeper, KeyUnusable, type WrappedKey } from './keys.ts';
import type { LocalKey } from './local-keys.ts';

const wrappedForm = 0;

export class LocalKeeper implements KeyKeeper {
  readonly name = 'local';
  readonly #active: LocalKey;
  readonly #keys: ReadonlyMap<string, Uint8Array>;

  /** The first key is the active one. */
  constructor(keys: readonly [LocalKey, ...LocalKey[]]) {
    this.#active = keys[0];
    this.#keys = new Map(keys.map((key) => [`${this.name}:${key.id}`, key.secret]));
  }

  activeKeyId(): Promise<string> {
    return Promise.resolve(`${this.name}:${this.#active.id}`);
  }

  async wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey> {
    const keyId = await this.activeKeyId();
    return { keyId, wrapped: seal(this.#active.secret, ['data-key', keyId, context], wrappedForm, dataKey) };
  }

  async unwrap(key: WrappedKey, context: string): Promise<Uint8Array> {
    const secret = this.#keys.get(key.keyId);
    if (secret === undefined) {
      throw new KeyUnusable(`key "${key.keyId}" is not in the key ring`);
    }
    try {
      return open(secret, ['data-key', key.keyId, context], key.wrapped);
    } catch (error) {
      if (error instanceof Unauthentic) {
        throw new KeyUnusable(`key "${key.keyId}" did not wrap this data key, or it was changed`, {
          cause: error,
        });
      }
      throw error;
    }
  }
}
