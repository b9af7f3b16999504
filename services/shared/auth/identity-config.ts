/** Settings of identity, the same for every service that takes tokens. */
import { isLoopback, parseAddress } from '../address.ts';
import { integer, optionalText, type Values } from '../config.ts';
import type { Log } from '../log.ts';
import { checkSecureUrl } from '../secure-url.ts';
import type { Identity } from './authenticator.ts';
import { TokenVerifier } from './tokens.ts';

/** A shared secret must hold as much as the hash that it keys. */
const secretBytesMin = 32;

/** How long keys are not fetched again after a fetch that gave them, and after one that failed. */
const jwksCooldownMs = 5000;
const jwksRetryMs = 1000;

export const identityTable = {
  jwksUrl: optionalText('CODE_RUN_JWKS_URL', {
    what: 'Keys that check bearer tokens: https, or http on this machine. Either this or CODE_RUN_JWT_SECRET.',
    secret: 'url',
    check: checkSecureUrl,
  }),
  jwtSecret: optionalText('CODE_RUN_JWT_SECRET', {
    what: `Secret that checks bearer tokens (HS256 to HS512), at least ${secretBytesMin} bytes.`,
    secret: 'whole',
    check: (value) => {
      if (Buffer.byteLength(value) < secretBytesMin)
        throw new Error(`must be at least ${secretBytesMin} bytes`);
    },
  }),
  jwtIssuer: optionalText('CODE_RUN_JWT_ISSUER', {
    what: 'The issuer that a bearer token must name ("iss").',
  }),
  jwtAudience: optionalText('CODE_RUN_JWT_AUDIENCE', {
    what: 'The audience that a bearer token must name ("aud").',
  }),
  jwtClockSkewSeconds: integer('CODE_RUN_JWT_CLOCK_SKEW_SECONDS', {
    what: 'How far the clocks of issuer and service may differ.',
    unit: 'seconds',
    initial: 30,
    min: 0,
    max: 300,
  }),
};

export type IdentityConfig = Values<typeof identityTable>;

/** What is wrong with the settings together. */
export function identityProblems(
  config: IdentityConfig,
  certificates: boolean,
  addresses: Record<string, string>,
): string[] {
  const problems: string[] = [];
  const { jwksUrl, jwtSecret, jwtIssuer, jwtAudience } = config;
  if (jwksUrl !== undefined && jwtSecret !== undefined) {
    problems.push('CODE_RUN_JWKS_URL and CODE_RUN_JWT_SECRET exclude each other: set one');
  }
  const tokens = jwksUrl !== undefined || jwtSecret !== undefined;
  if (tokens && jwtIssuer === undefined)
    problems.push('CODE_RUN_JWT_ISSUER must be set: tokens are checked for it');
  if (tokens && jwtAudience === undefined) {
    problems.push('CODE_RUN_JWT_AUDIENCE must be set: tokens are checked for it');
  }
  if (!tokens && (jwtIssuer !== undefined || jwtAudience !== undefined)) {
    problems.push(
      'CODE_RUN_JWKS_URL or CODE_RUN_JWT_SECRET must be set where CODE_RUN_JWT_ISSUER or _AUDIENCE is',
    );
  }
  if (tokens || certificates) return problems;
  for (const [name, address] of Object.entries(addresses)) {
    if (isLoopback(parseAddress(address))) continue;
    problems.push(
      `${name} must be on loopback while there is no identity: set CODE_RUN_JWKS_URL, CODE_RUN_JWT_SECRET ` +
        'or CODE_RUN_TLS_CLIENT_CA_FILE to serve others',
    );
  }
  return problems;
}

/** `certificates`: client certificates are checked, and their names count; undefined: they are not. */
export function identityOf(
  config: IdentityConfig,
  certificates: { readonly names: ReadonlySet<string> | undefined } | undefined,
  log: Log,
): Identity {
  const { jwksUrl, jwtSecret, jwtIssuer: issuer, jwtAudience: audience, jwtClockSkewSeconds } = config;
  const keys =
    jwksUrl !== undefined
      ? { url: jwksUrl, cooldownMs: jwksCooldownMs, retryMs: jwksRetryMs, onState: tellIn(log) }
      : jwtSecret !== undefined
        ? { secret: jwtSecret }
        : undefined;
  if (keys !== undefined && issuer !== undefined && audience !== undefined) {
    const rules = { keys, issuer, audience, clockSkewSeconds: jwtClockSkewSeconds };
    return { kind: 'tokens', verifier: new TokenVerifier(rules) };
  }
  return certificates === undefined ? { kind: 'loopback' } : { kind: 'certificates', ...certificates };
}

function tellIn(log: Log): (failure: Error | undefined) => void {
  return (failure) => {
    if (failure === undefined) log.warn({}, 'the keys of CODE_RUN_JWKS_URL are fetched again');
    else log.warn({ reason: reasonOf(failure) }, 'the keys of CODE_RUN_JWKS_URL cannot be fetched');
  };
}

/** `fetch` says "fetch failed", and its cause why; that of several addresses has a code alone. */
function reasonOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
