/**
 * The gRPC mounting against a real server and real clients, with the SandboxService contract as the example:
 * it has a unary and a bidi method and messages that are as large as one likes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { credentials, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { type ExecuteResponse, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { AppError } from '../../services/shared/errors.ts';
import { type Channel, createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { plainEdge, type ServiceHandlers } from '../../services/shared/grpc/handlers.ts';
import { mountService } from '../../services/shared/grpc/mount.ts';
import { createServer, listen, shutDown } from '../../services/shared/grpc/server.ts';
import { limits } from '../../services/shared/limits.ts';
import type { Log } from '../../services/shared/log.ts';
import { anyone } from './anyone.ts';

type Handlers = ServiceHandlers<typeof SandboxService>;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const unused: Handlers = {
  execute: () => {
    throw new AppError('UNAVAILABLE', 'not in this test');
  },
  getStatus: () => Promise.reject(new AppError('UNAVAILABLE', 'not in this test')),
};

/** Lines that the mounting logs. */
class Lines {
  readonly errors: Readonly<Record<string, unknown>>[] = [];
  readonly log: Log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (fields) => void this.errors.push(fields),
    child: () => this.log,
  };
}

async function serve(handlers: Partial<Handlers>) {
  const lines = new Lines();
  const server = createServer();
  mountService(server, SandboxService, { ...unused, ...handlers }, plainEdge(lines.log, anyone));
  const folder = mkdtempSync(join(tmpdir(), 'edges-'));
  const socketPath = join(folder, 'grpc.sock');
  const address = await listen(server, `unix:${socketPath}`, ServerCredentials.createInsecure());
  const channel: Channel = openChannel(address, credentials.createInsecure());
  cleanups.push(async () => {
    channel.close();
    await shutDown(server, 0);
    rmSync(folder, { recursive: true });
  });
  return { client: createClient(SandboxService, channel), lines, socketPath };
}

/** Two queues of 16 messages on each side, and what the windows of the connection hold. */
const queuedMessagesMax = 80;

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

const indexOf = (response: ExecuteResponse): number =>
  response.message.case === 'step' ? response.message.value.delivered : -1;
const outcome = (index: number, bytes = 0) => ({
  message: {
    case: 'outcome' as const,
    value: { index, outcome: { case: 'completed' as const, value: new Uint8Array(bytes) } },
  },
});
const step = (delivered: number) => ({ message: { case: 'step' as const, value: { delivered } } });

/** Answers each outcome with its index. */
const echo: Handlers['execute'] = async function* (requests) {
  for await (const request of requests) {
    if (request.message.case === 'outcome') yield step(request.message.value.index);
  }
};

test('many sends that wait at once keep their order and leave no trail of listeners', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.name);
  process.on('warning', onWarning);
  cleanups.push(() => void process.off('warning', onWarning));
  const gate = Promise.withResolvers<void>();
  const { client } = await serve({
    async *execute(requests, context) {
      await gate.promise;
      yield* echo(requests, context);
    },
  });
  const call = client.execute();
  const settled: number[] = [];
  const sends = Array.from({ length: 200 }, async (_, index) => {
    await call.send(outcome(index, 16 * 1024));
    settled.push(index);
  });
  call.closeSend();
  await setImmediate(); // Warnings are emitted in the next turn.
  expect(settled.length).toBeLessThan(sends.length);
  gate.resolve();
  expect((await collect(call.responses)).map(indexOf)).toEqual(sends.map((_, index) => index));
  await Promise.all(sends);
  expect(settled).toEqual(sends.map((_, index) => index));
  expect(warnings).toEqual([]);
});

test('sends that wait when a call is cancelled are over', async () => {
  const { client } = await serve({
    async *execute(_requests, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield step(0);
    },
  });
  const call = client.execute();
  const sends = Array.from({ length: 50 }, (_, index) => call.send(outcome(index, 64 * 1024)));
  call.cancel();
  await expect(collect(call.responses)).rejects.toMatchObject({ code: 'CANCELLED' });
  await Promise.all(sends);
});

test('a unary call gives the answer of its handler, headers seen', async () => {
  const seen: (string | undefined)[] = [];
  const { client } = await serve({
    getStatus: (_request, context) => {
      seen.push(context.header('authorization'), context.header('absent'), context.path);
      return Promise.resolve({ locked: true });
    },
  });
  const answer = await client.getStatus({}, { headers: { authorization: 'Bearer x' } });
  expect(answer.locked).toBe(true);
  expect(seen).toEqual(['Bearer x', undefined, '/openbot.codemode.v1.SandboxService/GetStatus']);
});

