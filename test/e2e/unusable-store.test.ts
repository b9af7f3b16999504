/**
 * A store that can never be used ends the start in one line. One that is away is waited for by services, which
 * listen meanwhile and say so in one line a try, and ends a command.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { MongoServerError } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { StoreUnavailable, StoreUnusable } from '../../services/code-run/store/contract.ts';
import { notOpened, unavailable } from '../../services/code-run/store/mongodb/failures.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { start as begin, play } from '../edges/core.ts';
import { Folder, Service } from '../edges/processes.ts';
import { mongoAvailable } from '../support/mongo.ts';
import { freePorts } from './ports.ts';
import { until } from './proc.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const noise = join(folder.path, 'noise.db');
writeFileSync(noise, randomBytes(8192));
writeFileSync(join(folder.path, 'plain'), 'no folder');

const keysFile = join(folder.path, 'code-runs.keys');

/** Keys are made for a file alone: a database that instances share needs them given. */
function settingsOf(store: string): Record<string, string> {
  const keys = store.startsWith('sqlite:')
    ? { CODE_RUN_KEYS_FILE: keysFile }
    : { CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  return { CODE_RUN_STORE: store, ...keys };
}

function start(script: string, store: string, args: readonly string[] = []): Service {
  const environment = {
    ...settingsOf(store),
    CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
    CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
    CODE_RUN_DRAIN_MS: '0',
    SANDBOX_DRAIN_MS: '0',
    TMPDIR: folder.path,
  };
  return new Service(script, environment, args);
}

/** What is not a line of the log. */
function ownLines({ stderr }: Service): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** A server that takes connections and never says a word. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, stop };
}

const codeRun = 'services/code-run/main.ts';

describe('a start', () => {
  test.each([
    ['a folder that is not there', codeRun, 'sqlite:/proc/nope/x.db', /\/proc\/nope, which is no folder/],
    ['a path under a file', codeRun, `sqlite:${folder.path}/plain/x.db`, /\/plain, which is no folder/],
    ['a folder', codeRun, `sqlite:${folder.path}`, /name a file/],
    ['a file of random bytes', codeRun, `sqlite:${noise}`, /no SQLite database.* name another/],
    [
      'a MongoDB URL with a wrong option',
      codeRun,
      'mongodb://u:hunter2@127.0.0.1:1/x?wrong=1',
      /option wrong/,
    ],
    [
      'a MongoDB URL with a file that is not there',
      codeRun,
      'mongodb://u:hunter2@127.0.0.1:1/x?tls=true&tlsCAFile=/nope.pem',
      /cannot be read.*\/nope\.pem/,
    ],
    ['a file of random bytes, all in one', 'services/embedded/main.ts', `sqlite:${noise}`, /name another/],
  ])(
    'with %s ends at once, in one line that names the setting',
    async (_, script, store, reason) => {
      const service = start(script, store);
      expect(await service.ended()).toEqual({ code: 2, signal: null });
      const own = ownLines(service);
      expect(own).toHaveLength(1);
      expect(own[0]).toMatch(/^(code-run|embedded): CODE_RUN_STORE /);
      expect(own[0]).toMatch(reason);
      expect(service.stderr).not.toMatch(/the store does not answer|hunter2|"stack"/);
      expect(existsSync(keysFile)).toBe(false);
      expect(readdirSync(folder.path).sort()).toEqual(['noise.db', 'plain']);
    },
    30_000,
  );

  test.each([
    ['code-run', codeRun, []],
    ['all in one', 'services/embedded/main.ts', ['--json']],
  ])(
    'whose MongoDB is away listens all the same and says what it waits for: %s',
    async (_, script, args) => {
      const [port] = await freePorts(1);
      const url = `mongodb://u:hunter2@127.0.0.1:${port}/x?serverSelectionTimeoutMS=50`;
      const service = start(script, url, args);
      try {
        const { grpcAddress, httpAddress } = await service.ready();
        const live = await fetch(`http://${httpAddress}/livez`);
        expect([live.status, await live.json()]).toEqual([200, { alive: true }]);
        const ready = await fetch(`http://${httpAddress}/readyz`);
        expect([ready.status, await ready.json()]).toMatchObject([
          503,
          { store: false, missing: expect.arrayContaining(['store']) },
        ]);
        const channel = openChannel(String(grpcAddress), credentials.createInsecure());
        const { check } = Health.method;
        const health = createClient({ typeName: Health.typeName, method: { check } }, channel);
        for (const name of ['', CodeRunService.typeName, SettingsService.typeName]) {
          expect((await health.check({ service: name })).status).toBe(Status.NOT_SERVING);
        }
        const core = createClient(CodeRunService, channel);
        await expect(play(core, begin('return 1'), () => undefined)).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: 'the store cannot be reached: try again',
        });
        channel.close();
        const tries = () => service.stderr.split('\n').filter((line) => line.includes('does not answer'));
        await until(() => tries().length >= 3);
        expect(JSON.parse(tries()[0] ?? '')).toMatchObject({ setting: 'CODE_RUN_STORE', level: 40 });
        expect(tries()[0]?.match(/ECONNREFUSED/g)).toHaveLength(1);
        expect(tries()[0]).toContain(`127.0.0.1:${port}`);
        expect(service.stderr).not.toMatch(/hunter2|stack/);
        expect(await service.stop()).toEqual({ code: 0, signal: null });
      } finally {
        service.kill('SIGKILL');
        await service.ended();
      }
    },
    60_000,
  );
});

