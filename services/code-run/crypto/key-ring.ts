/**
 * Several keepers as one: the first wraps, each unwraps what it wrapped. So keys move from one keeper to
 * another (local to remote) by putting the new one first and rotating.
 */
import { type KeyKeeper, KeyUnusable, type WrappedKey } from './keys.ts';

export class KeyRing implements KeyKeeper {
  readonly name = 'ring';
  readonly #active: KeyKeeper;
  readonly #keepers: readonly KeyKeeper[];

  constructor(keepers: readonly [KeyKeeper, ...KeyKeeper[]]) {
    this.#active = keepers[0];
    this.#keepers = keepers;
  }

  activeKeyId(): Promise<string> {
    return this.#active.activeKeyId();
  }

  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey> {
    return this.#active.wrap(dataKey, context);
  }

  async unwrap(key: WrappedKey, context: string): Promise<Uint8Array> {
    const keeper = this.#keepers.find(({ name }) => key.keyId.startsWith(`${name}:`));
    if (keeper === undefined) {
      throw new KeyUnusable(`no key keeper here holds key "${key.keyId}"`);
    }
    return keeper.unwrap(key, context);
  }
}
