/**
 * Peers that break the rules: every one gets a clear answer or its connection ends, memory stays bounded, and
 * the service is well afterwards. A failing case prints its seed; FUZZ_RUNS makes it run longer.
 */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService, RunCodeRequestSchema } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { limits } from '../../services/shared/limits.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from '../e2e/embedded.ts';
import { until } from '../e2e/proc.ts';
import { completed, play, start } from './core.ts';

const { FUZZ_RUNS = '40' } = process.env;
const numRuns = Number(FUZZ_RUNS);

let embedded: EmbeddedProcess;
beforeAll(async () => {
  embedded = await startEmbeddedProcess();
});
afterAll(() => embedded.stop());

/** The service is well: a program runs, and nothing was logged as an error of ours. */
afterEach(async () => {
  const { last } = await play(embedded.core, start('return await apps.notes.send({})'), () => completed(1));
  expect(last).toMatchObject({ case: 'finished', value: { run: { status: CodeRunStatus.COMPLETED } } });
  expect(embedded.service.stderr.split('\n').filter((line) => line.includes('"level":50'))).toEqual([]);
});

function memoryMb(): number {
  const status = readFileSync(`/proc/${embedded.service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

/** Waits for the end of a socket; gives what came. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

function openHttp(): Socket {
  const { hostname, port } = new URL(embedded.httpUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  return socket;
}

interface RawAnswer {
  /** HTTP status; 0 if the stream was reset. */
  readonly http: number;
  readonly grpc: number | undefined;
}

/** One request on an HTTP/2 session with a body as it is. */
function raw(
  session: ClientHttp2Session,
  path: string,
  body: Buffer,
  contentType = 'application/grpc',
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': contentType,
      te: 'trailers',
    });
    let http = 0;
    let grpc: number | undefined;
    const note = (headers: Record<string, unknown>) => {
      if (headers['grpc-status'] !== undefined) grpc = Number(headers['grpc-status']);
    };
    stream.on('response', (headers) => {
      http = headers[':status'] ?? 0;
      note(headers);
    });
    stream.on('trailers', note);
    stream.on('error', () => {});
    stream.on('data', () => {});
    stream.on('close', () => resolve({ http, grpc }));
    stream.end(body);
  });
}

async function withSession<T>(
  work: (session: ClientHttp2Session) => Promise<T>,
  socketPath?: string,
): Promise<T> {
  const options = socketPath === undefined ? {} : { createConnection: () => connect(socketPath) };
  const session = connectHttp2(`http://${embedded.grpcAddress}`, options);
  session.on('error', () => {});
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

function frame(payload: Uint8Array, flag = 0, length = payload.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, payload]);
}

const sandboxMethods = SandboxService.methods.map((method) => `/${method.parent.typeName}/${method.name}`);
const methods = [...CodeRunService.methods, ...SettingsService.methods].map(
  (method) => `/${method.parent.typeName}/${method.name}`,
);

describe('the gRPC port', () => {
  test('answers frames of random bytes with a status', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    await withSession((session) =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...methods),
          bytes,
          fc.integer({ min: 0, max: 255 }),
          async (path, payload, flag) => {
            const { http, grpc } = await raw(session, path, frame(payload, flag));
            expect(http).toBe(200);
            expect(grpc).toBeDefined();
          },
        ),
        { numRuns: numRuns * 5 },
      ),
    );
  });

  test('answers bodies that are no frames, and frames that lie about their length', async () => {
    await withSession(async (session) => {
      for (const path of methods) {
        for (const body of [
          Buffer.from('hello'),
          frame(Buffer.alloc(3), 0, 99),
          frame(Buffer.alloc(3), 0, 0xffffffff),
        ]) {
          const { http, grpc } = await raw(session, path, body);
          expect(http).toBe(200);
          expect(grpc).not.toBe(0);
        }
      }
    });
  });

  test('answers unknown paths, other content types and other methods as HTTP or gRPC says', async () => {
    await withSession(async (session) => {
      expect(await raw(session, '/nobody.Nothing/Never', frame(Buffer.alloc(0)))).toEqual({
        http: 200,
        grpc: 12,
      });
      expect((await raw(session, methods[0] ?? '', Buffer.from('{}'), 'application/json')).http).toBe(415);
    });
  });

  test('takes any sequence of messages on a run, and ends with a status', async () => {
    const { message } = {
      message: { case: 'start' as const, value: start('return await apps.notes.send({})').value },
    };
    const first = toBinary(RunCodeRequestSchema, create(RunCodeRequestSchema, { message } as never));
    const later = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 });
    await withSession((session) =>
      fc.assert(
        fc.asyncProperty(later, async (messages) => {
          const body = Buffer.concat([frame(first), ...messages.map((payload) => frame(payload))]);
          const { http, grpc } = await raw(session, '/openbot.codemode.v1.CodeRunService/RunCode', body);
          expect(http).toBe(200);
          expect(grpc).toBeDefined();
        }),
        { numRuns },
      ),
    );
  });

  test('refuses a message past the limit without taking it in', async () => {
    const before = memoryMb();
    const size = limits.grpcMessageBytesMax + 1;
    await withSession(async (session) => {
      const { grpc } = await raw(session, methods[1] ?? '', frame(Buffer.alloc(1000), 0, size));
      expect(grpc).toBe(8);
    });
    expect(memoryMb() - before).toBeLessThan(100);
  });

  test('refuses metadata past the limit', async () => {
    await withSession(async (session) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': methods[1],
        'content-type': 'application/grpc',
        padding: 'x'.repeat(100_000),
      });
      const ended = new Promise<number>((resolve) => stream.on('close', () => resolve(stream.rstCode)));
      stream.on('error', () => {});
      session.on('error', () => {});
      expect(await ended).not.toBe(constants.NGHTTP2_NO_ERROR);
    });
  });

  test('holds back a core that does not read, and goes on when it reads', async () => {
    const call = embedded.core.runCode();
    const code =
      'for (let n = 0; n < 200; n++) void apps.notes.send({ text: "x".repeat(100_000), n }); return 1';
    await call.send({ message: start(code) });
    const responses = call.responses[Symbol.asyncIterator]();
    await responses.next();
    const before = memoryMb();
    await embedded.core.listCodeRuns({ session: 's-1', pageSize: 1 });
    expect(memoryMb() - before).toBeLessThan(150);
    let calls = 0;
    for (
      let next = await responses.next();
      next.done !== true && calls < 200;
      next = await responses.next()
    ) {
      if (next.value.message.case === 'call') calls++;
      if (calls === 200) break;
    }
    expect(calls).toBe(200);
    call.cancel();
  });
});