test('an expected failure crosses with its code and its field violations, without its cause', async () => {
  const { client, lines } = await serve({
    getStatus: () =>
      Promise.reject(
        new AppError('INVALID_ARGUMENT', 'start.code: must not be empty', {
          cause: new Error('secret'),
          violations: [{ field: 'start.code', description: 'must not be empty' }],
        }),
      ),
  });
  await expect(client.getStatus({})).rejects.toMatchObject({
    name: 'RpcError',
    code: 'INVALID_ARGUMENT',
    message: 'start.code: must not be empty',
    violations: [{ field: 'start.code', description: 'must not be empty' }],
  });
  expect(lines.errors).toEqual([]);
});

test('an unexpected failure crosses as INTERNAL without a word of it, and is logged', async () => {
  const { client, lines } = await serve({ getStatus: () => Promise.reject(new Error('secret path')) });
  await expect(client.getStatus({})).rejects.toMatchObject({ code: 'INTERNAL', message: 'internal error' });
  expect(lines.errors).toMatchObject([{ err: { cause: { message: 'secret path' } } }]);
});

test('a status is cut so that it fits the header limits of every client', async () => {
  const violations = Array.from({ length: 100 }, () => ({
    field: 'ü'.repeat(5000),
    description: '漢'.repeat(5000),
  }));
  const { client } = await serve({
    getStatus: () => Promise.reject(new AppError('INVALID_ARGUMENT', '漢'.repeat(100_000), { violations })),
  });
  const error = await client.getStatus({}).catch((reason) => reason);
  expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(limits.statusTextBytesMax);
  expect(error.message).toMatch(/^漢+…$/);
  expect(error.violations).toHaveLength(limits.statusViolationsMax);
  expect(error.violations[0].description).toMatch(/^漢+…$/);
});

