/** What the driver throws, sorted: a mistake of ours stays what it is, everything else is the store away. */
import { MongoAPIError, MongoError, MongoServerError } from 'mongodb';
import { StoreUnavailable } from '../contract.ts';

const duplicateKey = 11_000;

export function isDuplicate(error: MongoServerError): boolean {
  return error.code === duplicateKey;
}

/**
 * The name and code of the error, and the message of those that the driver made itself: a server's message
 * may quote a document.
 */
export function unavailable(error: unknown): unknown {
  if (!(error instanceof MongoError) || (error instanceof MongoAPIError && !isClosed(error))) {
    return error;
  }
  const detail =
    error instanceof MongoServerError ? `error ${error.code ?? 'without a code'}` : error.message;
  return new StoreUnavailable(`MongoDB: ${error.name}: ${detail}`, { cause: error });
}

function isClosed(error: MongoAPIError): boolean {
  return ['MongoNotConnectedError', 'MongoTopologyClosedError', 'MongoClientClosedError'].includes(
    error.name,
  );
}
