import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { accessTo, ownerOf } from '../../services/reference-core/cli/access.ts';
import { execute } from '../../services/reference-core/cli/command.ts';
import { Authority } from '../edges/certificates.ts';
import { type Services, startServices } from '../edges/services.ts';
import { audience, Issuer, issuer } from '../edges/tokens.ts';
import { temporaryFolder } from '../support/mcp-servers.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let keys: Issuer;
let services: Services;
let files: Record<'ca' | 'cert' | 'key' | 'otherCa', string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const authority = await Authority.make('authority');
  const { cert, key } = await authority.issue('localhost');
  const pems = { ca: authority.pem, cert, key, otherCa: (await Authority.make('other')).pem };
  files = Object.fromEntries(
    Object.entries(pems).map(([name, pem]) => {
      const file = path.join(folder.path, `${name}.pem`);
      writeFileSync(file, pem, { mode: 0o600 });
      return [name, file];
    }),
  ) as typeof files;
  keys = await Issuer.start();
  services = await startServices({
    CODE_RUN_JWKS_URL: keys.url,
    CODE_RUN_JWT_ISSUER: issuer,
    CODE_RUN_JWT_AUDIENCE: audience,
    CODE_RUN_TLS_CERT_FILE: files.cert,
    CODE_RUN_TLS_KEY_FILE: files.key,
  });
  await services.enable();
});

afterAll(async () => {
  await services.stop();
  await keys.stop();
  await folder[Symbol.asyncDispose]();
});

afterEach(() => vi.unstubAllEnvs());

async function run(environment: Record<string, string>, ...args: string[]) {
  vi.stubEnv('XDG_STATE_HOME', folder.path);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const streams = { input: Readable.from(['']), out: new PassThrough(), err: new PassThrough() };
  const written = Promise.all([text(streams.out), text(streams.err)]);
  const server = services.grpcAddress.replace('127.0.0.1', 'localhost');
  const status = await execute([...args, '-s', server], streams, new AbortController().signal);
  streams.out.end();
  streams.err.end();
  const [out, err] = await written;
  return { status, out, err };
}

describe('a command with a service that knows its callers', () => {
  test('runs with a token over TLS, and reads the runs of its subject', async () => {
    const token = await keys.sign({ sub: 'ada', permissions: ['runs.execute', 'apps.use', 'sessions.read'] });
    const access = { CODE_MODE_TOKEN: token, CODE_MODE_TLS_CA_FILE: files.ca };
    expect(await run(access, 'run', '-e', 'return 1')).toEqual({ status: 0, out: '1\n', err: '' });
    const listed = await run(access, 'runs', 'list', '--json');
    expect(JSON.parse(listed.out)).toMatchObject({ owner: 'ada', status: 'Completed' });
  });

  test('is refused without a token', async () => {
    const { status, err } = await run({ CODE_MODE_TLS_CA_FILE: files.ca }, 'run', '-e', 'return 1');
    expect(status).toBe(2);
    expect(err).toMatch(/^error: CodeRunService: .*token/i);
  });

  test('does not trust a server of another authority', async () => {
    const { status } = await run({ CODE_MODE_TLS_CA_FILE: files.otherCa }, 'run', '-e', 'return 1');
    expect(status).toBe(3);
  });

  test('names a file that cannot be read', async () => {
    const { status, err } = await run({ CODE_MODE_TLS_CA_FILE: '/nowhere.pem' }, 'run', '-e', 'return 1');
    expect([status, err]).toEqual([
      2,
      expect.stringMatching(
        /^error: CODE_MODE_TLS_CA_FILE: cannot use \/nowhere\.pem: there is no such file/,
      ),
    ]);
  });
});

describe('accessTo', () => {
  test.each([
    ['10.0.0.1:7410', { CODE_MODE_TOKEN: 'x' }, 'CODE_MODE_TLS_CA_FILE must be set: a token is sent'],
    ['dns:///code-run:7410', { CODE_MODE_TOKEN: 'x' }, 'CODE_MODE_TLS_CA_FILE must be set: a token is sent'],
    [
      'localhost:1',
      { CODE_MODE_TLS_CERT_FILE: 'x' },
      'CODE_MODE_TLS_CERT_FILE and CODE_MODE_TLS_KEY_FILE must be',
    ],
    [
      'localhost:1',
      { CODE_MODE_TOKN: 'x' },
      'CODE_MODE_TOKN is not a setting; did you mean CODE_MODE_TOKEN?',
    ],
    ['localhost:1', { CODE_MODE_TOKEN: 'x\ny' }, 'CODE_MODE_TOKEN must be one line'],
    ['localhost:1', { CODE_MODE_TOKEN: 'x y' }, 'CODE_MODE_TOKEN must be a JWT'],
    ['localhost:1', { CODE_MODE_TLS_CA_FILE: '/' }, 'CODE_MODE_TLS_CA_FILE: cannot use /: it is a folder'],
    ['127.0.0.1:1', { CODE_MODE_TLS_CA_FILE: 'x' }, 'under TLS, name the server by a host name'],
    [
      'localhost:1',
      { CODE_MODE_TLS_CERT_FILE: 'x', CODE_MODE_TLS_KEY_FILE: 'y' },
      'CODE_MODE_TLS_CA_FILE must be set where CODE_MODE_TLS_CERT_FILE is',
    ],
  ])('refuses %s with %j', (server, environment, message) => {
    expect(() => accessTo(server, environment)).toThrow(message);
  });

  test('refuses a key that others may read, and one of another certificate', () => {
    const open = path.join(folder.path, 'open.pem');
    writeFileSync(open, 'x', { mode: 0o644 });
    const access = { CODE_MODE_TLS_CA_FILE: files.ca, CODE_MODE_TLS_CERT_FILE: files.cert };
    expect(() => accessTo('localhost:1', { ...access, CODE_MODE_TLS_KEY_FILE: open })).toThrow(
      `CODE_MODE_TLS_KEY_FILE: cannot use ${open}: it must be for its owner alone (chmod 600), its mode is 0644`,
    );
    const other = { ...access, CODE_MODE_TLS_CERT_FILE: files.otherCa, CODE_MODE_TLS_KEY_FILE: files.key };
    expect(() => accessTo('localhost:1', other)).toThrow(
      `CODE_MODE_TLS_KEY_FILE: ${files.key} must be the private key of the certificate`,
    );
  });

  test('takes a variable that is empty for one that is not set', () => {
    expect(accessTo('localhost:1', { CODE_MODE_TOKEN: '', CODE_MODE_TLS_CA_FILE: '' }).headers).toEqual({});
  });

  test('sends a token on this machine without TLS', () => {
    expect(accessTo('unix:/run/code-run.sock', { CODE_MODE_TOKEN: 'x' }).headers).toEqual({
      authorization: 'Bearer x',
    });
  });
});

describe('ownerOf', () => {
  test('is local without a token, and refuses what has no subject', () => {
    expect(ownerOf({})).toBe('local');
    for (const token of ['x', 'a.b.c', `a.${Buffer.from('{}').toString('base64url')}.c`]) {
      expect(() => ownerOf({ CODE_MODE_TOKEN: token })).toThrow('must be a JWT with a subject');
    }
  });
});
