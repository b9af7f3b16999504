/** A store that can never be used ends the start in one line; one that is away is waited for, in one line a try. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoServerError } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { StoreUnavailable, StoreUnusable } from '../../services/code-run/store/contract.ts';
import { notOpened, unavailable } from '../../services/code-run/store/mongodb/failures.ts';
import { Folder, Service } from '../edges/processes.ts';
import { freePorts } from './ports.ts';
import { until } from './proc.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const noise = join(folder.path, 'noise.db');
writeFileSync(noise, randomBytes(8192));
writeFileSync(join(folder.path, 'plain'), 'no folder');

const keysFile = join(folder.path, 'keys/code-runs.keys');

function start(script: string, store: string): Service {
  return new Service(script, {
    CODE_RUN_STORE: store,
    CODE_RUN_KEYS_FILE: keysFile,
    CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
    CODE_RUN_HTTP_ADDRESS: 'off',
    SANDBOX_DRAIN_MS: '0',
    TMPDIR: folder.path,
  });
}

const codeRun = 'services/code-run/main.ts';

describe('a start', () => {
  test.each([
    ['a path that cannot be made', codeRun, 'sqlite:/proc/nope/x.db', /name a file/],
    ['a path under a file', codeRun, `sqlite:${folder.path}/plain/x.db`, /name a file/],
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
      expect(await service.ended()).toEqual({ code: 1, signal: null });
      const own = service.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      expect(own).toHaveLength(1);
      expect(own[0]).toMatch(/^(code-run|embedded): CODE_RUN_STORE /);
      expect(own[0]).toMatch(reason);
      expect(service.stderr).not.toMatch(/the store does not answer|hunter2|"stack"/);
      expect(existsSync(keysFile)).toBe(false);
      expect(readdirSync(folder.path).sort()).toEqual(['noise.db', 'plain']);
    },
    30_000,
  );

  test('whose MongoDB is away says so in one line a try, without stack and password', async () => {
    const [port] = await freePorts(1);
    const service = start(codeRun, `mongodb://u:hunter2@127.0.0.1:${port}/x?serverSelectionTimeoutMS=50`);
    try {
      const tries = () => service.stderr.split('\n').filter((line) => line.includes('does not answer'));
      await until(() => tries().length >= 3);
      expect(JSON.parse(tries()[0] ?? '')).toMatchObject({ setting: 'CODE_RUN_STORE', level: 40 });
      expect(tries()[0]?.match(/ECONNREFUSED/g)).toHaveLength(1);
      expect(service.stderr).not.toMatch(/hunter2|stack/);
    } finally {
      service.kill('SIGKILL');
      await service.ended();
    }
  }, 30_000);
});

test.each([
  [18, 'user or password'],
  [13, 'grant it readWrite'],
  [85, 'other indexes'],
])('what MongoDB refuses with error %d is refused for good', (code, advice) => {
  const opened = notOpened(unavailable(new MongoServerError({ code, errmsg: 'hunter2' })));
  expect(opened).toBeInstanceOf(StoreUnusable);
  expect(String(opened)).toContain(advice);
  expect(String(opened)).not.toContain('hunter2');
});

test('a MongoDB that steps down is away, not refused', () => {
  const opened = notOpened(unavailable(new MongoServerError({ code: 10107, errmsg: '' })));
  expect(opened).toBeInstanceOf(StoreUnavailable);
});
