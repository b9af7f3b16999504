/**
 * What the store asks of whoever keeps the keys that wrap data keys. A keeper is local (keys in this
 * process) or remote (a key-management service that never gives its key away).
 *
 * K1  A wrapped key names the key that wrapped it, and unwraps only for the context it was wrapped for.
 * K2  Keys that are not active any more still unwrap, for as long as the keeper has them.
 * K3  "This key will never unwrap" (`KeyUnusable`) and "not now" (`KeyServiceUnavailable`) are told apart:
 *     the first is one run's trouble, the second is everybody's and passes.
 */

export interface WrappedKey {
  /** "<keeper>:<key>", with the key's version where the keeper has versions. */
  readonly keyId: string;
  readonly wrapped: Uint8Array;
}

export interface KeyKeeper {
  /** First part of its key ids. */
  readonly name: string;
  /** Id under which `wrap` wraps now. */
  activeKeyId(): Promise<string>;
  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey>;
  unwrap(key: WrappedKey, context: string): Promise<Uint8Array>;
}

/** The key is missing, or is not the one that wrapped this. */
export class KeyUnusable extends Error {
  override readonly name = 'KeyUnusable';
}

/** The key-management service does not answer, or refuses this service. */
export class KeyServiceUnavailable extends Error {
  override readonly name = 'KeyServiceUnavailable';
}
