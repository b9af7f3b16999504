/**
 * What the driver throws, sorted: a mistake of ours stays what it is, everything else is the store away. At the
 * start there is a third kind: what the server, or this host, will refuse each time.
 */
import { MongoAPIError, MongoError, MongoServerError } from 'mongodb';
import { StoreReadOnly, StoreUnavailable, StoreUnusable } from '../contract.ts';

const duplicateKey = 11_000;

export function isDuplicate(error: MongoServerError): boolean {
  return error.code === duplicateKey;
}

/**
 * Of a server's error the name and code, for its message may quote a document; of others the message. A socket
 * that ends at the wrong moment comes out of the driver as Node's own error.
 */
export function unavailable(error: unknown): unknown {
  if (error instanceof MongoError) {
    const mistake = error instanceof MongoAPIError && !isClosed(error);
    const detail =
      error instanceof MongoServerError ? `error ${error.code ?? 'without a code'}` : error.message;
    return mistake ? error : new StoreUnavailable(`MongoDB: ${error.name}: ${detail}`, { cause: error });
  }
  if (error instanceof Error && ('syscall' in error || ('code' in error && error.code === 'EPIPE'))) {
    return new StoreUnavailable(`MongoDB: ${error.message}`, { cause: error });
  }
  return error;
}

/** Of a write: a server that answers and refuses it can be read, but for a duplicate, which says nothing of it. */
export function readOnly(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable)) return error;
  const { cause, message } = error;
  const refused = cause instanceof MongoServerError && !isDuplicate(cause);
  return refused ? new StoreReadOnly(message, { cause }) : error;
}

/** Why the store did not open. A server that cannot be reached is away; one that refuses us stays so. */
export function notOpened(error: unknown, hosts: string): unknown {
  const sorted = refused(error);
  return sorted instanceof StoreUnavailable
    ? new StoreUnavailable(`names ${hosts}, which cannot be used now: ${sorted.message}`, {
        cause: sorted.cause,
      })
    : sorted;
}

function refused(error: unknown): unknown {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  if (cause instanceof MongoServerError) {
    const why = refusals.get(Number(cause.code));
    return why === undefined ? error : new StoreUnusable(`${why} (MongoDB error ${cause.code})`, { cause });
  }
  if (cause instanceof MongoAPIError && !isClosed(cause)) {
    return new StoreUnusable(`cannot be used: ${cause.message}`, { cause });
  }
  const unfit = causesOf(cause).find(isBadCertificateFile);
  if (unfit !== undefined) {
    return new StoreUnusable(`names a file of certificates or keys that is none: ${unfit.message}`, {
      cause,
    });
  }
  // A file that the URL names, of certificates say.
  if (
    cause instanceof Error &&
    'syscall' in cause &&
    (cause.syscall === 'open' || cause.syscall === 'read')
  ) {
    return new StoreUnusable(`names a file that cannot be read: ${cause.message}`, { cause });
  }
  return error;
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** What OpenSSL says of what it is given here; of a peer it says ERR_SSL. */
function isBadCertificateFile(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_OSSL_');
}

const wrongUser = 'is refused by the server: the user or password in it is wrong';
const noRight = 'names a user that may not read and write the database: grant it readWrite';
const otherIndexes = 'names a database whose collections have other indexes: name one for Code Mode alone';

/** Error codes that come again each time, and what to do. */
const refusals: ReadonlyMap<number, string> = new Map([
  [11, wrongUser],
  [18, wrongUser],
  [8000, wrongUser],
  [13, noRight],
  [73, 'names a database that the server does not take: choose another name'],
  [67, otherIndexes],
  [85, otherIndexes],
  [86, otherIndexes],
  [duplicateKey, otherIndexes],
]);

/** It met the end of its client: this store was closed, or its client was replaced. */
function isClosed(error: MongoAPIError): boolean {
  return [
    'MongoNotConnectedError',
    'MongoTopologyClosedError',
    'MongoClientClosedError',
    'MongoExpiredSessionError',
  ].includes(error.name);
}
