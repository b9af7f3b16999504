/** The local MongoDB-protocol server: the gate before it, and `make mongo`. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { MongoGate } from '../../tools/mongo/gate.ts';
import { mongoProgram } from '../../tools/mongo/server.ts';
import { Folder, Service } from '../edges/processes.ts';
import { available } from '../support/available.ts';
import { startLocalMongo } from '../support/mongo.ts';

const lack =
  mongoProgram() === undefined ? 'no mongod on PATH, no .tools/bin/ferretdb (make tools)' : undefined;

describe.runIf(available('the local MongoDB server', lack))('the local MongoDB server', () => {
  test('lets one of many updates that expect the same match', async () => {
    const mongo = await startLocalMongo();
    const client = await MongoClient.connect(mongo.url);
    const rows = client.db().collection<{ _id: string; epoch: number }>('rows');
    for (let round = 0; round < 20; round++) {
      const _id = String(round);
      await rows.insertOne({ _id, epoch: 1 });
      const updates = Array.from({ length: 8 }, () =>
        rows.updateOne({ _id, epoch: 1 }, { $set: { epoch: 2 } }),
      );
      const matched = (await Promise.all(updates)).filter(({ matchedCount }) => matchedCount === 1);
      expect(matched).toHaveLength(1);
    }
    await client.close();
    await mongo.stop();
  });

  test('as make mongo starts it keeps what it is told under the URL that it prints, until it is stopped', async () => {
    const folder = new Folder();
    const server = new Service('tools/mongo/start.ts', {}, ['0', folder.path]);
    if (server.child.stdout === null) throw new Error('no standard output');
    let url: string | undefined;
    for await (const line of createInterface(server.child.stdout)) {
      [url] = /mongodb:\/\/\S+/.exec(line) ?? [];
      if (url !== undefined) break;
    }
    const settings = async (...args: string[]) => {
      const keys = { CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}` };
      const command = new Service('services/code-run/main.ts', { ...keys, CODE_RUN_STORE: url ?? '' }, [
        'settings',
        ...args,
      ]);
      const told: string[] = [];
      command.child.stdout?.setEncoding('utf8').on('data', (text: string) => told.push(text));
      expect(await command.ended()).toEqual({ code: 0, signal: null });
      return JSON.parse(told.join(''));
    };
    await settings('set', 'memoryMb=128');
    expect(await settings('get')).toMatchObject({ version: 1, codeMode: { memoryMb: 128 } });
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    folder.remove();
  });
});

test('the gate passes on what a server goes on to say to one request', async () => {
  const server = createServer((socket) =>
    socket.once('data', () => {
      for (const flags of [2, 2, 0]) socket.write(message(flags));
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate = await MongoGate.listen((server.address() as AddressInfo).port, true);
  const client = connect(gate.port, '127.0.0.1');
  client.write(message(1 << 16));
  const heard: Buffer[] = [];
  for await (const chunk of client) {
    heard.push(chunk);
    if (Buffer.concat(heard).length === 3 * message(0).length) break;
  }
  expect(Buffer.concat(heard)).toEqual(Buffer.concat([2, 2, 0].map(message)));
  await gate.close();
  server.close();
});

/** OP_MSG with an empty document. */
function message(flags: number): Buffer {
  const bytes = Buffer.alloc(26);
  bytes.writeInt32LE(bytes.length, 0);
  bytes.writeInt32LE(2013, 12);
  bytes.writeUInt32LE(flags, 16);
  bytes.writeInt32LE(5, 21);
  return bytes;
}
