/** The HTTP routes, on a real service. */
import { request as httpRequest } from 'node:http';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CallDeniedSchema,
  CallFailedSchema,
  CallFailureReason,
  CallInputRequiredSchema,
} from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { limits } from '../../services/shared/limits.ts';
import { completed, type Outcome, play, start, waiting } from './core.ts';
import { type Services, startServices } from './services.ts';

let services: Services;
beforeAll(async () => {
  services = await startServices();
  await services.enable();
});
afterAll(() => services.stop());

/** JSON of an answer. Tests read it freely: a wrong shape fails them. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is what is tested.
async function json(response: Response | Promise<Response>): Promise<any> {
  return await (await response).json();
}

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(services.httpUrl + path, { headers });

/** Runs a program to its end, and gives the id of its run. */
async function runOf(code: string, answer: (index: number) => Outcome, more = {}): Promise<string> {
  const { last } = await play(services.core, start(code, more), ({ index }) => answer(index));
  if (last.case === 'waiting') return last.value.runId;
  if (last.case === 'finished') return last.value.run?.id ?? '';
  throw new Error('no end');
}

const anyTime = expect.any(Number);
const source = { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name: 'read_note' };

describe('GET /v1/code-runs/:id', () => {
  test('gives a run in exactly the JSON of the contract', async () => {
    const code = 'console.warn("hi", { a: 1 }); return { got: await apps.notes.read_note({ id: 7 }) }';
    const id = await runOf(code, () => completed({ text: 'ü', n: 1.5 }), {
      callId: 'call-1',
      session: 'json',
    });
    const response = await get(`/v1/code-runs/${id}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await json(response)).toEqual({
      id,
      session: 'json',
      turn: 't-1',
      callId: 'call-1',
      owner: 'someone',
      status: 'Completed',
      code,
      reason: 'to test',
      calls: [
        {
          index: 0,
          binding: 'notes.read_note',
          source,
          operationId: 'call-1:0',
          callId: 'call-1:0',
          arguments: { id: 7 },
          argumentsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
          outcome: { _tag: 'Done', result: { _tag: 'Completed', value: { text: 'ü', n: 1.5 } } },
          issuedAt: anyTime,
          settledAt: anyTime,
          line: expect.any(Number),
          column: expect.any(Number),
        },
      ],
      result: {
        _tag: 'Completed',
        value: { got: { text: 'ü', n: 1.5 } },
        logs: [{ index: 0, level: 'warn', text: expect.stringContaining('hi') }],
      },
      limits: {
        timeoutMs: 30_000,
        memoryMb: 64,
        outputBytes: 65_536,
        callsMax: 10_000,
        callsInFlightMax: 256,
        argumentsBytesMax: 1_048_576,
        resultBytesMax: 33_554_432,
      },
      attempts: [
        {
          number: 1,
          startedAt: anyTime,
          endedAt: anyTime,
          cpuMs: anyTime,
          memoryBytes: anyTime,
          replayedCalls: 0,
          fingerprint: expect.any(String),
        },
      ],
      createdAt: anyTime,
      updatedAt: anyTime,
    });
  });

  test('gives every kind of outcome and result its tag', async () => {
    const outcomes: Outcome[] = [
      { case: 'denied', value: create(CallDeniedSchema, { message: 'no' }) },
      {
        case: 'failed',
        value: create(CallFailedSchema, { reason: CallFailureReason.TIMEOUT, message: 'slow' }),
      },
      { case: 'inputRequired', value: create(CallInputRequiredSchema, { operationId: 'op-1' }) },
      waiting,
    ];
    const code =
      'await Promise.allSettled([0, 1, 2].map((n) => apps.notes.send({ n }))); await apps.notes.send({ n: 3 })';
    const id = await runOf(code, (index) => outcomes[index] ?? waiting, { callId: 'tags' });
    const run = await json(get(`/v1/code-runs/${id}`));
    expect(run.status).toBe('Waiting');
    expect(run).not.toHaveProperty('result');
    expect(run.calls.map(({ outcome }: { outcome: unknown }) => outcome)).toEqual([
      { _tag: 'Denied', message: 'no' },
      { _tag: 'Done', result: { _tag: 'Failed', reason: 'Timeout', message: 'slow' } },
      { _tag: 'Done', result: { _tag: 'InputRequired', operationId: 'op-1' } },
      { _tag: 'Waiting' },
    ]);
    expect(run.calls[3]).not.toHaveProperty('settledAt');
    await services.core.cancelCodeRun({ runId: id });
    const cancelled = await json(get(`/v1/code-runs/${id}`));
    expect(cancelled).toMatchObject({ status: 'Cancelled', result: { _tag: 'Cancelled', logs: [] } });
    const failed = await runOf('return 1 +', () => waiting);
    expect((await json(get(`/v1/code-runs/${failed}`))).result).toMatchObject({
      _tag: 'Failed',
      reason: 'Error',
      line: 1,
      column: expect.any(Number),
      logs: [],
    });
    const nothing = await runOf('apps', () => waiting).catch(() => '');
    expect(nothing).not.toBe('');
  });

  test('gives values as they were recorded, digit by digit', async () => {
    const value = {
      case: 'completed' as const,
      value: {
        $typeName: 'openbot.codemode.v1.CallCompleted' as const,
        valueJson: '{"big":123456789012345678901234567890,"e":1e400}',
      },
    };
    const id = await runOf('await apps.notes.read_note({})', () => value);
    expect(await (await get(`/v1/code-runs/${id}`)).text()).toContain(
      '"value":{"big":123456789012345678901234567890,"e":1e400}',
    );
  });

  test('gives a run that is larger than a gRPC message may be', async () => {
    const piece = 'x'.repeat(4 << 20);
    const id = await runOf('for (let n = 0; n < 6; n++) await apps.notes.read_note({ n })', () =>
      completed(piece),
    );
    const run = await json(get(`/v1/code-runs/${id}`));
    expect(
      run.calls.map(({ outcome }: { outcome: { result: { value: string } } }) => outcome.result.value.length),
    ).toEqual(Array(6).fill(piece.length));
    const { run: message } = await services.core.getCodeRun({ runId: id });
    expect(message?.calls.map((call) => call.payloadOmitted)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  test.each([
    ['a word', 'no-such-run'],
    ['an unknown id', '00000000-0000-4000-8000-000000000000'],
    ['a zero byte', '%00'],
    ['a long text', 'A'.repeat(500)],
  ])('of %s is not found', async (_name, id) => {
    const response = await get(`/v1/code-runs/${id}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await json(response)).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'no such code run',
      code: 'NOT_FOUND',
    });
  });

  test('answers 304 to the ETag of what is there, and again in full after a change', async () => {
    const id = await runOf('await apps.notes.send({})', () => waiting);
    const path = `/v1/code-runs/${id}`;
    const first = await get(path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    await first.arrayBuffer();
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await get(path, { 'if-none-match': condition });
      expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
    }
    await services.core.cancelCodeRun({ runId: id });
    const changed = await get(path, { 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(await json(changed)).toMatchObject({ status: 'Cancelled' });
  });
});

