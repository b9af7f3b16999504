/** Callers that nobody knows, many at once: what they cost is bounded, and those that are known are served. */
import { request } from 'node:http';
import { credentials } from '@grpc/grpc-js';
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { identifyWithin } from '../../services/code-run/api/rate.ts';
import { networkOf } from '../../services/code-run/api/strangers.ts';
import type { Caller } from '../../services/shared/auth/caller.ts';
import { TokenVerifier } from '../../services/shared/auth/tokens.ts';
import { AppError } from '../../services/shared/errors.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { RpcError } from '../../services/shared/grpc/status.ts';
import { type Services, startServices } from './services.ts';
import { audience, Issuer, issuer, token } from './tokens.ts';

const perSecond = 10;
const flood = 300;

let keys: Issuer;
beforeAll(async () => {
  keys = await Issuer.start();
});
afterAll(() => keys.stop());

/** A token that names a key of the issuer, or one that nobody has, and is signed by another. */
async function wrongToken(kid: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  return await token({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
}

describe('a service', () => {
  let services: Services;
  beforeAll(async () => {
    services = await startServices({
      CODE_RUN_JWKS_URL: keys.url,
      CODE_RUN_JWT_ISSUER: issuer,
      CODE_RUN_JWT_AUDIENCE: audience,
      CODE_RUN_REQUESTS_PER_SECOND: String(perSecond),
    });
  });
  afterAll(() => services.stop());

  const path = '/v1/platform/settings';
  const connectPath = `/${SettingsService.typeName}/GetSettings`;

  /** Asks over HTTP from an address of this host. */
  function ask(
    from: string,
    bearer: string,
    method = 'GET',
    to = path,
  ): Promise<{ status: number; retryAfter: unknown }> {
    const { hostname, port } = new URL(services.httpUrl);
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const options = { hostname, port, path: to, method, headers, localAddress: from, agent: false };
      const sent = request(options, (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      });
      sent.on('error', reject);
      sent.end(method === 'POST' ? '{}' : undefined);
    });
  }

  test('answers wrong tokens past the share of their address with 429, and others as ever', async () => {
    const wrong = await wrongToken('k1');
    const right = await keys.sign({ permissions: ['platform.admin'] });
    const answers = Promise.all(Array.from({ length: flood }, () => ask('127.0.0.1', wrong)));
    const beside = await ask('127.0.0.2', right);
    expect(beside.status).toBe(200);
    const statuses = (await answers).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    const refused = (await answers).filter(({ status }) => status === 429);
    expect(refused.every(({ retryAfter }) => retryAfter === '1')).toBe(true);
  });

  test('counts them together, whatever the protocol', async () => {
    const wrong = await wrongToken('k1');
    await Promise.all(Array.from({ length: perSecond + 1 }, () => ask('127.0.0.1', wrong)));
    expect((await ask('127.0.0.1', wrong, 'POST', connectPath)).status).toBe(429);
    const channel = openChannel(services.grpcAddress, credentials.createInsecure());
    try {
      const headers = { authorization: `Bearer ${wrong}` };
      const answered = await createClient(SettingsService, channel)
        .getSettings({}, { headers })
        .catch((error) => error);
      expect(answered).toBeInstanceOf(RpcError);
      expect([answered.code, answered.message]).toEqual([
        'RESOURCE_EXHAUSTED',
        `more than ${perSecond} requests without a valid identity in a second: ask again in a second`,
      ]);
    } finally {
      channel.close();
    }
  });
});