test('a stream gives every answer in order, also those that come after half-close', async () => {
  const { client } = await serve({
    execute: async function* (requests) {
      const indexes: number[] = [];
      for await (const request of requests) {
        if (request.message.case === 'outcome') indexes.push(request.message.value.index);
      }
      // Only now, when the caller has half-closed and reading has ended.
      for (const index of indexes) yield step(index);
    },
  });
  const call = client.execute();
  for (let index = 0; index < 100; index++) await call.send(outcome(index));
  call.closeSend();
  const answers: number[] = [];
  for await (const response of call.responses) answers.push(indexOf(response));
  expect(answers).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('answers sent before a failure arrive before it', async () => {
  const { client } = await serve({
    execute: async function* () {
      for (let index = 0; index < 10; index++) yield step(index);
      throw new AppError('RESOURCE_EXHAUSTED', 'no room');
    },
  });
  const answers: number[] = [];
  const read = async () => {
    for await (const response of client.execute().responses) answers.push(indexOf(response));
  };
  await expect(read()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED', message: 'no room' });
  expect(answers).toHaveLength(10);
});

test('a failure that came before anybody read is thrown by the reader', async () => {
  const { client } = await serve({
    // biome-ignore lint/correctness/useYield: it fails before it has anything to say.
    execute: async function* () {
      throw new AppError('NOT_FOUND', 'gone');
    },
  });
  const call = client.execute();
  await client.getStatus({}).catch(() => {}); // A round trip later the failure has arrived.
  await expect(collect(call.responses)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a caller that goes away aborts the signal and never looks like one that half-closed', async () => {
  const rounds = 100;
  const ends: { aborted: boolean; error: unknown }[] = [];
  const all = Promise.withResolvers<void>();
  const { client } = await serve({
    execute: async function* (requests, { signal }) {
      let error: unknown;
      try {
        yield step(1);
        for await (const _ of requests);
      } catch (reason) {
        error = reason;
        throw reason;
      } finally {
        ends.push({ aborted: signal.aborted, error });
        if (ends.length === rounds) all.resolve();
      }
    },
  });
  for (let round = 0; round < rounds; round++) {
    const call = client.execute();
    const responses = call.responses[Symbol.asyncIterator]();
    await responses.next();
    call.cancel();
    await expect(responses.next()).rejects.toMatchObject({ code: 'CANCELLED' });
  }
  await all.promise;
  const cancelled = { code: 'CANCELLED', message: 'the caller went away' };
  for (const end of ends) expect(end).toMatchObject({ aborted: true, error: cancelled });
});

test('a client signal cancels calls and is the reason that they throw', async () => {
  const { client } = await serve({ execute: echo, getStatus: () => new Promise(() => {}) });
  const controller = new AbortController();
  const call = client.execute({ signal: controller.signal });
  const unary = client.getStatus({}, { signal: controller.signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(collect(call.responses)).rejects.toBe(reason);
  await expect(unary).rejects.toBe(reason);
  await expect(client.getStatus({}, { signal: controller.signal })).rejects.toBe(reason);
});

test('a deadline ends a call on both sides', async () => {
  const aborted = Promise.withResolvers<void>();
  const { client } = await serve({
    getStatus: (_request, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => aborted.resolve())),
  });
  await expect(client.getStatus({}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  await aborted.promise;
});

test('a slow reader holds the writer back instead of filling memory', async () => {
  const total = 160;
  let written = 0;
  const { client } = await serve({
    execute: async function* () {
      for (; written < total; written++) {
        yield { message: { case: 'end', value: { valueJson: new Uint8Array(1 << 20) } } };
      }
    },
  });
  let read = 0;
  let aheadMax = 0;
  for await (const _ of client.execute().responses) {
    aheadMax = Math.max(aheadMax, written - read);
    read++;
    await setImmediate();
  }
  expect(read).toBe(total);
  expect(aheadMax).toBeLessThan(queuedMessagesMax);
});

test('a slow handler holds the sender back instead of filling memory', async () => {
  const total = 160;
  let sent = 0;
  let read = 0;
  let aheadMax = 0;
  const { client } = await serve({
    execute: async function* (requests) {
      for await (const _ of requests) {
        aheadMax = Math.max(aheadMax, sent - read);
        read++;
        await setImmediate();
      }
      yield step(read);
    },
  });
  const call = client.execute();
  for (; sent < total; sent++) await call.send(outcome(sent, 1 << 20));
  call.closeSend();
  expect((await collect(call.responses)).map(indexOf)).toEqual([total]);
  expect(aheadMax).toBeLessThan(queuedMessagesMax);
});

test('a sender never hangs on a call that is over', async () => {
  const { client } = await serve({});
  const call = client.execute();
  for (let index = 0; index < 100; index++) await call.send(outcome(index, 1 << 20));
  await expect(collect(call.responses)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a message may be as large as the limit, and one past it is refused', async () => {
  const { client } = await serve({ execute: echo });
  const overhead = 64;
  const fits = client.execute();
  await fits.send(outcome(7, limits.grpcMessageBytesMax - overhead));
  fits.closeSend();
  expect((await collect(fits.responses)).map(indexOf)).toEqual([7]);

  const refused = client.execute();
  await refused.send(outcome(7, limits.grpcMessageBytesMax + 1));
  await expect(collect(refused.responses)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
});

test('a message that is too large is refused by its head, before its body comes', async () => {
  const { socketPath } = await serve({ execute: echo });
  const session = connectHttp2('http://localhost', { createConnection: () => connectSocket(socketPath) });
  cleanups.push(() => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': '/openbot.codemode.v1.SandboxService/Execute',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(limits.grpcMessageBytesMax + 1, 1);
  stream.write(head);
  const status = new Promise((resolve) => {
    for (const event of ['response', 'trailers']) {
      stream.on(event, (headers) => headers['grpc-status'] !== undefined && resolve(headers['grpc-status']));
    }
  });
  stream.resume();
  expect(Number(await status)).toBe(8); // RESOURCE_EXHAUSTED
});

test('the server goes on after a peer that breaks the connection in the middle of a message', async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const { client, socketPath } = await serve({
    execute: async function* (requests, context) {
      started.resolve();
      try {
        yield* echo(requests, context);
      } catch (error) {
        ended.resolve(error);
        throw error;
      }
    },
  });
  const session = connectHttp2('http://localhost', { createConnection: () => connectSocket(socketPath) });
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': '/openbot.codemode.v1.SandboxService/Execute',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  stream.write(Buffer.from([0, 0, 0, 0, 99, 1, 2, 3])); // A frame that says 99 bytes and brings three.
  await started.promise;
  session.destroy();
  expect(await ended.promise).toMatchObject({ code: 'CANCELLED' });
  const call = client.execute();
  await call.send(outcome(5));
  call.closeSend();
  expect((await collect(call.responses)).map(indexOf)).toEqual([5]);
});

test('a server takes over the socket of one that was killed, and never of one that lives', async () => {
  const { socketPath } = await serve({});
  const second = createServer();
  await expect(listen(second, `unix:${socketPath}`, ServerCredentials.createInsecure())).rejects.toThrow(
    /^cannot listen on unix:.*: the address is in use$/,
  );
  const killed = `${socketPath}.killed`;
  const script = `require('node:net').createServer().listen(${JSON.stringify(killed)}, () => process.kill(process.pid, 'SIGKILL'))`;
  expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
  expect(existsSync(killed)).toBe(true);
  await listen(second, `unix:${killed}`, ServerCredentials.createInsecure());
  await shutDown(second, 0);
});
