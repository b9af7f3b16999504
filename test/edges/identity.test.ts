/**
 * Who may do what: each method on gRPC, Connect and HTTP, tried by each kind of caller. The rules of the table
 * are written once, as the code that the caller gets.
 */
import { Code, ConnectError, createClient as createConnectClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { TokenVerifier } from '../../services/shared/auth/tokens.ts';
import { RpcError } from '../../services/shared/grpc/status.ts';
import { type Log, silentLog } from '../../services/shared/log.ts';
import { until } from '../e2e/proc.ts';
import { completed, inlineCatalog, play, resume, start, waiting } from './core.ts';
import { type Services, startServices } from './services.ts';
import { audience, type Claims, Issuer, issuer, token } from './tokens.ts';

let keys: Issuer;
let services: Services;
let runId: string;
let digest: string;

const session = 's-1';
const claimsOf = {
  'no permission': { permissions: [] },
  'other owner': { sub: 'another', permissions: ['apps.use', 'sessions.read'] },
  'other session': { permissions: ['apps.use', 'sessions.read'], sessions: ['s-2'] },
  owner: { permissions: ['apps.use', 'sessions.read'] },
  'owner by scope text': { permissions: 'apps.use sessions.read', sessions: [session] },
  'owner without sessions.read': { permissions: ['apps.use'] },
  core: { sub: 'the-core', permissions: ['runs.execute'] },
  admin: { sub: 'root', permissions: ['platform.admin'] },
} as const satisfies Record<string, Claims>;

type Known = keyof typeof claimsOf;
const unknownCallers = [
  'none',
  'no bearer',
  'wrong signature',
  'unknown algorithm',
  'expired',
  'not yet',
  'other audience',
  'other issuer',
  'no expiry',
  'no subject',
] as const;
type Unknown = (typeof unknownCallers)[number];
const callers: readonly (Known | Unknown)[] = [...unknownCallers, ...(Object.keys(claimsOf) as Known[])];

async function headerOf(caller: Known | Unknown): Promise<string | undefined> {
  const seconds = Math.floor(Date.now() / 1000);
  const all = { permissions: ['apps.use', 'sessions.read', 'platform.admin', 'runs.execute'] };
  switch (caller) {
    case 'none':
      return undefined;
    case 'no bearer':
      return 'Basic c29tZW9uZTpzZWNyZXQ=';
    case 'wrong signature': {
      const { privateKey } = await generateKeyPair('ES256');
      return `Bearer ${await token(all).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey)}`;
    }
    case 'unknown algorithm': {
      // A key that everybody knows, taken for a shared secret: the old trick.
      const publicText = new TextEncoder().encode(await (await fetch(keys.url)).text());
      return `Bearer ${await token(all).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(publicText)}`;
    }
    case 'expired':
      return `Bearer ${await keys.sign({ ...all, exp: seconds - 31 })}`;
    case 'not yet':
      return `Bearer ${await keys.sign({ ...all, nbf: seconds + 60 })}`;
    case 'other audience':
      return `Bearer ${await keys.sign({ ...all, aud: 'something-else' })}`;
    case 'other issuer':
      return `Bearer ${await keys.sign({ ...all, iss: 'https://elsewhere.test' })}`;
    case 'no expiry':
      return `Bearer ${await keys.sign(all, {}, ['exp'])}`;
    case 'no subject':
      return `Bearer ${await keys.sign(all, {}, ['sub'])}`;
    default:
      return `Bearer ${await keys.sign(claimsOf[caller])}`;
  }
}

beforeAll(async () => {
  keys = await Issuer.start();
  services = await startServices({
    CODE_RUN_JWKS_URL: keys.url,
    CODE_RUN_JWT_ISSUER: issuer,
    CODE_RUN_JWT_AUDIENCE: audience,
  });
  await services.enable();
  const headers = { authorization: (await headerOf('core')) ?? '' };
  ({ digest } = await services.core.putCatalog(
    { catalog: inlineCatalog.ref.case === 'catalog' ? inlineCatalog.ref.value : {} },
    { headers },
  ));
  const { last } = await play(services.core, start('await apps.notes.send({})'), () => waiting, { headers });
  if (last.case !== 'waiting') throw new Error('does not wait');
  runId = last.value.runId;
});
afterAll(async () => {
  await services.stop();
  await keys.stop();
});

/** The answer to a call: OK, or the code of its error. */
type Answer = string;
type Rule = (caller: Known) => Answer;

const reading: Rule = (caller) => {
  if (caller === 'admin' || caller === 'no permission') return 'PERMISSION_DENIED';
  return caller === 'other owner' || caller === 'other session' ? 'NOT_FOUND' : 'OK';
};
const listing: Rule = (caller) =>
  caller === 'owner without sessions.read' ? 'PERMISSION_DENIED' : reading(caller);
const only =
  (allowed: Known, answer: Answer = 'OK'): Rule =>
  (caller) =>
    caller === allowed ? answer : 'PERMISSION_DENIED';

async function answerOf(work: () => Promise<unknown>): Promise<Answer> {
  try {
    await work();
    return 'OK';
  } catch (error) {
    if (error instanceof RpcError) return error.code;
    if (error instanceof ConnectError)
      return Code[error.code].replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
    throw error;
  }
}

type Options = { headers: Record<string, string> };
type Clients = Pick<Services, 'core' | 'admin'>;
/** The methods that every protocol has. */
type UnaryClients = { readonly core: Omit<Clients['core'], 'runCode'>; readonly admin: Clients['admin'] };
type Method<C> = readonly [Rule, (clients: C, options: Options) => Promise<unknown>];
const catalogRef = () => ({ ref: { case: 'digest' as const, value: digest } });
/** For a method that only its caller gets so far with: what is asked for is not there. */
const nowhere = '00000000-0000-4000-8000-000000000000';

const unaryMethods: Record<string, Method<UnaryClients>> = {
  getCodeRun: [reading, ({ core }, options) => core.getCodeRun({ runId }, options)],
  listCodeRuns: [listing, ({ core }, options) => core.listCodeRuns({ session }, options)],
  cancelCodeRun: [
    only('core', 'NOT_FOUND'),
    ({ core }, options) => core.cancelCodeRun({ runId: nowhere }, options),
  ],
  deleteSessionCodeRuns: [
    only('core'),
    ({ core }, options) => core.deleteSessionCodeRuns({ session: 'none' }, options),
  ],
  putCatalog: [only('core'), ({ core }, options) => core.putCatalog({ catalog: {} }, options)],
  describeBindings: [
    only('core'),
    ({ core }, options) => core.describeBindings({ catalog: catalogRef() }, options),
  ],
  getAgentTools: [
    only('core'),
    ({ core }, options) => core.getAgentTools({ catalog: catalogRef() }, options),
  ],
  checkCode: [
    only('core'),
    ({ core }, options) => core.checkCode({ catalog: catalogRef(), code: 'return 1' }, options),
  ],
  getSettings: [only('admin'), ({ admin }, options) => admin.getSettings({}, options)],
  updateSettings: [
    only('admin', 'INVALID_ARGUMENT'), // The value 0 is what is refused.
    ({ admin }, options) => admin.updateSettings({ codeMode: {} }, options),
  ],
};

const grpcMethods: Record<string, Method<Clients>> = {
  ...unaryMethods,
  'runCode that starts': [
    only('core'),
    ({ core }, options) => play(core, start('return 1'), () => completed(1), options),
  ],
  'runCode that resumes': [
    only('core', 'NOT_FOUND'),
    ({ core }, options) => play(core, resume(nowhere), () => completed(1), options),
  ],
};

const httpRoutes: Record<string, readonly [Rule, string, string, unknown?]> = {
  'GET a run': [reading, 'GET', '/v1/code-runs/RUN'],
  'HEAD a run': [reading, 'HEAD', '/v1/code-runs/RUN'],
  'GET a list': [listing, 'GET', `/v1/sessions/${session}/code-runs`],
  'HEAD a list': [listing, 'HEAD', `/v1/sessions/${session}/code-runs`],
  'GET the settings': [only('admin'), 'GET', '/v1/platform/settings'],
  'HEAD the settings': [only('admin'), 'HEAD', '/v1/platform/settings'],
  'PATCH the settings': [only('admin', 'INVALID_ARGUMENT'), 'PATCH', '/v1/platform/settings', {}],
};

test('the tables have every method of the services', () => {
  const all = [CodeRunService, SettingsService].flatMap((service) => Object.keys(service.method));
  expect(new Set(Object.keys(grpcMethods).map((name) => name.split(' ')[0]))).toEqual(new Set(all));
});

const statusOf: Record<Answer, number> = {
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  INVALID_ARGUMENT: 400,
  OK: 200,
};

describe.each(callers)('a caller that is "%s"', (caller) => {
  const expected = (rule: Rule): Answer =>
    (unknownCallers as readonly string[]).includes(caller) ? 'UNAUTHENTICATED' : rule(caller as Known);
  const optionsOf = async (): Promise<Options> => {
    const authorization = await headerOf(caller);
    return { headers: authorization === undefined ? {} : { authorization } };
  };

  const answer = async <C>(clients: C, [rule, call]: Method<C>): Promise<void> => {
    const options = await optionsOf();
    expect(await answerOf(() => call(clients, options))).toBe(expected(rule));
  };

  test.each(Object.entries(grpcMethods))('gets its answer from %s by gRPC', async (_name, method) => {
    await answer(services, method);
  });

  describe.each([
    ['Connect', createConnectTransport],
    ['gRPC-Web', createGrpcWebTransport],
  ])('by %s', (_protocol, transportOf) => {
    test.each(Object.entries(unaryMethods))('gets its answer from %s', async (_name, method) => {
      const transport = transportOf({ baseUrl: services.httpUrl, httpVersion: '1.1' });
      const core = createConnectClient(CodeRunService, transport);
      await answer({ core, admin: createConnectClient(SettingsService, transport) }, method);
    });
  });

  test.each(Object.entries(httpRoutes))('gets its answer from %s', async (_name, route) => {
    const [rule, method, path, body] = route;
    const { headers } = await optionsOf();
    const response = await fetch(services.httpUrl + path.replace('RUN', runId), {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(statusOf[expected(rule)]);
    if (response.status === 401) expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('what one may not see', () => {
  test('is answered to the letter like what is not there', async () => {
    const headers = { authorization: (await headerOf('other owner')) ?? '' };
    const there = await fetch(`${services.httpUrl}/v1/code-runs/${runId}`, { headers });
    const nowhere = await fetch(`${services.httpUrl}/v1/code-runs/${crypto.randomUUID()}`, { headers });
    expect(await there.text()).toBe(await nowhere.text());
    const listed = await fetch(`${services.httpUrl}/v1/sessions/${session}/code-runs`, { headers });
    const unknown = await fetch(`${services.httpUrl}/v1/sessions/nobody/code-runs`, { headers });
    expect(listed.status).toBe(404);
    expect(await listed.text()).toBe(await unknown.text());
  });

  test('is left out of lists of a session that several own', async () => {
    const core = { headers: { authorization: (await headerOf('core')) ?? '' } };
    for (const owner of ['a', 'b', 'a', 'b', 'b', 'a']) {
      await play(services.core, start('return 1', { session: 'shared', owner }), () => undefined, core);
    }
    const authorization = `Bearer ${await keys.sign({ sub: 'a', permissions: ['apps.use', 'sessions.read'] })}`;
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await services.core.listCodeRuns(
        { session: 'shared', pageSize: 2, pageToken },
        { headers: { authorization } },
      );
      seen.push(...page.runs.map(({ owner }) => owner));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(['a', 'a', 'a']);
  });
});

test('clocks may differ by the skew, and no second more', async () => {
  const atMs = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ now: atMs, toFake: ['Date'] });
  try {
    const secret = 'correct horse battery staple, twice over';
    const rules = { keys: { secret }, issuer, audience, clockSkewSeconds: 30 };
    const verifier = new TokenVerifier(rules);
    const verify = async (claims: Claims) =>
      await answerOf(async () => {
        const signed = token(claims).setProtectedHeader({ alg: 'HS256' });
        await verifier.verify(await signed.sign(new TextEncoder().encode(secret))).catch((error) => {
          throw new RpcError(error.code, error.message);
        });
      });
    const now = atMs / 1000;
    expect(await verify({ exp: now - 29 })).toBe('OK');
    expect(await verify({ exp: now - 30 })).toBe('UNAUTHENTICATED');
    expect(await verify({ nbf: now + 30 })).toBe('OK');
    expect(await verify({ nbf: now + 31 })).toBe('UNAUTHENTICATED');
  } finally {
    vi.useRealTimers();
  }
});

describe('keys of the issuer', () => {
  test('rotate without a restart: a new one counts at once, a withdrawn one no longer', async () => {
    const own = await Issuer.start();
    try {
      const verifier = new TokenVerifier({
        keys: { url: own.url, cooldownMs: 0, retryMs: 0 },
        issuer,
        audience,
        clockSkewSeconds: 0,
      });
      const old = await own.sign({});
      await expect(verifier.verify(old)).resolves.toMatchObject({ subject: 'someone' });
      await verifier.verify(old);
      expect(own.fetches).toBe(1);
      await own.rotate('k2');
      await expect(verifier.verify(await own.sign({}))).resolves.toMatchObject({ subject: 'someone' });
      expect(own.fetches).toBe(2);
      await expect(verifier.verify(old)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    } finally {
      await own.stop();
    }
  });

  test('that cannot be fetched are not the fault of the caller', async () => {
    const own = await Issuer.start();
    own.status = 500;
    const told: unknown[] = [];
    const identityLog: Log = Object.create(silentLog);
    identityLog.warn = (fields, message) => told.push({ ...fields, message });
    const log: Log = Object.create(silentLog);
    log.child = ({ component }) => (component === 'identity' ? identityLog : silentLog);
    const url = own.url.replace('.json', '.json?token=hunter2');
    const broken = await startServices(
      { CODE_RUN_JWKS_URL: url, CODE_RUN_JWT_ISSUER: issuer, CODE_RUN_JWT_AUDIENCE: audience },
      log,
    );
    try {
      const authorization = `Bearer ${await own.sign({ permissions: ['platform.admin'] })}`;
      const read = () => answerOf(() => broken.admin.getSettings({}, { headers: { authorization } }));
      expect(await read()).toBe('UNAVAILABLE');
      await until(async () => own.fetches > 1 || (await read()) === 'OK');
      own.status = 200;
      await until(async () => (await read()) === 'OK');
      expect(told).toEqual([
        {
          reason: 'the keys were answered with 500',
          message: 'the keys of CODE_RUN_JWKS_URL cannot be fetched',
        },
        { message: 'the keys of CODE_RUN_JWKS_URL are fetched again' },
      ]);
    } finally {
      await broken.stop();
      await own.stop();
    }
  });
});

describe('a shared secret', () => {
  const secret = 'correct horse battery staple, twice over';

  test('checks tokens as well, and takes no other algorithm', async () => {
    const shared = await startServices({
      CODE_RUN_JWT_SECRET: secret,
      CODE_RUN_JWT_ISSUER: issuer,
      CODE_RUN_JWT_AUDIENCE: audience,
    });
    try {
      const read = async (signed: Promise<string>) => {
        const authorization = `Bearer ${await signed}`;
        return await answerOf(() => shared.admin.getSettings({}, { headers: { authorization } }));
      };
      const unsigned = () => token({ permissions: ['platform.admin'] });
      const key = (text: string) => new TextEncoder().encode(text);
      expect(await read(unsigned().setProtectedHeader({ alg: 'HS256' }).sign(key(secret)))).toBe('OK');
      expect(
        await read(
          unsigned()
            .setProtectedHeader({ alg: 'HS256' })
            .sign(key(`${secret}!`)),
        ),
      ).toBe('UNAUTHENTICATED');
      expect(await read(keys.sign({ permissions: ['platform.admin'] }))).toBe('UNAUTHENTICATED');
      const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ iss: issuer, aud: audience, sub: 'x', exp: 9e9, permissions: ['platform.admin'] })).toString('base64url')}.`;
      expect(await read(Promise.resolve(none))).toBe('UNAUTHENTICATED');
    } finally {
      await shared.stop();
    }
  });
});

describe('a caller', () => {
  test('that asks too often is told so, and no other caller with it', async () => {
    const limited = await startServices({
      CODE_RUN_JWKS_URL: keys.url,
      CODE_RUN_JWT_ISSUER: issuer,
      CODE_RUN_JWT_AUDIENCE: audience,
      CODE_RUN_REQUESTS_PER_SECOND: '5',
    });
    try {
      const as = async (sub: string) => {
        const authorization = `Bearer ${await keys.sign({ sub, permissions: ['platform.admin'] })}`;
        return () => answerOf(() => limited.admin.getSettings({}, { headers: { authorization } }));
      };
      const eager = await as('eager');
      const calm = await as('calm');
      const answers = await Promise.all(Array.from({ length: 50 }, eager));
      expect(answers.filter((answer) => answer === 'OK').length).toBeGreaterThanOrEqual(5);
      expect(answers).toContain('RESOURCE_EXHAUSTED');
      expect(await calm()).toBe('OK');
    } finally {
      await limited.stop();
    }
  });
});

test('Connect gives the same errors as gRPC, with their field violations', async () => {
  const transport = createConnectTransport({ baseUrl: services.httpUrl, httpVersion: '1.1' });
  const headers = { authorization: (await headerOf('admin')) ?? '' };
  const client = createConnectClient(SettingsService, transport);
  const { settings } = await client.getSettings({}, { headers });
  const error = await client
    .updateSettings(
      {
        expectedVersion: settings?.version ?? 0n,
        codeMode: { memoryMb: 1 },
        updateMask: { paths: ['memory_mb'] },
      },
      { headers },
    )
    .catch((reason) => reason);
  expect(error).toBeInstanceOf(ConnectError);
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toBe('code_mode.memory_mb: must be a whole number from 16 to 1024');
  expect(error.details).toHaveLength(1);
  const runs = createConnectClient(CodeRunService, transport);
  expect(await answerOf(() => runs.getCodeRun({ runId }, { headers }))).toBe('PERMISSION_DENIED');
});
