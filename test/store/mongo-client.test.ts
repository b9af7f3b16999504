/** What is asked of a MongoDB when its URL does not say it, and what a URL may not say. */
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { StoreUrlInvalid } from '../../services/code-run/store/contract.ts';
import { mongoClient } from '../../services/code-run/store/mongodb/client.ts';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import { mongoAvailable, startMongo } from '../support/mongo.ts';

function asked(url: string) {
  const { client, database } = mongoClient(url);
  const { writeConcern, readConcern, readPreference, retryWrites, retryReads, tls, maxPoolSize } =
    client.options;
  const { serverSelectionTimeoutMS, connectTimeoutMS, socketTimeoutMS, waitQueueTimeoutMS } = client.options;
  return {
    database,
    writeConcern: {
      w: writeConcern?.w,
      journal: writeConcern?.journal,
      wtimeoutMS: writeConcern?.wtimeoutMS,
    },
    readConcern: readConcern?.level,
    readPreference: readPreference.mode,
    retries: [retryWrites, retryReads],
    tls: tls === true,
    maxPoolSize,
    times: [serverSelectionTimeoutMS, connectTimeoutMS, socketTimeoutMS, waitQueueTimeoutMS],
  };
}

const byDefault = {
  database: 'code_mode',
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 10_000 },
  readConcern: 'majority',
  readPreference: 'primary',
  retries: [true, true],
  tls: false,
  maxPoolSize: 50,
  times: [3_000, 10_000, 20_000, 5_000],
};

describe('a MongoDB URL', () => {
  test('that says nothing gets durable writes, bounded times and retries', () => {
    expect(asked('mongodb://h/')).toStrictEqual(byDefault);
  });

  test.each([
    ['mongodb://h/runs', { database: 'runs' }],
    ['mongodb://h/?w=2', { writeConcern: { w: 2, journal: true, wtimeoutMS: 10_000 } }],
    ['mongodb://h/?wtimeoutMS=7', { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 7 } }],
    [
      'mongodb://h/?w=majority&journal=false&wtimeoutMS=7',
      { writeConcern: { w: 'majority', journal: false, wtimeoutMS: 7 } },
    ],
    ['mongodb://h/?readConcernLevel=local', { readConcern: 'local' }],
    ['mongodb://h/?tls=true', { tls: true }],
    ['mongodb://h/?maxPoolSize=3', { maxPoolSize: 3 }],
    ['mongodb://h/?SERVERSELECTIONTIMEOUTMS=9&socketTimeoutMS=8', { times: [9, 10_000, 8, 5_000] }],
    ['mongodb://h/?retryWrites=false', { retries: [false, true] }],
  ])('is followed in what it says: %s', (url, said) => {
    expect(asked(url)).toStrictEqual({ ...byDefault, ...said });
  });

  test('has its user, and where that user is known, from the URL alone', () => {
    const { client } = mongoClient('mongodb://ann:pa%40ss@h/x?authSource=users&authMechanism=SCRAM-SHA-256');
    expect(client.options.credentials).toMatchObject({
      username: 'ann',
      password: 'pa@ss',
      source: 'users',
      mechanism: 'SCRAM-SHA-256',
    });
  });

  test.each([
    ['mongodb://u:hunter2@h/?w=0', /^w must not be 0/],
    ['mongodb://u:hunter2@h/?w=-1', /^w must be a number of servers/],
    ['mongodb://u:hunter2@h/?readPreference=secondary', /^readPreference must be primary/],
    ['mongodb://u:hunter2@h/?nonsense=1', /nonsense/],
    ['mongodb://u:hunter2@h:0x/', /./],
    ['mongodb://u:hun/ter2@h/', /./],
    ['mongodb://u:hun@ter2@h/', /./],
  ])('is refused without showing its password: %s', (url, message) => {
    const refusal = refusalOf(url);
    expect(refusal).toBeInstanceOf(StoreUrlInvalid);
    expect(String((refusal as Error).message)).toMatch(message);
    expect(String(refusal)).not.toMatch(/hunter2|ter2|hun/);
  });
});

function refusalOf(url: string): unknown {
  try {
    return mongoClient(url);
  } catch (error) {
    return error;
  }
}

describe.runIf(mongoAvailable('indexes of MongoDB'))('a MongoDB', () => {
  test('gets its indexes once, however many open it', async () => {
    const mongo = await startMongo();
    const opened = await Promise.all([MongoRows.open(mongo.url), MongoRows.open(mongo.url)]);
    opened.push(await MongoRows.open(mongo.url));
    const client = await MongoClient.connect(mongo.url);
    const names = async (collection: string) =>
      (await client.db().collection(collection).indexes()).map(({ name }) => name).toSorted();
    expect(await names('code_runs')).toEqual(['_id_', 'age', 'call', 'lease', 'list']);
    expect(await names('code_run_chunks')).toEqual(['_id_', 'age']);
    for (const rows of opened) await rows.close();
    await client.close();
    await mongo.stop();
  });
});
