/** TLS on both hops, with client certificates, and certificates that are renewed. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SandboxService } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { readCodeRunConfig } from '../../services/code-run/config.ts';
import { startCodeRun } from '../../services/code-run/server.ts';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { type Log, silentLog } from '../../services/shared/log.ts';
import { Certificates } from '../../services/shared/tls.ts';
import { Authority, type Pem, writePem } from './certificates.ts';
import { completed, play, start } from './core.ts';
import { Folder } from './processes.ts';

let folder: Folder;
let authority: Authority;
let stranger: Authority;
let caFile: string;
const cleanups: (() => Promise<void> | void)[] = [];

beforeEach(async () => {
  folder = new Folder();
  [authority, stranger] = await Promise.all([Authority.make('ours'), Authority.make('strangers')]);
  caFile = join(folder.path, 'ca.crt');
  writeFileSync(caFile, authority.pem);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  folder.remove();
});

const files = async (name: string) => writePem(folder.path, name, await authority.issue(name));

async function startSandboxAt(address: string) {
  const { cert, key } = await files('sandbox');
  return await startSandbox(
    readSandboxConfig({
      environment: {
        SANDBOX_LISTEN: address,
        SANDBOX_DRAIN_MS: '0',
        SANDBOX_TLS_CERT_FILE: cert,
        SANDBOX_TLS_KEY_FILE: key,
        SANDBOX_TLS_CLIENT_CA_FILE: caFile,
        SANDBOX_TLS_CLIENT_NAMES: 'code-run',
      },
    }),
    silentLog,
  );
}

/** Both services with certificates from one authority. */
async function startBoth(more: Record<string, string> = {}, log: Log = silentLog) {
  const sandbox = await startSandboxAt('localhost:0');
  cleanups.push(() => sandbox.stop());
  const codeRunFiles = await files('code-run');
  const codeRun = await startCodeRun(
    readCodeRunConfig({
      environment: {
        CODE_RUN_GRPC_ADDRESS: 'localhost:0',
        CODE_RUN_HTTP_ADDRESS: 'localhost:0',
        CODE_RUN_STORE: 'sqlite::memory:',
        CODE_RUN_KEYS_FILE: join(folder.path, 'keys'),
        CODE_RUN_DRAIN_MS: '0',
        CODE_RUN_TLS_CERT_FILE: codeRunFiles.cert,
        CODE_RUN_TLS_KEY_FILE: codeRunFiles.key,
        CODE_RUN_TLS_CLIENT_CA_FILE: caFile,
        CODE_RUN_SANDBOX_ADDRESS: sandbox.address,
        CODE_RUN_SANDBOX_TLS_CERT_FILE: codeRunFiles.cert,
        CODE_RUN_SANDBOX_TLS_KEY_FILE: codeRunFiles.key,
        CODE_RUN_SANDBOX_TLS_CA_FILE: caFile,
        ...more,
      },
    }),
    log,
  );
  cleanups.push(() => codeRun.stop());
  await codeRun.context.settings.update(0, { enabled: true }, (name) => name);
  return { sandbox, codeRun };
}

function channelAs(address: string, pem: Pem | undefined) {
  const [key, cert] = pem === undefined ? [null, null] : [Buffer.from(pem.key), Buffer.from(pem.cert)];
  const channel = openChannel(address, credentials.createSsl(Buffer.from(authority.pem), key, cert));
  cleanups.push(() => channel.close());
  return channel;
}

test('a core with a certificate of the authority runs programs, over TLS on both hops', async () => {
  const { codeRun } = await startBoth();
  const core = createClient(
    CodeRunService,
    channelAs(codeRun.grpcAddress, await authority.issue('the-core')),
  );
  const { last } = await play(core, start('return await apps.notes.send({})'), () => completed('sent'));
  expect(last).toMatchObject({ case: 'finished', value: { run: { status: CodeRunStatus.COMPLETED } } });
});

