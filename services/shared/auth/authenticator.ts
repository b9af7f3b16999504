/**
 * Tells who makes a call, the same for gRPC metadata and HTTP headers.
 *
 * A1  With token rules, every call needs a bearer token, whatever the transport says.
 * A2  Without, a caller that showed a verified client certificate is the core.
 * A3  Without either, the servers listen on loopback only (checked at start), and whoever can reach them may
 *     do everything.
 */
import { AppError } from '../errors.ts';
import { allPermissions, type Caller, permissions } from './caller.ts';
import { type TokenVerifier, unauthenticated } from './tokens.ts';

/** What a transport knows of the sender of a request. */
export interface Sender {
  /** First value of a header, by lower-case name. */
  header(name: string): string | undefined;
  /** Address of the other end, without its port; "" where the transport has none, as on a Unix socket. */
  readonly peer: string;
  /** Name in the client certificate that was verified, if there was one. */
  readonly certificateName?: string | undefined;
}

export interface Authenticator {
  /** Throws UNAUTHENTICATED, or UNAVAILABLE if it cannot be told. */
  authenticate(sender: Sender): Promise<Caller>;
}

export type Identity =
  | { readonly kind: 'tokens'; readonly verifier: TokenVerifier }
  /** `names`: those that count; undefined: any that the authority gave. */
  | { readonly kind: 'certificates'; readonly names: ReadonlySet<string> | undefined }
  | { readonly kind: 'loopback' };

export function createAuthenticator(identity: Identity): Authenticator {
  switch (identity.kind) {
    case 'tokens':
      return { authenticate: async (sender) => await identity.verifier.verify(bearerOf(sender)) };
    case 'certificates':
      return {
        authenticate: async ({ certificateName }) => {
          if (certificateName === undefined) throw unauthenticated('needs a client certificate');
          if (identity.names?.has(certificateName) === false) {
            throw new AppError('PERMISSION_DENIED', 'the name of the client certificate is not allowed');
          }
          return { subject: certificateName, permissions: corePermissions, sessions: undefined };
        },
      };
    case 'loopback':
      return { authenticate: async () => local };
  }
}

const corePermissions = new Set([permissions.execute, permissions.useApps, permissions.readSessions]);

const local: Caller = { subject: 'local', permissions: new Set(allPermissions), sessions: undefined };

function bearerOf(sender: Sender): string {
  const value = sender.header('authorization');
  if (value === undefined) throw unauthenticated('needs a bearer token');
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(value)?.[1];
  if (token === undefined) throw unauthenticated('the authorization header must be "Bearer <token>"');
  return token;
}
