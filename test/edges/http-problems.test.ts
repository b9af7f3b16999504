/** Whatever is wrong with a request, the HTTP port answers with problem details and the right status. */
import { METHODS } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpLimits } from '../../services/shared/limits.ts';
import { play, start } from './core.ts';
import { converse, type RawAnswer, send } from './raw-http.ts';
import { type Services, startServices } from './services.ts';

let services: Services;
let runPath: string;
beforeAll(async () => {
  services = await startServices();
  await services.enable();
  const { last } = await play(services.core, start('return 1'), () => undefined);
  runPath = `/v1/code-runs/${last.case === 'finished' ? last.value.run?.id : ''}`;
});
afterAll(() => services.stop());

const settingsPath = '/v1/platform/settings';
const json = { 'content-type': 'application/json' };
const ask = (method: string, path: string, headers?: Record<string, string>, body?: string | Uint8Array) =>
  send(services.httpUrl, method, path, headers, body);

function expectProblem(answer: RawAnswer, status: number, detail: string): void {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
  const problem = JSON.parse(answer.text);
  expect(problem).toMatchObject({ type: 'about:blank', status, detail });
  expect([typeof problem.title, typeof problem.code]).toEqual(['string', 'string']);
}

const tooLarge = `the body must be at most ${httpLimits.bodyBytesMax} bytes`;
const long = 'A'.repeat(httpLimits.headerBytesMax - 500);

describe('a path', () => {
  test.each([
    ['/v1/code-runs/%ff', 400, 'the path is not UTF-8 in percent-encoding'],
    ['/v1/code-runs/%zz', 400, 'the path is not UTF-8 in percent-encoding'],
    ['/v1/sessions/%E0%A4%A/code-runs', 400, 'the path is not UTF-8 in percent-encoding'],
    [`/v1/code-runs/${long}`, 404, 'no such code run'],
    ['/v1/code-runs/', 404, 'no such code run'],
    [`/v1/sessions/${long}/code-runs`, 400, 'sessionId: must be at most 256 bytes of UTF-8'],
    ['/v1/sessions/%00/code-runs', 400, 'sessionId: must not hold control characters'],
    ['/v1/sessions//code-runs', 400, 'sessionId: must not be empty'],
    ['/v1/platform', 404, 'no such route'],
    ['/', 404, 'no such route'],
    [`${settingsPath}?version=1`, 400, 'version: is not a parameter of this route'],
    ['/v1/code-runs/x?full=1', 400, 'full: is not a parameter of this route'],
    [`${settingsPath}?${long}`, 400, `${'A'.repeat(253)}…: is not a parameter of this route`],
  ])('%.50s is answered with %i', async (path, status, detail) => {
    expectProblem(await ask('GET', path), status, detail);
  });

  test('that is not there is 404 for every method', async () => {
    for (const method of METHODS.filter((name) => name !== 'CONNECT' && name !== 'HEAD')) {
      expectProblem(await ask(method, '/v2'), 404, 'no such route');
    }
  });
});

