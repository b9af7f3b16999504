/**
 * The keys of an issuer, fetched by their URL.
 *
 * J1  However many tokens name keys that are not known, keys are fetched one at a time, and not again for
 *     `cooldownMs` after a fetch, whether it succeeded or not.
 * J2  While they cannot be fetched, those that are known go on counting until they are too old.
 * J3  That they cannot be fetched is told once, and once that they can again.
 */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';

const timeoutMs = 5000;
/** Keys are fetched again after this long even if they are all known, so that a withdrawn one stops counting. */
const ageMaxMs = 600_000;

export interface JwksOptions {
  readonly url: string;
  /** After a fetch that gave keys, an unknown key id does not cause another one for this long. */
  readonly cooldownMs: number;
  /** After a fetch that failed, nothing causes another one for this long. */
  readonly retryMs: number;
  /** Hears why they cannot be fetched when that begins, and undefined when it is over. */
  readonly onState?: (failure: Error | undefined) => void;
}

export function keysOf({ url, cooldownMs, retryMs, onState = () => {} }: JwksOptions): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    cooldownDuration: cooldownMs,
    cacheMaxAge: ageMaxMs,
    [customFetch]: restingFetch(retryMs, onState),
  });
}

/** jose rests after a fetch that gave keys, and not after one that failed. */
function restingFetch(retryMs: number, onState: NonNullable<JwksOptions['onState']>): typeof fetch {
  let failure: { readonly error: unknown; readonly atMs: number } | undefined;
  return async (url, options) => {
    if (failure !== undefined && performance.now() - failure.atMs < retryMs) throw failure.error;
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) throw new Error(`the keys were answered with ${response.status}`);
      const keys: unknown = await response.json();
      createLocalJWKSet(keys as JSONWebKeySet); // Throws where they are none.
      if (failure !== undefined) onState(undefined);
      failure = undefined;
      return Response.json(keys);
    } catch (error) {
      if (failure === undefined) onState(error instanceof Error ? error : new Error(String(error)));
      failure = { error, atMs: performance.now() };
      throw error;
    }
  };
}
