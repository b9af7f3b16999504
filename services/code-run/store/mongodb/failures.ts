/** What the driver throws, sorted: a mistake of ours stays what it is, everything else is the store away. */
import { MongoAPIError, MongoError, MongoServerError } from 'mongodb';
import { StoreUnavailable } from '../contract.ts';

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

function isClosed(error: MongoAPIError): boolean {
  return ['MongoNotConnectedError', 'MongoTopologyClosedError', 'MongoClientClosedError'].includes(
    error.name,
  );
}
