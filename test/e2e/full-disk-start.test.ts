/** A SQLite store whose disk is full when the service starts: it is away, and comes back when there is room. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SqliteRows } from '../../services/code-run/store/sqlite/sqlite-rows.ts';
import { Folder, Service } from '../edges/processes.ts';
import { growthOf } from '../support/disk.ts';
import { until } from './proc.ts';

const codeRun = 'services/code-run/main.ts';
const keys = { CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}` };

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** A service whose files live in `folder`, run by a shell that has `"$@"` for it. */
function start(shell: string, args: readonly string[] = []): Service {
  const environment = {
    ...keys,
    CODE_RUN_STORE: `sqlite:${folder.path}/data/runs.db`,
    CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
    CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
    CODE_RUN_DRAIN_MS: '0',
  };
  return new Service(codeRun, environment, args, { inside: ['bash', '--norc', '-c', shell, 'bash'] });
}

/** Starts while there is no room, makes room, and says what it said meanwhile. */
async function startedWithoutRoom(service: Service, makeRoom: () => void): Promise<string> {
  try {
    const { httpAddress } = await service.ready();
    const get = async (path: string): Promise<[number, unknown]> => {
      const response = await fetch(`http://${httpAddress}${path}`);
      return [response.status, await response.json()];
    };
    expect(await get('/livez')).toEqual([200, { alive: true }]);
    expect(await get('/readyz')).toMatchObject([503, { store: false, missing: ['store', 'sandbox'] }]);
    expect(await get('/v1/platform/settings')).toMatchObject([503, {}]);
    await until(() => service.stderr.includes('the store does not answer'));
    makeRoom();
    await until(async () => JSON.stringify(await get('/readyz')).includes('"store":true'));
    expect(await get('/v1/platform/settings')).toMatchObject([200, { version: 0 }]);
    return service.stderr;
  } finally {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  }
}

describe.each(['new', 'known'])('a start with a %s SQLite file', (file) => {
  async function prepare(): Promise<void> {
    mkdirSync(join(folder.path, 'data'));
    if (file === 'known') {
      await new SqliteRows({ path: join(folder.path, 'data/runs.db'), durability: 'power' }).close();
    }
  }

  test('where no file may grow listens, and has its store when they may', async () => {
    await prepare();
    const service = start('ulimit -S -f 1 && exec "$@"');
    const said = await startedWithoutRoom(service, () => growthOf(service.pid, 'unlimited'));
    expect(said).toContain('runs.db, which cannot be opened now: disk I/O error');
  }, 60_000);

  const mounts = spawnSync('unshare', ['-rm', 'true']).status === 0;
  test.runIf(mounts)(
    'on a full disk listens, and has its store when there is room',
    async () => {
      await prepare();
      const { path } = folder;
      const service = start(
        `exec unshare -rm bash --norc -c 'set -e; mkdir ${path}/full; mount -t tmpfs -o size=1m tmpfs ${path}/full
          cp -r ${path}/data/. ${path}/full; mount --bind ${path}/full ${path}/data
          head -c 2M /dev/zero >${path}/data/spare 2>/dev/null || true; exec "$@"' bash "$@"`,
      );
      const said = await startedWithoutRoom(service, () =>
        rmSync(`/proc/${service.pid}/root${path}/data/spare`),
      );
      expect(said).toMatch(/which cannot be opened now: (database or disk is full|disk I\/O error)/);
    },
    60_000,
  );
});

test('a command on a disk that is full says that the store is away', async () => {
  mkdirSync(join(folder.path, 'data'));
  const service = start('ulimit -S -f 1 && exec "$@"', ['settings', 'get']);
  expect(await service.ended()).toEqual({ code: 1, signal: null });
  expect(service.stderr).toMatch(
    /^code-run: CODE_RUN_STORE names .*runs\.db, which cannot be opened now: disk I\/O error\n$/,
  );
});
