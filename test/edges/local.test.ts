/** A port without identity answers this machine alone: no page of another site, whatever its name resolves to. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { converse, send } from './raw-http.ts';
import { type Services, startServices } from './services.ts';
import { audience, issuer } from './tokens.ts';

let services: Services;
let identified: Services;
beforeAll(async () => {
  services = await startServices();
  identified = await startServices({
    CODE_RUN_JWT_SECRET: 'a secret of the test that is long enough',
    CODE_RUN_JWT_ISSUER: issuer,
    CODE_RUN_JWT_AUDIENCE: audience,
  });
});
afterAll(() => Promise.all([services.stop(), identified.stop()]));

const settings = '/v1/platform/settings';
const connect = '/openbot.codemode.v1.CodeRunService/DeleteSessionCodeRuns';
const json = { 'content-type': 'application/json' };
const change = JSON.stringify({ expectedVersion: 0, codeMode: { enabled: true } });

test.each([
  ['evil.test', 421],
  ['evil.test:7411', 421],
  ['localhost.evil.test', 421],
  ['127.0.0.1.evil.test', 421],
  ['192.0.2.1', 421],
  ['[2001:db8::1]', 421],
  ['user@localhost', 421],
  ['', 421],
  ['localhost', 200],
  ['LOCALHOST:80', 200],
  ['127.0.0.1:7411', 200],
  ['127.1.2.3', 200],
  ['[::1]:7411', 200],
])('a request for the host "%s" is answered with %d', async (host, status) => {
  const answer = await converse(
    services.httpUrl,
    `GET ${settings} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  if (status === 421) expect(answer).toContain('application/problem+json');
});

test.each([
  ['http://evil.test', 403],
  ['http://evil.test:7411', 403],
  ['https://localhost.evil.test', 403],
  ['null', 403],
  ['file://', 403],
  ['http://localhost:3000', 200],
  ['https://127.0.0.1', 200],
  ['http://[::1]:7411', 200],
])('a request of a page of %s is answered with %d', async (origin, status) => {
  expect((await send(services.httpUrl, 'GET', settings, { origin })).status).toBe(status);
});

test('nothing is changed or deleted for another site', async () => {
  const foreign = { ...json, host: 'evil.test', origin: 'http://evil.test:7411' };
  expect((await send(services.httpUrl, 'PATCH', settings, foreign, change)).status).toBe(421);
  expect((await send(services.httpUrl, 'POST', connect, foreign, '{"session":"s"}')).status).toBe(421);
  expect(await services.codeRun.context.settings.read()).toMatchObject({ version: 0, enabled: false });
});

test('with identity it is the token that counts', async () => {
  const foreign = { host: 'code-mode.test', origin: 'http://evil.test' };
  expect((await send(identified.httpUrl, 'GET', '/livez', foreign)).status).toBe(200);
  expect((await send(identified.httpUrl, 'GET', settings, foreign)).status).toBe(401);
});