test('the port of the sandbox answers frames of random bytes with a status', async () => {
  await withSession(
    (session) =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...sandboxMethods),
          fc.uint8Array({ maxLength: 300 }),
          fc.integer({ min: 0, max: 255 }),
          async (path, payload, flag) => {
            const { http, grpc } = await raw(session, path, frame(payload, flag));
            expect(http).toBe(200);
            expect(grpc).toBeDefined();
          },
        ),
        { numRuns: numRuns * 5 },
      ),
    embedded.sandboxSocket,
  );
});

describe('the HTTP port', () => {
  test('answers random requests, never with an error of its own', async () => {
    const word = fc.string({ maxLength: 40 });
    const request = fc.record({
      method: fc.constantFrom('GET', 'PATCH', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'get', ''),
      path: fc.oneof(
        fc.constantFrom(
          '/v1/code-runs/',
          '/v1/sessions/',
          '/v1/platform/settings',
          '/openbot.codemode.v1.CodeRunService/GetCodeRun',
        ),
        word,
      ),
      rest: word,
      headers: fc.array(
        fc.tuple(
          fc.constantFrom(
            'if-none-match',
            'content-type',
            'authorization',
            'content-length',
            'transfer-encoding',
            'expect',
            'connection',
          ),
          word,
        ),
        { maxLength: 4 },
      ),
      body: fc.string({ maxLength: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, rest, headers, body }) => {
        const socket = openHttp();
        const answer = received(socket);
        const lines = headers.map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n]/g, ' ')}`);
        socket.end(
          [
            `${method} ${path}${rest} HTTP/1.1`,
            'host: localhost',
            'connection: close',
            ...lines,
            '',
            body,
          ].join('\r\n'),
          'latin1',
        );
        const [head = ''] = (await answer).split('\r\n\r\n');
        const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
        expect(status).not.toBe(500);
        // Whatever is wrong is said in the words of the port; Connect has words of its own.
        if (status >= 400 && !path.startsWith('/openbot.')) {
          expect(head).toMatch(/^content-type: application\/problem\+json$/im);
        }
      }),
      { numRuns: numRuns * 5 },
    );
  });

  test('takes any JSON as a change of the settings, and only right ones change them', async () => {
    const { settings: before } = await embedded.admin.getSettings({});
    await fc.assert(
      fc.asyncProperty(fc.json(), async (body) => {
        const response = await fetch(`${embedded.httpUrl}/v1/platform/settings`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body,
        });
        await response.arrayBuffer();
        expect(response.status).toBe(400);
      }),
      { numRuns: numRuns * 2 },
    );
    expect((await embedded.admin.getSettings({})).settings).toEqual(before);
  });

  test('ends connections that send their headers too slowly', async () => {
    const sockets = Array.from({ length: 20 }, openHttp);
    const answers = sockets.map(received);
    for (const socket of sockets)
      socket.write('GET /v1/platform/settings HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });
});

test('a thousand idle connections cost little, and the service serves beside them', async () => {
  const before = memoryMb();
  const [host = '', port = ''] = embedded.grpcAddress.split(':');
  const sockets = Array.from({ length: 500 }, openHttp);
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';
  for (let n = 0; n < 500; n++) {
    const socket = connect(Number(port), host);
    socket.on('error', () => {});
    socket.write(preface, 'latin1');
    sockets.push(socket);
  }
  try {
    await until(() => sockets.every((socket) => socket.readyState === 'open'));
    const { last } = await play(embedded.core, start('return 1'), () => undefined);
    expect(last.case).toBe('finished');
    expect(memoryMb() - before).toBeLessThan(150);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