describe('identity', () => {
  const sender = (peer: string) => ({ peer, header: () => undefined });
  const caller: Caller = { subject: 'a', permissions: new Set(), sessions: undefined };

  test('looks at no more than its share of what is not valid, however much comes at once', async () => {
    let looked = 0;
    const authenticate = async (): Promise<Caller> => {
      looked++;
      await new Promise((resolve) => setImmediate(resolve));
      throw new AppError('UNAUTHENTICATED', 'no');
    };
    const identify = identifyWithin({ authenticate }, perSecond);
    const codes = await Promise.all(
      Array.from({ length: flood }, () => identify(sender('192.0.2.1')).catch(({ code }) => code)),
    );
    expect(looked).toBe(perSecond);
    expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(perSecond);
    expect(codes.filter((code) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(flood - perSecond);
  });

  test('looks again when the second is over', async () => {
    vi.useFakeTimers();
    try {
      let looked = 0;
      const authenticate = async (): Promise<Caller> => {
        looked++;
        throw new AppError('UNAUTHENTICATED', 'no');
      };
      const identify = identifyWithin({ authenticate }, perSecond);
      for (let n = 0; n < perSecond * 2; n++) await identify(sender('192.0.2.1')).catch(() => {});
      expect(looked).toBe(perSecond);
      await identify(sender('192.0.2.2')).catch(() => {});
      expect(looked).toBe(perSecond + 1);
      await vi.advanceTimersByTimeAsync(1000);
      await expect(identify(sender('192.0.2.1'))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('lets callers that are known through, however many of an address come at once', async () => {
    let known = 0;
    const authenticate = async (): Promise<Caller> => {
      await new Promise((resolve) => setImmediate(resolve));
      return { ...caller, subject: `${known++}` };
    };
    const identify = identifyWithin({ authenticate }, perSecond);
    const all = await Promise.all(Array.from({ length: flood }, () => identify(sender('192.0.2.1'))));
    expect(all).toHaveLength(flood);
  });

  test('counts nothing against an address whose keys cannot be fetched', async () => {
    const authenticate = async () => {
      throw new AppError('UNAVAILABLE', 'no keys');
    };
    const identify = identifyWithin({ authenticate }, perSecond);
    for (let n = 0; n < perSecond * 3; n++) {
      await expect(identify(sender('192.0.2.1'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    }
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('keys of the issuer', () => {
  const verifierOf = (url: string, retryMs: number) =>
    new TokenVerifier({
      keys: { url, cooldownMs: 60_000, retryMs },
      issuer,
      audience,
      clockSkewSeconds: 0,
    });

  test('are fetched once for any number of tokens that name keys which nobody has', async () => {
    const own = await Issuer.start();
    try {
      const verifier = verifierOf(own.url, 60_000);
      const unknown = await Promise.all(Array.from({ length: 50 }, (_, at) => wrongToken(`nobody-${at}`)));
      for (const results of [unknown, unknown]) {
        const settled = await Promise.allSettled(results.map((text) => verifier.verify(text)));
        expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
      }
      await expect(verifier.verify(await own.sign({}))).resolves.toMatchObject({ subject: 'someone' });
      expect(own.fetches).toBe(1);
    } finally {
      await own.stop();
    }
  });

  test.each([
    ['cannot be had', 500, undefined],
    ['are no keys', 200, '{}'],
    ['are no JSON', 200, 'sorry'],
  ])('that %s are not asked for again at once', async (_name, status, body) => {
    const own = await Issuer.start();
    Object.assign(own, { status, body });
    try {
      const verifier = verifierOf(own.url, 60_000);
      const text = await own.sign({});
      for (let n = 0; n < 20; n++) {
        await expect(verifier.verify(text)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      }
      expect(own.fetches).toBe(1);
    } finally {
      await own.stop();
    }
  });

  test('that are known go on counting while they cannot be fetched', async () => {
    const own = await Issuer.start();
    try {
      const verifier = new TokenVerifier({
        keys: { url: own.url, cooldownMs: 0, retryMs: 60_000 },
        issuer,
        audience,
        clockSkewSeconds: 0,
      });
      const text = await own.sign({});
      await verifier.verify(text);
      own.status = 500;
      await expect(verifier.verify(await wrongToken('nobody'))).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      await expect(verifier.verify(text)).resolves.toMatchObject({ subject: 'someone' });
    } finally {
      await own.stop();
    }
  });
});