test('all in one that is stopped before its MongoDB is there ends without a word about Code Mode', async () => {
  const [port] = await freePorts(1);
  const service = start(
    'services/embedded/main.ts',
    `mongodb://127.0.0.1:${port}/x?serverSelectionTimeoutMS=50`,
  );
  let said = '';
  service.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until(() => said.includes('nothing runs until it does'));
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.stderr).not.toMatch(/Code Mode|"stack"/);
}, 60_000);

describe.runIf(mongoAvailable('a MongoDB that comes late and refuses'))('a start', () => {
  test('whose MongoDB comes late and refuses it for good ends, in one line that names the setting', async () => {
    const program = mongoProgram();
    if (program === undefined) throw new Error('mongoAvailable was not asked');
    const data = new Folder();
    const [port = 0] = await freePorts(1);
    const service = start(codeRun, `mongodb://u:hunter2@127.0.0.1:${port}/x?serverMonitoringMode=poll`);
    try {
      await service.ready();
      const server = await MongoServer.start(program, data.path, port);
      expect(await service.ended()).toEqual({ code: 2, signal: null });
      await server.stop();
      expect(ownLines(service)).toEqual([
        'code-run: CODE_RUN_STORE is refused by the server: the user or password in it is wrong (MongoDB error 18)',
      ]);
      expect(service.stderr).not.toMatch(/hunter2/);
    } finally {
      service.kill('SIGKILL');
      await service.ended();
      data.remove();
    }
  }, 60_000);
});

const operatorCommands = [
  ['runs', 'list', 's'],
  ['runs', 'show', randomUUID()],
  ['runs', 'cancel', randomUUID()],
  ['runs', 'delete', 's'],
  ['settings', 'get'],
  ['settings', 'set', 'enabled=true'],
  ['rotate'],
];

describe('a command on a MongoDB that is away', () => {
  test.each(operatorCommands)('ends in one line that names setting and host: %s %s', async (...args) => {
    const [port] = await freePorts(1);
    const url = `mongodb://u:hunter2@127.0.0.1:${port}/x?serverSelectionTimeoutMS=100`;
    const service = start(codeRun, url, args);
    expect(await service.ended()).toEqual({ code: 1, signal: null });
    expect(service.stderr).toMatch(
      new RegExp(
        `^code-run: CODE_RUN_STORE names 127\\.0\\.0\\.1:${port}, which cannot be used now: .*ECONNREFUSED.*\\n$`,
      ),
    );
    expect(service.stderr).not.toContain('hunter2');
  });

  test('ends within the time of the URL when the server takes connections and never answers', async () => {
    const server = await silentServer();
    try {
      const service = start(codeRun, `mongodb://u:hunter2@127.0.0.1:${server.port}/x`, ['settings', 'get']);
      expect(await service.ended()).toEqual({ code: 1, signal: null });
      expect(service.stderr).toMatch(
        new RegExp(
          `^code-run: CODE_RUN_STORE names 127\\.0\\.0\\.1:${server.port}, which cannot be used now: .*\\n$`,
        ),
      );
      expect(service.stderr).not.toContain('hunter2');
    } finally {
      server.stop();
    }
  });
});

test.each([
  [18, 'user or password'],
  [13, 'grant it readWrite'],
  [85, 'other indexes'],
])('what MongoDB refuses with error %d is refused for good', (code, advice) => {
  const opened = notOpened(unavailable(new MongoServerError({ code, errmsg: 'hunter2' })), 'h:1');
  expect(opened).toBeInstanceOf(StoreUnusable);
  expect(String(opened)).toContain(advice);
  expect(String(opened)).not.toContain('hunter2');
});

test('a MongoDB that steps down is away, not refused', () => {
  const opened = notOpened(unavailable(new MongoServerError({ code: 10107, errmsg: '' })), 'h:1');
  expect(opened).toBeInstanceOf(StoreUnavailable);
});
