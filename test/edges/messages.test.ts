/**
 * Messages that cost more than they look: refused before they are decoded, for callers that nobody knows before
 * they are read, and the services answer others meanwhile.
 */
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { create, type DescMessage, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import {
  CodeRunService,
  DescribeBindingsRequestSchema,
  GetCodeRunRequestSchema,
  PutCatalogRequestSchema,
  RunCodeRequestSchema,
} from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { ExecuteRequestSchema, SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { decodeRequest } from '../../services/shared/grpc/codec.ts';
import { countFields, countJson } from '../../services/shared/grpc/elements.ts';
import { limits, requestLimits, smallRequest } from '../../services/shared/limits.ts';
import { completed, inlineCatalog, play, start } from './core.ts';
import { send } from './raw-http.ts';
import { type Services, startServices } from './services.ts';
import { audience, issuer, token } from './tokens.ts';

const secret = 'a secret of the test that is long enough';
const MiB = 1 << 20;
const large = 39 * MiB;
const service = '/openbot.codemode.v1.CodeRunService';
const catalogLimits = requestLimits['CodeRunService/PutCatalog'] ?? smallRequest;

/** Bytes of which each two would be a field that nobody knows. */
const unknownFields = (bytes: number) => Buffer.alloc(bytes, 0x20);

/** A PutCatalogRequest of `count` connections, each with nothing in it. */
function emptyConnections(count: number): Buffer {
  const connections = Buffer.alloc(2 * count);
  for (let at = 0; at < connections.length; at += 2) connections[at] = 0x0a;
  return Buffer.concat([Buffer.from([0x0a]), varint(connections.length), connections]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

function frame(payload: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

const jsonConnections = (count: number) =>
  `{"catalog":{"connections":[${Array(count).fill('{}').join(',')}]}}`;

/** One gRPC request; gives its status. A Unix socket by its path, or a port by its address. */
function grpc(address: string, path: string, body: Buffer, headers = {}): Promise<number> {
  const socketPath = address.startsWith('unix:') ? address.slice(5) : undefined;
  const room = { maxSessionMemory: 1000 }; // Or this client would take no answer while it sends so much.
  const options =
    socketPath === undefined ? room : { ...room, createConnection: () => connectSocket(socketPath) };
  const session = connectHttp2(`http://${socketPath === undefined ? address : 'localhost'}`, options);
  session.on('error', () => {});
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
  const stream = session.request({ ...head, ...headers });
  return new Promise((resolve) => {
    let status = -1;
    const note = (got: Record<string, unknown>) => {
      if (got['grpc-status'] !== undefined) status = Number(got['grpc-status']);
    };
    stream
      .on('response', note)
      .on('trailers', note)
      .on('error', () => {});
    stream
      .on('data', () => {})
      .on('close', () => {
        session.destroy();
        resolve(status);
      });
    // An answer that came before the end of the request ends it.
    stream.on('end', () => stream.close());
    stream.end(body);
  });
}

/** Processor time that this process, and the services in it, took for some work. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const residentMb = () => process.memoryUsage().rss / MiB;

/** What decoding 39 MiB takes is far more than this; sending and dropping it far less. */
const cheapMs = 3000;
const cheapMb = 800;

const unauthenticated = 16;
const invalidArgument = 3;
const resourceExhausted = 8;

describe('a service with tokens', () => {
  let services: Services;
  let bearer: string;
  beforeAll(async () => {
    services = await startServices({
      CODE_RUN_JWT_SECRET: secret,
      CODE_RUN_JWT_ISSUER: issuer,
      CODE_RUN_JWT_AUDIENCE: audience,
    });
    const signed = token({ permissions: ['runs.execute'] }).setProtectedHeader({ alg: 'HS256' });
    bearer = `Bearer ${await signed.sign(new TextEncoder().encode(secret))}`;
  });
  afterAll(() => services.stop());

  const proto = { 'content-type': 'application/proto' };
  const json = { 'content-type': 'application/json' };
  const web = { 'content-type': 'application/grpc-web+proto' };

  test('refuses strangers without decoding what they send, and lives meanwhile', async () => {
    const before = residentMb();
    const spent = await cpuMs(async () => {
      const attacks = [
        ...Array.from({ length: 4 }, () =>
          grpc(services.grpcAddress, `${service}/PutCatalog`, frame(unknownFields(large))),
        ),
        grpc(services.grpcAddress, `${service}/RunCode`, frame(unknownFields(large))),
      ];
      expect((await send(services.httpUrl, 'GET', '/livez')).status).toBe(200);
      expect(await Promise.all(attacks)).toEqual(attacks.map(() => unauthenticated));
    });
    expect(spent).toBeLessThan(cheapMs);
    expect(residentMb() - before).toBeLessThan(cheapMb);
  });

  test.each([
    ['Connect', proto, unknownFields(large), 401],
    ['Connect with JSON', json, jsonConnections(1_000_000), 401],
    ['gRPC-Web', web, frame(unknownFields(large)), 200],
  ])('refuses a stranger over %s before the body is there', async (_name, headers, body, status) => {
    const { port } = new URL(services.httpUrl);
    const socket = connectSocket(Number(port), '127.0.0.1');
    const head = [
      `POST ${service}/PutCatalog HTTP/1.1`,
      'host: localhost',
      `content-type: ${headers['content-type']}`,
      `content-length: ${body.length}`,
    ];
    socket.write([...head, '', ''].join('\r\n'));
    socket.write(body.slice(0, 300 * 1024)); // The rest never comes.
    let answer = '';
    socket.on('error', () => {});
    for await (const chunk of socket) {
      answer += chunk;
      if (answer.includes('needs a bearer token') || answer.includes('needs%20a%20bearer')) break;
    }
    socket.destroy();
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toMatch(/needs( |%20)a( |%20)bearer( |%20)token/);
  });

  test('refuses what a caller that it knows sends past the bounds, and runs on', async () => {
    const before = residentMb();
    const headers = { authorization: bearer };
    const many = 8_000_000;
    const spent = await cpuMs(async () => {
      const post = async (method: string, more: Record<string, string>, body: string | Buffer) =>
        (await send(services.httpUrl, 'POST', `${service}/${method}`, { ...headers, ...more }, body)).text;
      const { grpcAddress } = services;
      expect(await grpc(grpcAddress, `${service}/PutCatalog`, frame(emptyConnections(many)), headers)).toBe(
        resourceExhausted,
      );
      expect(await grpc(grpcAddress, `${service}/RunCode`, frame(unknownFields(large)), headers)).toBe(
        resourceExhausted,
      );
      expect(await grpc(grpcAddress, `${service}/GetCodeRun`, frame(unknownFields(large)), headers)).toBe(
        resourceExhausted,
      );
      expect(await post('PutCatalog', proto, emptyConnections(many))).toContain('"resource_exhausted"');
      expect(await post('PutCatalog', json, jsonConnections(many))).toContain('"resource_exhausted"');
      expect(await post('PutCatalog', web, frame(emptyConnections(many)))).toContain('grpc-status: 8');
    });
    expect(spent).toBeLessThan(cheapMs);
    expect(residentMb() - before).toBeLessThan(cheapMb);
    expect((await send(services.httpUrl, 'GET', '/livez')).status).toBe(200);
  });

  test.each([
    ['Connect', proto, 0],
    ['gRPC-Web', web, 5],
  ])('takes a message of the size of its method over %s, and none past it', async (_name, type, spare) => {
    const post = async (bytes: number) => {
      const message = exactly(bytes);
      const body = spare === 0 ? message : frame(message);
      return (
        await send(
          services.httpUrl,
          'POST',
          `${service}/GetCodeRun`,
          { authorization: bearer, ...type },
          body,
        )
      ).text;
    };
    expect(decodeURIComponent(await post(smallRequest.bytesMax))).toContain('no such code run');
    expect(decodeURIComponent(await post(smallRequest.bytesMax + 1))).toContain(
      `is larger than ${smallRequest.bytesMax} bytes`,
    );
  });

  test('takes no compressed request', async () => {
    const headers = { authorization: bearer, ...proto, 'content-encoding': 'gzip' };
    const { text } = await send(services.httpUrl, 'POST', `${service}/GetCodeRun`, headers, 'x');
    expect(JSON.parse(text)).toEqual({ code: 'unimplemented', message: 'a request must not be compressed' });
  });

  test('takes only small messages where nobody is asked who calls', async () => {
    for (const path of [
      '/grpc.health.v1.Health/Check',
      '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    ]) {
      const past = frame(unknownFields(smallRequest.bytesMax + 2));
      expect(await grpc(services.grpcAddress, path, past)).toBe(13);
    }
  });
});

/** A GetCodeRunRequest of so many bytes. */
function exactly(bytes: number): Uint8Array {
  const head = toBinary(
    GetCodeRunRequestSchema,
    create(GetCodeRunRequestSchema, { runId: 'x'.repeat(bytes - 4) }),
  );
  expect(head.length).toBe(bytes);
  return head;
}

function firstFrame(): Buffer {
  const message = start('await apps.notes.send({})');
  return frame(toBinary(RunCodeRequestSchema, create(RunCodeRequestSchema, { message })));
}

describe('a service without identity', () => {
  let services: Services;
  beforeAll(async () => {
    services = await startServices();
    await services.enable();
  });
  afterAll(() => services.stop());

  test('refuses a sandbox message past the bounds, and a stream that goes on with one', async () => {
    const { sandbox, grpcAddress } = services;
    const path = '/openbot.codemode.v1.SandboxService';
    const body = frame(unknownFields(large));
    const spent = await cpuMs(async () => {
      expect(await grpc(sandbox.address, `${path}/GetStatus`, body)).toBe(resourceExhausted);
      expect(await grpc(sandbox.address, `${path}/Execute`, body)).toBe(resourceExhausted);
      const streamed = Buffer.concat([firstFrame(), body]);
      expect(await grpc(grpcAddress, `${service}/RunCode`, streamed)).toBe(resourceExhausted);
      const broken = Buffer.concat([firstFrame(), frame(Buffer.from([0x0a, 0x99]))]);
      expect(await grpc(grpcAddress, `${service}/RunCode`, broken)).toBe(invalidArgument);
    });
    expect(spent).toBeLessThan(cheapMs);
    const { last } = await play(services.core, start('return await apps.notes.send({})'), () => completed(1));
    expect(last.case).toBe('finished');
  });
});

describe('decoding', () => {
  const { putCatalog, getCodeRun, runCode } = CodeRunService.method;

  test.each([...CodeRunService.methods, ...SandboxService.methods])(
    '%s has the bounds of its kind',
    (method) => {
      const name = `${method.parent.name}/${method.name}`;
      const bounds = requestLimits[name] ?? smallRequest;
      const past = unknownFields(bounds.bytesMax + 1);
      expect(() => decodeRequest(method, past)).toThrow(
        `the message is larger than ${bounds.bytesMax} bytes`,
      );
    },
  );

  test('takes as many parts as the limit says, and not one more', () => {
    const partsOf = (parts: number) => emptyConnections(parts - 1); // The catalog is one.
    expect(decodeRequest(putCatalog, partsOf(catalogLimits.partsMax))).toMatchObject({});
    expect(() => decodeRequest(putCatalog, partsOf(catalogLimits.partsMax + 1))).toThrow(
      `the message has more than ${catalogLimits.partsMax} fields`,
    );
  });

  test('takes as many bytes as the limit says, and not one more', () => {
    expect(decodeRequest(getCodeRun, exactly(smallRequest.bytesMax))).toMatchObject({});
    expect(() => decodeRequest(getCodeRun, exactly(smallRequest.bytesMax + 1))).toThrow('is larger than');
  });

  test('keeps nothing that is not known', () => {
    expect(decodeRequest(getCodeRun, unknownFields(1000)).$unknown).toBeUndefined();
  });

  test('says that a broken message is one', () => {
    expect(() => decodeRequest(getCodeRun, Buffer.from([0x0a, 0x99]))).toThrow('cannot be decoded');
  });

  test('a catalog of as many capabilities as there may be is within the bounds', () => {
    const text = 'x';
    const hints = { readOnly: true, destructive: true, idempotent: true, openWorld: true };
    const tool = {
      name: text,
      title: text,
      description: text,
      inputSchemaJson: '{}',
      outputSchemaJson: '{}',
      hints,
    };
    const tools = Array(limits.bindingsMax / limits.connectionsMax).fill(tool);
    const connections = Array(limits.connectionsMax).fill({ id: text, name: text, description: text, tools });
    const catalog = create(CatalogSchema, { connections });
    const bytes = toBinary(PutCatalogRequestSchema, create(PutCatalogRequestSchema, { catalog }));
    expect(countFields(PutCatalogRequestSchema, bytes, Infinity)).toBeLessThan(catalogLimits.partsMax);
  });

  test('outcomes of as many calls as a run may have are within the bounds', () => {
    const one = {
      index: 1,
      callId: 'x',
      argumentsDigest: 'x',
      operationId: 'x',
      outcome: { case: 'completed' as const, value: { resultJson: '1' } },
    };
    const resume = { runId: 'x', outcomes: Array(100_000).fill(one) };
    const message = create(RunCodeRequestSchema, { message: { case: 'resume', value: resume } });
    const bytes = toBinary(RunCodeRequestSchema, message);
    expect(bytes.length).toBeGreaterThan(smallRequest.bytesMax);
    expect(decodeRequest(runCode, bytes)).toMatchObject({ message: { case: 'resume' } });
  });

  test('of a large text costs no more for counting its parts', () => {
    const outcome = { index: 1, outcome: { case: 'completed' as const, value: new Uint8Array(32 * MiB) } };
    const message = create(ExecuteRequestSchema, { message: { case: 'outcome', value: outcome } });
    const bytes = toBinary(ExecuteRequestSchema, message);
    const began = process.cpuUsage();
    for (let n = 0; n < 1000; n++) expect(countFields(ExecuteRequestSchema, bytes, 100)).toBe(3);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(500); // One look at each byte would take 30 s.
  });

  test('counts nested fields, and stops at the limit', () => {
    const request = create(DescribeBindingsRequestSchema, { catalog: inlineCatalog, query: 'x' });
    const bytes = toBinary(DescribeBindingsRequestSchema, request);
    // The reference, its catalog, a connection with id and name, three tools with name and description, the query.
    expect(countFields(DescribeBindingsRequestSchema, bytes, 100)).toBe(3 + 2 + 3 * 3 + 1);
    expect(countFields(DescribeBindingsRequestSchema, bytes, 5)).toBeGreaterThan(5);
  });

  test.each([
    ['{}', 2],
    ['[]', 2],
    ['{"a":1,"b":[1,2]}', 5],
    [String.raw`["{,[\"{,[\\",1]`, 3],
    [String.raw`["\\\\",{}]`, 4],
    ['"unended {{{{', 1],
  ])('counts the parts of %s', (json, count) => {
    expect(countJson(Buffer.from(json), 100)).toBe(count);
  });

  test.each([
    ['a group', [0x0b, 0x0c]],
    ['a known field in another form', [0x08, 0x01]],
    ['a part that ends past its message', [0x0a, 0x02, 0x0a, 0x05, 0x0a, 0x00, 0x0a, 0x00, 0x0a, 0x00]],
    ['a number that never ends', [0x78, ...Array(11).fill(0x80), 0]],
    ['a text that is cut off', [0x0a, 0x40]],
  ])('refuses to count %s', (_name, bytes) => {
    expect(() => countFields(PutCatalogRequestSchema, Buffer.from(bytes), 100)).toThrow('cannot be decoded');
  });

  test('can count the messages of every method', () => {
    for (const { input } of [...CodeRunService.methods, ...SandboxService.methods]) {
      const reach = (schema: DescMessage, seen: Set<DescMessage>) => {
        if (seen.has(schema)) return;
        seen.add(schema);
        expect(countFields(schema, Buffer.from([0xfa, 0x7f, 0]), 100)).toBe(1); // A field that none has.
        for (const { message } of schema.fields) if (message !== undefined) reach(message, seen);
      };
      reach(input, new Set());
    }
  });

  test('counts JSON up to the limit', () => {
    expect(countJson(Buffer.from('['.repeat(1000)), 10)).toBe(11);
  });
});
