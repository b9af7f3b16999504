/**
 * The driver waits for ever on a connection that breaks in the moment in which it is written to (mongodb 7.9):
 * the store ends such an operation, and finds its server again with a new client.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StoreUnavailable } from '../../services/code-run/store/contract.ts';
import { MongoRows } from '../../services/code-run/store/mongodb/mongo-rows.ts';
import type { MongoServer } from '../../tools/mongo/server.ts';
import { until } from '../e2e/proc.ts';
import { mongoAvailable, startLocalMongo, type TestMongo } from '../support/mongo.ts';

/** Breaks the connections of this process to a port as they are written to, while it is on. */
class Breaking {
  on = false;
  broken = 0;
  readonly #onSocket = (message: unknown) => this.#watch((message as { socket: Socket }).socket);

  start(): void {
    subscribe('net.client.socket', this.#onSocket);
  }

  stop(): void {
    unsubscribe('net.client.socket', this.#onSocket);
  }

  /** Once it is connected: to connect sets what writes anew. */
  #watch(socket: Socket): void {
    socket.once('connect', () => {
      const write = socket.write.bind(socket) as (...data: unknown[]) => boolean;
      socket.write = (...data: unknown[]) => {
        if (this.on) {
          this.broken += 1;
          socket.destroy();
        }
        return write(...data);
      };
    });
  }
}

describe.runIf(mongoAvailable('a silent driver'))('a store whose driver has gone silent', () => {
  let mongo: TestMongo;
  let server: MongoServer;
  let breaking: Breaking;
  beforeAll(async () => {
    mongo = await startLocalMongo();
    if (mongo.server === undefined) throw new Error('a local server was started');
    server = mongo.server;
  });
  afterAll(() => mongo?.stop());
  beforeEach(() => {
    breaking = new Breaking();
    breaking.start();
  });
  afterEach(() => {
    breaking.on = false;
    breaking.stop();
  });

  test('ends an operation that gets no answer, and does the next', async () => {
    const rows = await MongoRows.open(mongo.url, { answerMs: 500, renewMs: 60_000 });
    breaking.on = true;
    await expect(rows.ping()).rejects.toThrow(new StoreUnavailable('MongoDB: no answer within 500 ms'));
    breaking.on = false;
    await rows.ping();
    await rows.close();
  });

  test('finds its server again when the monitor of the driver was caught', async () => {
    const url = `${mongo.url}&heartbeatFrequencyMS=500&serverSelectionTimeoutMS=100`;
    const rows = await MongoRows.open(url, { answerMs: 60_000, renewMs: 1_000 });
    // The monitor is the one that writes when nobody asks for anything.
    breaking.on = true;
    await until(() => breaking.broken > 0);
    breaking.on = false;
    // An operation whose connection is lost takes the server for gone: only the monitor could tell that it is there.
    server.gate.fault = ({ name }) => (name === 'ping' ? 'cut-before' : 'pass');
    await expect(rows.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    server.gate.fault = () => 'pass';
    const answered = () =>
      rows.ping().then(
        () => true,
        () => false,
      );
    expect(await answered()).toBe(false);
    await until(answered);
    await rows.close();
  }, 20_000);
});