test('a core is not the administrator', async () => {
  const { codeRun } = await startBoth();
  const admin = createClient(
    SettingsService,
    channelAs(codeRun.grpcAddress, await authority.issue('the-core')),
  );
  await expect(admin.getSettings({})).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
});

test('whoever shows no certificate, or one of another authority, is not served', async () => {
  const { codeRun, sandbox } = await startBoth();
  for (const pem of [undefined, await stranger.issue('the-core')]) {
    const core = createClient(CodeRunService, channelAs(codeRun.grpcAddress, pem));
    await expect(core.getCodeRun({ runId: 'x' }, { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    const direct = createClient(SandboxService, channelAs(sandbox.address, pem));
    await expect(direct.getStatus({}, { timeoutMs: 5000 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
});

test('the sandbox serves only the names that it is told', async () => {
  const { sandbox } = await startBoth();
  const other = createClient(SandboxService, channelAs(sandbox.address, await authority.issue('the-core')));
  await expect(other.getStatus({})).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  const named = createClient(SandboxService, channelAs(sandbox.address, await authority.issue('code-run')));
  await expect(named.getStatus({})).resolves.toBeDefined();
});

test('a sandbox with a certificate of another authority gets no program', async () => {
  const otherFiles = writePem(folder.path, 'impostor', await stranger.issue('sandbox'));
  const impostor = await startSandbox(
    readSandboxConfig({
      environment: {
        SANDBOX_LISTEN: 'localhost:0',
        SANDBOX_DRAIN_MS: '0',
        SANDBOX_TLS_CERT_FILE: otherFiles.cert,
        SANDBOX_TLS_KEY_FILE: otherFiles.key,
      },
    }),
    silentLog,
  );
  cleanups.push(() => impostor.stop());
  const { codeRun } = await startBoth({ CODE_RUN_SANDBOX_ADDRESS: impostor.address });
  const core = createClient(
    CodeRunService,
    channelAs(codeRun.grpcAddress, await authority.issue('the-core')),
  );
  const call = core.runCode();
  await call.send({ message: start('return 1') });
  const responses = call.responses[Symbol.asyncIterator]();
  expect((await responses.next()).value.message.case).toBe('accepted');
  const { runs } = await core.listCodeRuns({ session: 's-1' });
  await core.cancelCodeRun({ runId: runs[0]?.id ?? '' });
  const { value } = await responses.next();
  expect(value.message).toMatchObject({
    case: 'finished',
    value: { run: { status: CodeRunStatus.CANCELLED } },
  });
});

test('the HTTP port asks for the same certificates, and knows who shows them on each protocol', async () => {
  const { codeRun } = await startBoth();
  const [hostname, port] = (codeRun.httpAddress ?? '').split(':');
  const ask = (pem: Pem | undefined, path = '/v1/sessions/s-1/code-runs', body?: string) =>
    new Promise<number | string>((resolve) => {
      const how =
        body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' } };
      const options = { hostname, port, path, ca: authority.pem, ...how, ...pem };
      const sent = request(options, (response) => resolve(response.statusCode ?? 0));
      sent.on('error', () => resolve('refused'));
      sent.end(body);
    });
  const core = await authority.issue('the-core');
  expect(await ask(core)).toBe(200);
  expect(await ask(core, `/${CodeRunService.typeName}/ListCodeRuns`, '{"session":"s-1"}')).toBe(200);
  expect(await ask(undefined)).toBe('refused');
  expect(await ask(await stranger.issue('the-core'))).toBe('refused');
});

test('renewed certificates are shown to new connections, and broken ones leave what was there', async () => {
  const first = await authority.issue('server');
  const paths = writePem(folder.path, 'server', first);
  const refused = Promise.withResolvers<void>();
  const log: Log = { ...silentLog, warn: () => refused.resolve() };
  const certificates = new Certificates({ ...paths, ca: undefined }, 20, ['X_TLS_CERT_FILE'], log);
  cleanups.push(() => certificates.close());
  const changed = () =>
    new Promise<string>((resolve) => certificates.onChange(({ cert }) => resolve(cert.toString())));
  expect(certificates.current.cert.toString()).toBe(first.cert);

  const second = await authority.issue('server');
  const renewal = changed();
  writeFileSync(paths.cert, second.cert); // For a moment certificate and key do not fit each other.
  await refused.promise;
  expect(certificates.current.cert.toString()).toBe(first.cert);
  writeFileSync(paths.key, second.key);
  expect(await renewal).toBe(second.cert);
});

test('a running service shows its renewed certificate on both ports', async () => {
  const { codeRun } = await startBoth();
  const { certificates } = codeRun.context;
  if (certificates === undefined) throw new Error('no certificates');
  const client = await authority.issue('the-core');
  const serialOf = (address: string, alpn: string) =>
    new Promise<string>((resolve, reject) => {
      const [host, port] = address.split(':');
      const options = {
        host,
        servername: 'localhost',
        port: Number(port),
        ca: authority.pem,
        ALPNProtocols: [alpn],
        ...client,
      };
      const socket = connect(options, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const before = [
    await serialOf(codeRun.grpcAddress, 'h2'),
    await serialOf(codeRun.httpAddress ?? '', 'http/1.1'),
  ];
  expect(before[0]).toBe(before[1]);
  writePem(folder.path, 'code-run', await authority.issue('code-run'));
  certificates.reload();
  const after = [
    await serialOf(codeRun.grpcAddress, 'h2'),
    await serialOf(codeRun.httpAddress ?? '', 'http/1.1'),
  ];
  expect(after[0]).toBe(after[1]);
  expect(after[0]).not.toBe(before[0]);
});

test('a whole authority is replaced while CodeRunService runs on: its renewed files count on both its sides', async () => {
  const bothRead = Promise.withResolvers<void>();
  let read = 0;
  const log: Log = {
    ...silentLog,
    child: () => log,
    info: (_fields, message) => {
      if (message.startsWith('certificate files changed') && ++read === 2) bothRead.resolve();
    },
  };
  const { codeRun, sandbox } = await startBoth({}, log);
  const oldClient = await authority.issue('the-core');
  const run = async () => {
    const core = createClient(
      CodeRunService,
      channelAs(codeRun.grpcAddress, await authority.issue('the-core')),
    );
    return (await play(core, start('return 1'), () => undefined)).last;
  };
  expect(await run()).toMatchObject({
    case: 'finished',
    value: { run: { status: CodeRunStatus.COMPLETED } },
  });

  authority = await Authority.make('new');
  const renewal = await authority.issue('code-run');
  writeFileSync(caFile, authority.pem); // In one go: what looks at the files runs in this process.
  writePem(folder.path, 'code-run', renewal);
  await bothRead.promise; // What CodeRunService shows, and what it shows to the sandbox.
  await sandbox.stop();
  const renewed = await startSandboxAt(sandbox.address); // It knows the new authority alone.
  cleanups.push(() => renewed.stop());

  expect(await run()).toMatchObject({
    case: 'finished',
    value: { run: { status: CodeRunStatus.COMPLETED } },
  });
  const late = createClient(CodeRunService, channelAs(codeRun.grpcAddress, oldClient));
  await expect(late.getCodeRun({ runId: 'x' }, { timeoutMs: 5000 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('files that cannot be used fail the start by the names of their variables', async () => {
  const paths = await files('server');
  const other = await files('other');
  const open = (cert: string, key: string) =>
    new Certificates({ cert, key, ca: undefined }, 1000, ['X_TLS_CERT_FILE', 'X_TLS_KEY_FILE'], silentLog);
  const start = /^X_TLS_CERT_FILE, X_TLS_KEY_FILE: the certificate cannot be used: /;
  expect(() => open('/nonexistent', paths.key)).toThrow(start);
  expect(() => open(paths.cert, other.key)).toThrow(start);
});
