/**
 * Bearer tokens: JSON Web Tokens, checked with a shared secret or with the keys of an issuer (JWKS), which
 * rotate: an unknown key id makes the keys be fetched again.
 *
 * K1  Signature, expiry, issuer and audience are all checked; a token without expiry is refused.
 * K2  Only the algorithms that fit the kind of key count: a public key is never taken for a shared secret.
 * K3  Keys that cannot be fetched are UNAVAILABLE: the caller did nothing wrong.
 */
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { AppError } from '../errors.ts';
import { allPermissions, type Caller } from './caller.ts';
import { type JwksOptions, keysOf } from './jwks.ts';

export interface TokenRules {
  readonly keys: JwksOptions | { readonly secret: string };
  readonly issuer: string;
  readonly audience: string;
  /** How far clocks may differ. */
  readonly clockSkewSeconds: number;
}

const publicKeyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];
const secretAlgorithms = ['HS256', 'HS384', 'HS512'];

export class TokenVerifier {
  readonly #rules: TokenRules;
  readonly #key: Uint8Array | JWTVerifyGetKey;
  readonly #algorithms: string[];

  constructor(rules: TokenRules) {
    this.#rules = rules;
    if ('secret' in rules.keys) {
      this.#key = new TextEncoder().encode(rules.keys.secret);
      this.#algorithms = secretAlgorithms;
    } else {
      this.#key = keysOf(rules.keys);
      this.#algorithms = publicKeyAlgorithms;
    }
  }

  async verify(token: string): Promise<Caller> {
    const options = {
      algorithms: this.#algorithms,
      issuer: this.#rules.issuer,
      audience: this.#rules.audience,
      clockTolerance: this.#rules.clockSkewSeconds,
      requiredClaims: ['exp', 'sub'],
    };
    try {
      // Two overloads of one function: a key, or what finds one.
      const { payload } =
        typeof this.#key === 'function'
          ? await jwtVerify(token, this.#key, options)
          : await jwtVerify(token, this.#key, options);
      return callerOf(payload);
    } catch (error) {
      throw refusal(error);
    }
  }
}

function callerOf(payload: JWTPayload): Caller {
  const { sub, permissions, sessions } = payload;
  if (typeof sub !== 'string' || sub === '') throw unauthenticated('the bearer token has no subject');
  const granted = new Set(stringsOf(permissions));
  return {
    subject: sub,
    permissions: new Set(allPermissions.filter((permission) => granted.has(permission))),
    sessions: sessions === undefined ? undefined : new Set(stringsOf(sessions)),
  };
}

/** A claim as a list, or as one text with spaces, the way scopes are written. Anything else counts as empty. */
function stringsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((part) => part !== '');
  if (!Array.isArray(claim)) return [];
  return claim.filter((part): part is string => typeof part === 'string');
}

function refusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.JWTExpired) return unauthenticated('the bearer token has expired', error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unauthenticated(`the bearer token's claim "${error.claim}" is missing or wrong`, error);
  }
  if (error instanceof errors.JWKSTimeout || isFetchFailure(error)) {
    return new AppError('UNAVAILABLE', 'the keys that check bearer tokens cannot be fetched', {
      cause: error,
    });
  }
  return unauthenticated('the bearer token is not valid', error);
}

/** jose throws its own errors for what is wrong with a token, and others where fetching failed. */
function isFetchFailure(error: unknown): boolean {
  return (
    !(error instanceof errors.JOSEError) ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}

export function unauthenticated(message: string, cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message, cause === undefined ? {} : { cause });
}