describe('GET /v1/sessions/:sessionId/code-runs', () => {
  test('gives the runs newest first, in pages', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift(await runOf(`return ${n}`, () => waiting, { session: 'a/b ü' }));
    const path = `/v1/sessions/${encodeURIComponent('a/b ü')}/code-runs`;
    const all = await json(get(path));
    expect(all.runs.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(all).not.toHaveProperty('nextPageToken');
    const seen: string[] = [];
    let token = '';
    do {
      const page = await json(get(`${path}?pageSize=2&pageToken=${encodeURIComponent(token)}`));
      expect(page.runs.length).toBeLessThanOrEqual(2);
      seen.push(...page.runs.map(({ id }: { id: string }) => id));
      token = page.nextPageToken ?? '';
    } while (token !== '');
    expect(seen).toEqual(ids);
    const { runs } = await services.core.listCodeRuns({ session: 'a/b ü', pageSize: 3 });
    expect(runs.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  });

  test('of a session without runs is empty', async () => {
    expect(await json(get('/v1/sessions/empty/code-runs'))).toEqual({ runs: [] });
  });

  test('ends a page early where its runs are too much for a message, and loses none', async () => {
    const big = 'x'.repeat(7 << 20);
    const ids: string[] = [];
    const code = 'await apps.notes.read_note({})';
    for (let n = 0; n < 5; n++) ids.unshift(await runOf(code, () => completed(big), { session: 'big' }));
    const pages: string[][] = [];
    let token = '';
    do {
      const page = await services.core.listCodeRuns({ session: 'big', pageToken: token });
      pages.push(page.runs.map(({ id }) => id));
      token = page.nextPageToken;
    } while (token !== '');
    expect(pages.flat()).toEqual(ids);
    expect(pages.length).toBeGreaterThan(1);
  });

  test.each([
    ['pageSize=0x', 'pageSize', 'must be a whole number from 1 to 200'],
    ['pageSize=0', 'pageSize', 'must be a whole number from 1 to 200'],
    ['pageSize=', 'pageSize', 'must be a whole number from 1 to 200'],
    ['pageSize=-1', 'pageSize', 'must be a whole number from 1 to 200'],
    ['pageSize=201', 'pageSize', 'must be a whole number from 1 to 200'],
    ['pageSize=1&pageSize=2', 'pageSize', 'must be given once'],
    ['pagesize=1', 'pagesize', 'is not a parameter of this route'],
    [
      `pageToken=${'x'.repeat(limits.pageTokenBytesMax + 1)}`,
      'pageToken',
      'must be at most 1024 bytes of UTF-8',
    ],
  ])('with %s is a problem that names the parameter', async (query, field, detail) => {
    const response = await get(`/v1/sessions/s-1/code-runs?${query}`);
    expect(response.status).toBe(400);
    expect(await json(response)).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: `${field}: ${detail}`,
      code: 'INVALID_ARGUMENT',
      errors: [{ field, detail }],
    });
  });

  test('with a token of another session is a problem', async () => {
    const response = await get('/v1/sessions/s-1/code-runs?pageToken=abc');
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ errors: [{ field: 'pageToken' }] });
  });
});

