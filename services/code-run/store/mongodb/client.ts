/**
 * The connection to MongoDB. TLS, authentication, hosts and every option come from the URL; what it does not
 * say is set here on purpose:
 *
 * - writes are acknowledged by a majority, journaled: an acknowledged write survives the loss of a server;
 * - reads go to the primary and see what a majority has;
 * - nothing waits for long: a caller learns within seconds that the store is away.
 */
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { StoreUrlInvalid } from '../contract.ts';

const serverSelectionTimeoutMs = 3_000;
/** Also how long a busy server may leave its monitor without an answer before its connections are given up. */
const connectTimeoutMs = 10_000;
/** An answer to one command; above the time a majority may take. */
const socketTimeoutMs = 20_000;
const writeTimeoutMs = 10_000;
/** A free connection of the pool. */
const poolWaitTimeoutMs = 5_000;
const poolSizeMax = 50;

const databaseNameDefault = 'code_mode';

export function mongoClient(url: string): { readonly client: MongoClient; readonly database: string } {
  const said = new Set(
    [...new URLSearchParams(url.split('?')[1] ?? '').keys()].map((key) => key.toLowerCase()),
  );
  const unlessSaid = (names: readonly string[], options: MongoClientOptions) =>
    names.some((name) => said.has(name.toLowerCase())) ? {} : options;
  const client = parsed(url, {
    appName: 'code-mode',
    promoteBuffers: true,
    ignoreUndefined: false,
    ...unlessSaid(['w'], { w: 'majority' }),
    ...unlessSaid(['journal'], { journal: true }),
    ...unlessSaid(['wtimeout', 'wtimeoutMS'], { wtimeoutMS: writeTimeoutMs }),
    ...unlessSaid(['readConcernLevel'], { readConcern: { level: 'majority' } }),
    ...unlessSaid(['serverSelectionTimeoutMS'], { serverSelectionTimeoutMS: serverSelectionTimeoutMs }),
    ...unlessSaid(['connectTimeoutMS'], { connectTimeoutMS: connectTimeoutMs }),
    ...unlessSaid(['socketTimeoutMS'], { socketTimeoutMS: socketTimeoutMs }),
    ...unlessSaid(['waitQueueTimeoutMS'], { waitQueueTimeoutMS: poolWaitTimeoutMs }),
    ...unlessSaid(['maxPoolSize'], { maxPoolSize: poolSizeMax }),
  });
  const { readPreference, writeConcern } = client.options;
  if (readPreference.mode !== 'primary') {
    throw new StoreUrlInvalid('readPreference must be primary: leases are decided by what was last written');
  }
  if (typeof writeConcern?.w === 'number' && writeConcern.w < 0) {
    throw new StoreUrlInvalid('w must be a number of servers, "majority" or a tag');
  }
  if (writeConcern?.w === 0) {
    throw new StoreUrlInvalid('w must not be 0: a write that nobody acknowledges is not stored');
  }
  const [, named] = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url) ?? [];
  return { client, database: named === undefined ? databaseNameDefault : decodeURIComponent(named) };
}

/** As the driver has read them from the URL: no user, no password. */
export function hostsOf({ options }: MongoClient): string {
  return options.srvHost ?? options.hosts.join(',');
}

/** The driver's message names what is wrong; it quotes options, never the password. */
function parsed(url: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(url, options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreUrlInvalid(`cannot be used: ${why}`, { cause: error });
  }
}
