import { describe } from 'vitest';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import { mongoAvailable, startMongo } from '../support/mongo.ts';
import { storeContract } from './contract-suite.ts';

describe.runIf(mongoAvailable('store contract on MongoDB'))('', () => {
  storeContract('MongoDB', async () => {
    const { url, stop } = await startMongo();
    return { rows: () => MongoRows.open(url), stop };
  });
});