describe('/v1/platform/settings', () => {
  const versionRule =
    'must be the version that the change was made for, a whole number from 0 to 9007199254740991';
  const patch = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(`${services.httpUrl}/v1/platform/settings`, {
      method: 'PATCH',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const read = async () => await json(get('/v1/platform/settings'));

  test('gives the settings, and changes those fields that are named', async () => {
    const { version } = await read();
    const changed = await patch({ expectedVersion: version, codeMode: { memoryMb: 128 } });
    expect(changed.status).toBe(200);
    const settings = {
      version: version + 1,
      codeMode: { enabled: true, timeoutMs: 30_000, memoryMb: 128, outputBytes: 65_536 },
    };
    expect(await json(changed)).toEqual(settings);
    expect(changed.headers.get('etag')).toBe(`"${version + 1}"`);
    expect(await read()).toEqual(settings);
    const all = { enabled: true, timeoutMs: 600_000, memoryMb: 16, outputBytes: 1024 };
    expect(await json(patch({ expectedVersion: version + 1, codeMode: all }))).toMatchObject({
      codeMode: all,
    });
    await patch({
      expectedVersion: version + 2,
      codeMode: { timeoutMs: 30_000, memoryMb: 64, outputBytes: 65_536 },
    });
  });

  test('stays as it is where a change changes nothing', async () => {
    const before = await read();
    const { memoryMb } = before.codeMode;
    const same = await patch({ expectedVersion: before.version, codeMode: { memoryMb, enabled: true } });
    expect([same.status, same.headers.get('etag')]).toEqual([200, `"${before.version}"`]);
    expect(await json(same)).toEqual(before);
    const late = await patch({ expectedVersion: before.version - 1, codeMode: { memoryMb } });
    expect(late.status).toBe(409);
    expect(await read()).toEqual(before);
  });

  test('refuses another version with 409, and changes nothing', async () => {
    const before = await read();
    const response = await patch({ expectedVersion: before.version + 1, codeMode: { enabled: false } });
    expect(response.status).toBe(409);
    expect(await json(response)).toMatchObject({
      code: 'ABORTED',
      detail: `the settings are at version ${before.version}, not ${before.version + 1}: read them again and repeat the change`,
    });
    expect(await read()).toEqual(before);
  });

  test.each([
    [
      { expectedVersion: 1, codeMode: { timeoutMs: 99 } },
      'codeMode.timeoutMs',
      'must be a whole number from 100 to 600000',
    ],
    [
      { expectedVersion: 1, codeMode: { timeoutMs: 600_001 } },
      'codeMode.timeoutMs',
      'must be a whole number from 100 to 600000',
    ],
    [
      { expectedVersion: 1, codeMode: { memoryMb: 15 } },
      'codeMode.memoryMb',
      'must be a whole number from 16 to 1024',
    ],
    [
      { expectedVersion: 1, codeMode: { memoryMb: 1025 } },
      'codeMode.memoryMb',
      'must be a whole number from 16 to 1024',
    ],
    [
      { expectedVersion: 1, codeMode: { outputBytes: 1023 } },
      'codeMode.outputBytes',
      'must be a whole number from 1024 to 33554432',
    ],
    [
      { expectedVersion: 1, codeMode: { outputBytes: 64.5 } },
      'codeMode.outputBytes',
      'must be a whole number from 1024 to 33554432',
    ],
    [{ expectedVersion: 1, codeMode: { enabled: 'yes' } }, 'codeMode.enabled', 'must be true or false'],
    [{ expectedVersion: 1, codeMode: { enable: true } }, 'codeMode.enable', 'is not a field'],
    [{ expectedVersion: -1, codeMode: { enabled: true } }, 'expectedVersion', versionRule],
    [{ codeMode: { enabled: true } }, 'expectedVersion', versionRule],
    [{ expectedVersion: 1.5, codeMode: { enabled: true } }, 'expectedVersion', versionRule],
    ['{"expectedVersion":9007199254740992,"codeMode":{"enabled":true}}', 'expectedVersion', versionRule],
    ['{"expectedVersion":1e400,"codeMode":{"enabled":true}}', 'expectedVersion', versionRule],
    [{ expectedVersion: '1', codeMode: { enabled: true } }, 'expectedVersion', versionRule],
    [{ expectedVersion: 1, codeMode: {} }, 'codeMode', 'must be an object with at least one field to change'],
    [
      { expectedVersion: 1, codeMode: null },
      'codeMode',
      'must be an object with at least one field to change',
    ],
    [{ expectedVersion: 1, codeMode: [] }, 'codeMode', 'must be an object with at least one field to change'],
    [{ expectedVersion: 1, codeMode: { enabled: null } }, 'codeMode.enabled', 'must be true or false'],
    [
      { expectedVersion: 1, codeMode: { memoryMb: '64' } },
      'codeMode.memoryMb',
      'must be a whole number from 16 to 1024',
    ],
    [{ expectedVersion: 1, codeMode: { enabled: true }, extra: 1 }, 'extra', 'is not a field'],
    ['"text"', 'body', 'must be a JSON object'],
    [
      '{"expectedVersion":1,"expectedVersion":1,"codeMode":{"enabled":true}}',
      'expectedVersion',
      'must be there once',
    ],
    [
      '{"expectedVersion":1,"codeMode":{"enabled":true,"enabl\\u0065d":false}}',
      'codeMode.enabled',
      'must be there once',
    ],
    ['{"expectedVersion":', 'body', 'must be JSON: it ends too early, at line 1, column 20'],
    ['{\n  "codeMode": secret }', 'body', 'must be JSON: it cannot be read at line 2, column 15'],
    ['', 'body', 'must be JSON: it ends too early, at line 1, column 1'],
    [{ expectedVersion: 1 }, 'codeMode', 'must be an object with at least one field to change'],
    [[], 'body', 'must be a JSON object'],
    ['null', 'body', 'must be a JSON object'],
  ])('refuses %j by its field', async (body, field, detail) => {
    const before = await read();
    const response = await patch(body);
    expect(response.status).toBe(400);
    const problem = await json(response);
    expect(problem).toMatchObject({ detail: `${field}: ${detail}` });
    expect(problem.errors).toContainEqual({ field, detail });
    expect(await read()).toEqual(before);
  });

  test('names all that is wrong at once, each field once: types, ranges and names', async () => {
    const wrong = { enabled: 'yes', timeoutMs: 1e300, memoryMb: '64', outputBytes: 0, more: 1 };
    const { errors } = await json(patch({ expectedVersion: 1.5, codeMode: wrong, extra: 1 }));
    const described = errors.map(({ field, detail }: Record<string, string>) => `${field} ${detail}`);
    expect(described.toSorted()).toEqual([
      'codeMode.enabled must be true or false',
      'codeMode.memoryMb must be a whole number from 16 to 1024',
      'codeMode.more is not a field',
      'codeMode.outputBytes must be a whole number from 1024 to 33554432',
      'codeMode.timeoutMs must be a whole number from 100 to 600000',
      `expectedVersion ${versionRule}`,
      'extra is not a field',
    ]);
  });

  test('takes the largest version that is exact for another one', async () => {
    const { version } = await read();
    const answer = await json(patch({ expectedVersion: 9007199254740991, codeMode: { enabled: true } }));
    expect(answer.detail).toContain(`at version ${version}, not 9007199254740991:`);
  });
});

describe('the HTTP port', () => {
  test('answers what is not there with a problem', async () => {
    const response = await get('/v2/anything');
    expect(response.status).toBe(404);
    expect(await json(response)).toMatchObject({ status: 404, detail: 'no such route' });
  });

  test('answers headers that are too large with 431', async () => {
    const response = await get('/v1/platform/settings', { 'x-large': 'x'.repeat(20_000) });
    expect(response.status).toBe(431);
    expect(await json(response)).toMatchObject({ status: 431 });
  });

  test('answers what is not HTTP with 400', async () => {
    const { hostname, port } = new URL(services.httpUrl);
    const status = await new Promise((resolve) => {
      const request = httpRequest({ hostname, port, method: 'GET', path: '/', headers: {} });
      request.on('response', (response) => resolve(response.statusCode));
      request.on('error', () => resolve('error'));
      request.on('socket', (socket) => socket.on('connect', () => socket.write('NOT HTTP AT ALL\r\n\r\n')));
    });
    expect([400, 'error']).toContain(status);
    expect((await get('/v1/platform/settings')).status).toBe(200);
  });
});
