/**
 * Who may do what: each method on gRPC, Connect and HTTP, tried by each kind of caller. The rules of the table
 * are written once, as the code that the caller gets.
 */
import { Code, ConnectError, createClient as createConnectClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { TokenVerifier } from '../../services/shared/auth/tokens.ts';
import { RpcError } from '../../services/shared/grpc/status.ts';
import { until } from '../e2e/proc.ts';
import { completed, inlineCatalog, play, start, waiting } from './core.ts';
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
  (allowed: Known): Rule =>
  (caller) =>
    caller === allowed ? 'OK' : 'PERMISSION_DENIED';

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
const catalogRef = () => ({ ref: { case: 'digest' as const, value: digest } });

const grpcMethods: Record<string, readonly [Rule, (options: Options) => Promise<unknown>]> = {
  getCodeRun: [reading, (options) => services.core.getCodeRun({ runId }, options)],
  listCodeRuns: [listing, (options) => services.core.listCodeRuns({ session }, options)],
  runCode: [only('core'), (options) => play(services.core, start('return 1'), () => completed(1), options)],
  cancelCodeRun: [
    only('core'),
    async (options) => {
      const { last } = await play(
        services.core,
        start('return 1', { session: 'other' }),
        () => undefined,
        options,
      );
      await services.core.cancelCodeRun(
        { runId: last.case === 'finished' ? (last.value.run?.id ?? '') : '' },
        options,
      );
    },
  ],
  deleteSessionCodeRuns: [
    only('core'),
    (options) => services.core.deleteSessionCodeRuns({ session: 'none' }, options),
  ],
  putCatalog: [only('core'), (options) => services.core.putCatalog({ catalog: {} }, options)],
  getAgentTools: [only('core'), (options) => services.core.getAgentTools({ catalog: catalogRef() }, options)],
  getSettings: [only('admin'), (options) => services.admin.getSettings({}, options)],
  updateSettings: [
    only('admin'),
    async (options) => {
      const { settings } = await services.admin.getSettings({}, options);
      await services.admin
        .updateSettings(
          { expectedVersion: settings?.version ?? 0n, codeMode: {}, updateMask: { paths: ['memory_mb'] } },
          options,
        )
        .catch((error) => {
          if (error.code !== 'INVALID_ARGUMENT') throw error; // Allowed; the value 0 is what is refused.
        });
    },
  ],
};

const httpRoutes: Record<string, readonly [Rule, string, string, unknown?]> = {
  'GET a run': [reading, 'GET', '/v1/code-runs/RUN'],
  'GET a list': [listing, 'GET', `/v1/sessions/${session}/code-runs`],
  'GET the settings': [only('admin'), 'GET', '/v1/platform/settings'],
  'PATCH the settings': [only('admin'), 'PATCH', '/v1/platform/settings', {}],
  'POST by Connect': [reading, 'POST', '/openbot.codemode.v1.CodeRunService/GetCodeRun', { runId: 'RUN' }],
};

const statusOf: Record<Answer, number> = {
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  OK: 200,
};

describe.each(callers)('a caller that is "%s"', (caller) => {
  const expected = (rule: Rule): Answer =>
    (unknownCallers as readonly string[]).includes(caller) ? 'UNAUTHENTICATED' : rule(caller as Known);
  const optionsOf = async (): Promise<Options> => {
    const authorization = await headerOf(caller);
    return { headers: authorization === undefined ? {} : { authorization } };
  };

  test.each(Object.keys(grpcMethods))('gets its answer from %s', async (name) => {
    const [rule, call] = grpcMethods[name] ?? [];
    if (rule === undefined || call === undefined) throw new Error('no such method');
    const options = await optionsOf();
    expect(await answerOf(() => call(options))).toBe(expected(rule));
  });

  test.each(Object.keys(httpRoutes))('gets its answer from %s', async (name) => {
    const [rule, method, path, body] = httpRoutes[name] ?? [];
    if (rule === undefined || path === undefined) throw new Error('no such route');
    const { headers } = await optionsOf();
    const response = await fetch(services.httpUrl + path.replace('RUN', runId), {
      method: method ?? '',
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body).replace('RUN', runId) }),
    });
    await response.arrayBuffer();
    const answer = expected(rule);
    // The empty change of a caller that may make it is a bad one.
    expect(response.status).toBe(method === 'PATCH' && answer === 'OK' ? 400 : statusOf[answer]);
    if (response.status === 401 && path.startsWith('/v1')) {
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
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
    const broken = await startServices({
      CODE_RUN_JWKS_URL: own.url,
      CODE_RUN_JWT_ISSUER: issuer,
      CODE_RUN_JWT_AUDIENCE: audience,
    });
    try {
      const authorization = `Bearer ${await own.sign({ permissions: ['platform.admin'] })}`;
      const read = () => answerOf(() => broken.admin.getSettings({}, { headers: { authorization } }));
      expect(await read()).toBe('UNAVAILABLE');
      own.status = 200;
      await until(async () => (await read()) === 'OK');
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