describe('a method', () => {
  test.each([
    ['/v1/code-runs/x', 'GET, HEAD, OPTIONS'],
    ['/v1/sessions/s-1/code-runs', 'GET, HEAD, OPTIONS'],
    [settingsPath, 'GET, HEAD, OPTIONS, PATCH'],
    ['/livez', 'GET, HEAD, OPTIONS'],
    ['/readyz', 'GET, HEAD, OPTIONS'],
    ['/metrics', 'GET, HEAD, OPTIONS'],
  ])('that %s does not have is 405, and Allow names those that it has', async (path, allow) => {
    for (const method of METHODS.filter((name) => name !== 'CONNECT' && !allow.split(', ').includes(name))) {
      const answer = await ask(method, path);
      expectProblem(answer, 405, `the route has no method ${method}`);
      expect(answer.headers['allow']).toBe(allow);
    }
    const options = await ask('OPTIONS', path);
    expect([options.status, options.text, options.headers['allow']]).toEqual([204, '', allow]);
    expect(options.headers['accept-patch']).toBe(path === settingsPath ? 'application/json' : undefined);
  });

  test('that a route does not have is 405 before its body is read', async () => {
    const answer = await converse(
      services.httpUrl,
      `PUT ${settingsPath} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  });

  test('HEAD answers like GET, without a body', async () => {
    for (const path of [
      runPath,
      '/v1/sessions/s-1/code-runs',
      settingsPath,
      '/v1/code-runs/x',
      '/livez',
      '/readyz',
    ]) {
      const [get, head] = [await ask('GET', path), await ask('HEAD', path)];
      expect([head.status, head.text]).toEqual([get.status, '']);
      for (const name of ['content-type', 'etag', 'cache-control', 'vary']) {
        expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
      }
    }
  });
});

describe('a body', () => {
  const settingsNow = async () => JSON.parse((await ask('GET', settingsPath)).text);
  const change = async () => {
    const { version, codeMode } = await settingsNow();
    return JSON.stringify({ expectedVersion: version, codeMode: { memoryMb: codeMode.memoryMb + 1 } });
  };

  test.each([
    ['of no type', undefined],
    ['of text', 'text/plain'],
    ['of a form', 'application/x-www-form-urlencoded'],
    ['of no known type', 'application/json-patch+json'],
    ['of a type that is none', 'nothing'],
  ])('%s is 415', async (_name, type) => {
    const before = await settingsNow();
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await ask('PATCH', settingsPath, headers, await change());
    expectProblem(answer, 415, 'the body must be application/json');
    expect(answer.headers['accept-patch']).toBe('application/json');
    expect(await settingsNow()).toEqual(before);
  });

  test.each([
    ['compressed', { 'content-encoding': 'gzip' }, 'the body must not be compressed'],
    ['of no known encoding', { 'content-encoding': 'identity, x-own' }, 'the body must not be compressed'],
    ['of Latin-1', { 'content-type': 'application/json; charset=iso-8859-1' }, 'the body must be UTF-8'],
    ['of UTF-16', { 'content-type': 'application/json;a=b; Charset="utf-16"' }, 'the body must be UTF-8'],
    [
      'of two charsets',
      { 'content-type': 'application/json;charset=utf-8;charset=x' },
      'the body must be UTF-8',
    ],
  ])('that says it is %s is 415, even where it could be read', async (_name, headers, detail) => {
    const before = await settingsNow();
    const answer = await ask('PATCH', settingsPath, { ...json, ...headers }, await change());
    expectProblem(answer, 415, detail);
    expect(answer.headers).toMatchObject({
      'accept-patch': 'application/json',
      'accept-encoding': 'identity',
    });
    expect(await settingsNow()).toEqual(before);
  });

  test('that is compressed is 415', async () => {
    const headers = { ...json, 'content-encoding': 'gzip' };
    const answer = await ask('PATCH', settingsPath, headers, gzipSync(await change()));
    expectProblem(answer, 415, 'the body must not be compressed');
  });

  test('of JSON in any spelling of its type is read', async () => {
    const types = ['application/json', 'Application/JSON', 'application/json; v="1"'];
    const charsets = ['charset=utf-8', 'Charset="UTF-8"', 'charset=utf8'].map((one) => `${types[0]}; ${one}`);
    for (const type of [...types, ...charsets]) {
      expect((await ask('PATCH', settingsPath, { 'content-type': type }, await change())).status).toBe(200);
    }
    const identity = { ...json, 'content-encoding': 'identity' };
    expect((await ask('PATCH', settingsPath, identity, await change())).status).toBe(200);
  });

  test('may be as large as the limit, and one byte past it is 413', async () => {
    const fits = (await change()).padEnd(httpLimits.bodyBytesMax);
    expect((await ask('PATCH', settingsPath, json, fits)).status).toBe(200);
    expectProblem(await ask('PATCH', settingsPath, json, `${fits} `), 413, tooLarge);
    const chunked = { ...json, 'transfer-encoding': 'chunked' };
    expectProblem(await ask('PATCH', settingsPath, chunked, `${fits} `), 413, tooLarge);
    const announced = `PATCH ${settingsPath} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`;
    expect(await converse(services.httpUrl, announced)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['that is missing', '', 'body: must be a JSON object', {}],
    ['that is no UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), 'body: must be UTF-8', json],
    ['of a prototype', '{"__proto__":{"enabled":true}}', '__proto__: is not a field', json],
    ['of a repeated name inside', '{"a":[{"b":1},{"b":{"c":1,"c":2}}]}', 'a..b.c: must be there once', json],
    ['of a byte order mark', '\uFEFF{}', 'body: must be JSON: it cannot be read at line 1, column 1', json],
  ])('%s is 400', async (_name, body, detail, headers) => {
    const answer = await ask('PATCH', settingsPath, headers, body);
    expect(answer.status).toBe(400);
    expect(
      JSON.parse(answer.text).errors.map(
        (error: { field: string; detail: string }) => `${error.field}: ${error.detail}`,
      ),
    ).toContain(detail);
  });

  test('of many unknown fields gets a short answer', async () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`field-${at}`, at]));
    const answer = await ask('PATCH', settingsPath, json, JSON.stringify(many));
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(4096);
  });
});

describe('what is no request', () => {
  test.each([
    ['no HTTP', 'NOT HTTP AT ALL\r\n\r\n', 400, 'the request cannot be read'],
    [
      'a header with a space',
      'GET / HTTP/1.1\r\nhost: localhost\r\nbad name: 1\r\n\r\n',
      400,
      'the request cannot be read',
    ],
    [
      'two lengths',
      'PATCH / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'the request cannot be read',
    ],
    ['no host', `GET ${settingsPath} HTTP/1.1\r\n\r\n`, 400, 'the Host header is missing'],
    [
      'an expectation',
      'GET / HTTP/1.1\r\nhost: localhost\r\nexpect: wonders\r\n\r\n',
      417,
      'nothing but "100-continue" can be expected',
    ],
    [
      'headers past the limit',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(httpLimits.headerBytesMax)}\r\n\r\n`,
      431,
      'the request cannot be read',
    ],
  ])('%s is answered all the same', async (_name, text, status, detail) => {
    const answer = await converse(services.httpUrl, text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(JSON.parse(body.replace(/^[0-9a-f]+\r\n|\r\n0$/gi, ''))).toMatchObject({ status, detail });
  });

  test('headers of almost the limit are read', async () => {
    const room = httpLimits.headerBytesMax - 300;
    expect((await ask('GET', settingsPath, { 'x-large': 'x'.repeat(room) })).status).toBe(200);
  });
});

describe('a condition', () => {
  test.each([
    ['GET', 'if-none-match', 'TAG', 304],
    ['GET', 'if-none-match', 'W/TAG', 304],
    ['GET', 'if-none-match', '"a,*,b", W/"x", TAG', 304],
    ['GET', 'if-none-match', ' * ', 304],
    ['GET', 'if-none-match', '"other"', 200],
    ['GET', 'if-none-match', '"a,*,b"', 200],
    ['GET', 'if-none-match', 'no tag', 200],
    ['GET', 'if-match', 'TAG', 200],
    ['GET', 'if-match', '*', 200],
    ['GET', 'if-match', '"other"', 412],
    ['GET', 'if-match', 'W/TAG', 412],
    ['HEAD', 'if-none-match', 'TAG', 304],
    ['HEAD', 'if-match', '"other"', 412],
    ['PATCH', 'if-match', 'TAG', 200],
    ['PATCH', 'if-match', '*', 200],
    ['PATCH', 'if-match', '"other", TAG', 200],
    ['PATCH', 'if-match', '"other"', 412],
    ['PATCH', 'if-match', 'W/TAG', 412],
    ['PATCH', 'if-none-match', 'TAG', 412],
    ['PATCH', 'if-none-match', '*', 412],
    ['PATCH', 'if-none-match', '"other"', 200],
  ])('of %s with %s: %s is answered with %i', async (method, name, value, status) => {
    const before = await ask('GET', settingsPath);
    const tag = String(before.headers['etag']);
    const { version, codeMode } = JSON.parse(before.text);
    const body = JSON.stringify({ expectedVersion: version, codeMode: { memoryMb: codeMode.memoryMb + 1 } });
    const headers = { [name]: value.replaceAll('TAG', tag) };
    const answer =
      method === 'PATCH'
        ? await ask(method, settingsPath, { ...json, ...headers }, body)
        : await ask(method, settingsPath, headers);
    expect(answer.status).toBe(status);
    const after = JSON.parse((await ask('GET', settingsPath)).text).version;
    expect(after - version).toBe(method === 'PATCH' && status === 200 ? 1 : 0);
    if (status === 412 && method !== 'HEAD') expectProblem(answer, 412, `the ETag is ${tag}: read it again`);
    if (status === 304) expect([answer.text, answer.headers['etag']]).toEqual(['', tag]);
  });
});
