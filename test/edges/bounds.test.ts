/** Connections that do nothing, or too much: each has its end, with bounds small enough to see it. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { ServerCredentials, type ServerOptions } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createHttp } from '../../services/code-run/api/http/server.ts';
import type { HttpBounds } from '../../services/code-run/api/http/transport.ts';
import { plainEdge } from '../../services/shared/grpc/handlers.ts';
import { mountService } from '../../services/shared/grpc/mount.ts';
import { createServer, listen, shutDown } from '../../services/shared/grpc/server.ts';
import { grpcLimits, httpLimits } from '../../services/shared/limits.ts';
import { silentLog } from '../../services/shared/log.ts';
import { anyone } from './anyone.ts';
import { completed, play, start } from './core.ts';
import { converse, send } from './raw-http.ts';
import { type Services, startServices } from './services.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('a connection to the HTTP port', () => {
  let services: Services;
  beforeAll(async () => {
    services = await startServices();
    await services.enable();
  });
  afterAll(() => services.stop());

  /** The routes of the service on a port with other bounds. */
  async function httpWith(bounds: Partial<HttpBounds>) {
    const { deps, identify, settings, metrics } = services.codeRun.context;
    const http = createHttp({
      reading: deps.reading,
      settings,
      identify,
      metrics,
      ready: () => ({ store: true, sandbox: true, locked: true, draining: false }),
      log: silentLog,
      certificates: undefined,
      localOnly: false,
      bounds: { ...httpLimits, checkingIntervalMs: 20, ...bounds },
      mount: () => {},
    });
    cleanups.push(() => http.close());
    await http.listen({ host: '127.0.0.1', port: 0 });
    const { port } = http.server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, server: http.server };
  }

  test('is ended after a time without a request', async () => {
    const { url } = await httpWith({ keepAliveTimeoutMs: 50 });
    const answer = await converse(url, 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is ended when its headers take too long', async () => {
    const { url } = await httpWith({ headersTimeoutMs: 50, requestTimeoutMs: 5000 });
    const answer = await converse(url, 'GET /livez HTTP/1.1\r\nhost: x\r\nx-slow: ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*application\/problem\+json/s);
  });

  test('is ended when its body takes too long', async () => {
    const { url } = await httpWith({ headersTimeoutMs: 50, requestTimeoutMs: 100 });
    const head = 'PATCH /v1/platform/settings HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    const answer = await converse(url, `${head}content-length: 100\r\n\r\n{`);
    expect(answer).toMatch(/^HTTP\/1\.1 (408|400) /);
  });

  test('is ended when its answer is not read', async () => {
    const big = 'x'.repeat(8 << 20);
    const { last } = await play(services.core, start('await apps.notes.read_note({})'), () => completed(big));
    if (last.case !== 'finished') throw new Error('not finished');
    const { url, server } = await httpWith({ silenceTimeoutMs: 200 });
    const accepted = once(server, 'connection');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write(`GET /v1/code-runs/${last.value.run?.id} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const [theirs]: Socket[] = await accepted;
    if (theirs !== undefined) await once(theirs, 'close');
    let bytes = 0;
    for await (const chunk of socket) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(big.length);
  });

  test('takes no more than its number of requests', async () => {
    const { url } = await httpWith({ requestsPerConnectionMax: 2 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanups.push(() => agent.destroy());
    const kept = async () => (await send(url, 'GET', '/livez', {}, '', agent)).headers['connection'];
    expect([await kept(), await kept(), await kept()]).toEqual(['keep-alive', 'close', 'keep-alive']);
  });

  test('beyond the most that there may be is ended at once, and there is room again after another', async () => {
    const { url } = await httpWith({ connectionsMax: 2 });
    const open = async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    };
    const held = [await open(), await open()];
    expect(await converse(url, 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')).toBe('');
    for (const socket of held) {
      socket.end();
      await once(socket, 'close');
    }
    expect((await send(url, 'GET', '/livez')).status).toBe(200);
  });
});

test('a reader that takes nothing of its answer does not keep a service from ending', async () => {
  const services = await startServices();
  await services.enable();
  const big = 'x'.repeat(16 << 20);
  const { last } = await play(services.core, start('await apps.notes.read_note({})'), () => completed(big));
  if (last.case !== 'finished') throw new Error('not finished');
  const socket = connect(Number(new URL(services.httpUrl).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET /v1/code-runs/${last.value.run?.id} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await once(socket, 'readable'); // The answer has begun, and nobody reads it.
  await services.stop();
  socket.destroy();
});

describe('a connection to a gRPC port', () => {
  const service = '/openbot.codemode.v1.SandboxService';

  /** A server whose stream answers nothing, and a session with it. */
  async function sessionWith(options: ServerOptions = {}) {
    const server = createServer(options);
    const handlers = {
      execute: async function* () {
        await new Promise(() => {});
      },
      getStatus: async () => ({ locked: true }),
    };
    mountService(server, SandboxService, handlers, plainEdge(silentLog, anyone));
    const address = await listen(server, '127.0.0.1:0', ServerCredentials.createInsecure());
    const session = connectHttp2(`http://${address}`);
    session.on('error', () => {});
    cleanups.push(
      () => shutDown(server, 0),
      () => session.destroy(),
    );
    await once(session, 'remoteSettings');
    return { address, session };
  }

  const call = (session: ClientHttp2Session, method: string, more: Record<string, string> = {}) => {
    const path = `${service}/${method}`;
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...more,
    });
    stream.on('error', () => {});
    return stream.resume();
  };

  test('carries as many calls at once as the limit says', async () => {
    const { session } = await sessionWith();
    expect(session.remoteSettings.maxConcurrentStreams).toBe(grpcLimits.streamsMax);
  });

  test('takes no call beyond the most that there may be, and others are served meanwhile', async () => {
    const { address, session } = await sessionWith({ 'grpc.max_concurrent_streams': 2 });
    const other = connectHttp2(`http://${address}`);
    cleanups.push(() => other.destroy());
    call(session, 'Execute');
    call(session, 'Execute');
    const answered: string[] = [];
    const beyond = call(session, 'GetStatus').once('response', () => answered.push('beyond'));
    beyond.end(Buffer.alloc(5));
    const elsewhere = call(other, 'GetStatus').once('response', () => answered.push('elsewhere'));
    elsewhere.end(Buffer.alloc(5));
    await once(elsewhere, 'close');
    await new Promise((resolve) => session.ping(resolve)); // A round trip later it would have its answer.
    expect(answered).toEqual(['elsewhere']);
  });

  test('is ended after a time without a call', async () => {
    const { session } = await sessionWith({ 'grpc.max_connection_idle_ms': 50 });
    const [code] = await once(session, 'goaway');
    expect(code).toBe(0);
    await once(session, 'close');
  });

  test('is ended when its peer is gone without a word', async () => {
    const bounds = { 'grpc.keepalive_time_ms': 50, 'grpc.keepalive_timeout_ms': 50 };
    const { address } = await sessionWith(bounds);
    const [host = '', port = ''] = address.split(':');
    const socket = connect(Number(port), host); // Answers no ping.
    socket.on('error', () => {});
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    socket.resume();
    await once(socket, 'close');
  });

  test('takes metadata up to the limit, and refuses the call past it', async () => {
    const { session } = await sessionWith();
    const answerTo = async (size: number) => {
      const stream = call(session, 'GetStatus', { padding: 'x'.repeat(size) });
      stream.end(Buffer.alloc(5));
      return await new Promise<string>((resolve) => {
        stream.on('response', () => resolve('answered')).on('close', () => resolve('refused'));
      });
    };
    expect(await answerTo(grpcLimits.headerBytesMax - 1000)).toBe('answered');
    expect(await answerTo(grpcLimits.headerBytesMax)).toBe('refused');
    expect(await answerTo(0)).toBe('answered');
  });
});
