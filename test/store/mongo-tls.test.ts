/** TLS, a client certificate, user and password, all from the URL, on a server that wants them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoreUnavailable, StoreUnusable } from '../../services/code-run/store/contract.ts';
import { openStore } from '../../services/code-run/store/open.ts';
import { Authority, writePem } from '../edges/certificates.ts';
import { available, builtTool } from '../support/available.ts';
import { called, claimBy, localKeeper, newRun, t0 } from './example-runs.ts';

const ferretdb = builtTool('ferretdb');
const lack = ferretdb === undefined ? 'no .tools/bin/ferretdb (make tools)' : undefined;

describe.runIf(available('a MongoDB with TLS and users', lack))('a MongoDB with TLS and users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-mongo-tls-'));
  let server: ChildProcess;
  let host: string;
  /** The authority of the server and its clients, another one, and a client's certificate with its key. */
  let ca: string;
  let otherCa: string;
  let client: string;
  let noPem: string;

  beforeAll(async () => {
    const authority = await Authority.make('the authority');
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    ca = file('ca.pem', authority.pem);
    otherCa = file('other.pem', (await Authority.make('another')).pem);
    noPem = file('none.pem', '-----BEGIN CERTIFICATE-----\nnone\n');
    const { cert, key } = await authority.issue('code-mode');
    client = file('client.pem', `${cert}\n${key}`);
    const paths = writePem(folder, 'server', await authority.issue('server', ['127.0.0.1']));
    server = spawn(
      ferretdb ?? 'ferretdb',
      [
        ...['--handler=sqlite', `--sqlite-url=file:${folder}/`, `--state-dir=${folder}`],
        ...['--listen-addr=', '--listen-tls=127.0.0.1:0', `--listen-tls-ca-file=${ca}`],
        ...[`--listen-tls-cert-file=${paths.cert}`, `--listen-tls-key-file=${paths.key}`],
        ...['--test-enable-new-auth', '--setup-database=code_mode'],
        ...['--setup-username=ann', '--setup-password=pa:ss@word'],
        ...['--debug-addr=-', '--telemetry=disable', '--log-level=info'],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    host = await listening(server);
  });
  afterAll(async () => {
    server?.kill('SIGTERM');
    if (server?.exitCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true });
  });

  const user = `ann:${encodeURIComponent('pa:ss@word')}`;
  const tls = (authority = ca, own = client) =>
    `tls=true&tlsCAFile=${encodeURIComponent(authority)}&tlsCertificateKeyFile=${encodeURIComponent(own)}`;
  const quick = 'serverSelectionTimeoutMS=500&serverMonitoringMode=poll';
  const opened = (who: string, options: string, of = host) =>
    openStore({
      url: `mongodb://${who}@${of}/code_mode?${options}&${quick}`,
      openKeys: async () => localKeeper('k1'),
    });

  test.each(['', '&authMechanism=SCRAM-SHA-256', '&authSource=code_mode'])(
    'keeps runs of who has a certificate, user and password%s',
    async (mechanism) => {
      const store = await opened(user, `${tls()}${mechanism}`);
      const run = newRun();
      await store.create(run, claimBy('a'));
      await store.append({ runId: run.id, epoch: 1 }, 0, [called(0)], 0, t0);
      expect(await store.journal(run.id)).toStrictEqual([called(0)]);
      await store.close();
    },
  );

  test('refuses a wrong password for good', async () => {
    const error = await opened('ann:hunter2', tls()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(String(error)).toContain('the user or password in it is wrong');
    expect(String(error)).not.toContain('hunter2');
  });

  test.each([
    ['another authority', () => opened(user, tls(otherCa)), /unable to verify|self-signed|issuer/],
    ['a file of no authority', () => opened(user, tls(noPem)), /unable to verify|self-signed|issuer/],
    ['no TLS', () => opened(user, 'tls=false'), /closed/],
    ['another host', () => opened(user, tls(), host.replace('127.0.0.1', 'localhost')), /does not match/],
    ['no certificate', () => opened(user, `tls=true&tlsCAFile=${encodeURIComponent(ca)}`), /certificate/],
  ])('is away for who comes with %s', async (_, open, why) => {
    const error = await open().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(String(error)).toMatch(why);
  });

  test.each([
    ['certificate', () => opened(user, tls(ca, noPem))],
    ['key', () => opened(user, tls(ca, ca))],
  ])('is of no use where a file of the URL holds no %s', async (_, open) => {
    const error = await open().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(String(error)).toContain('names a file of certificates or keys that is none');
  });
});

async function listening(server: ChildProcess): Promise<string> {
  const said: string[] = [];
  if (server.stderr === null) throw new Error('no standard error');
  for await (const line of createInterface(server.stderr)) {
    said.push(line);
    const [, found] = /Listening on TLS (127\.0\.0\.1:\d+)/.exec(line) ?? [];
    if (found !== undefined) {
      server.stderr.resume();
      return found;
    }
  }
  throw new Error(`it ended at once:\n${said.join('\n')}`);
}
