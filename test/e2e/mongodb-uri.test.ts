/** `MONGODB_URI` alone makes the services keep their runs in MongoDB, and so does the line that `make mongo` prints. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { play, start } from '../edges/core.ts';
import { Folder, Service } from '../edges/processes.ts';
import { mongoAvailable, startMongo } from '../support/mongo.ts';

describe.runIf(mongoAvailable('a start with MONGODB_URI'))('MONGODB_URI', () => {
  test('is where runs are kept, by the services and by the commands of an operator', async () => {
    const folder = new Folder();
    const mongo = await startMongo();
    const cwd = join(folder.path, 'here');
    mkdirSync(cwd);
    const store = { MONGODB_URI: withOptions(mongo.url) };
    const place = { cwd };
    const embedded = new Service(
      'services/embedded/main.ts',
      {
        ...store,
        CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
        CODE_RUN_HTTP_ADDRESS: 'off',
        CODE_RUN_DRAIN_MS: '0',
        SANDBOX_DRAIN_MS: '0',
        TMPDIR: folder.path,
      },
      ['--json'],
      place,
    );
    try {
      const ready = await embedded.ready();
      expect(ready['store']).toBe(mongo.url.replace(/\?.*/, ''));
      const channel = openChannel(String(ready['grpcAddress']), credentials.createInsecure());
      const core = createClient(CodeRunService, channel);
      const { last } = await play(core, start('return 1', { session: 'in-mongo' }), () => undefined);
      channel.close();
      expect(last.case).toBe('finished');
      expect(await rowsIn(mongo.url)).toEqual(['in-mongo Completed']);
      // The development start makes its own key, and no database beside.
      expect(readdirSync(join(cwd, '.data'))).toEqual(['code-runs.keys']);

      const listed = new Service('services/code-run/main.ts', store, ['runs', 'list', 'in-mongo'], place);
      listed.child.stdout?.setEncoding('utf8');
      const [line] = (await listed.child.stdout?.toArray()) ?? [];
      expect(await listed.ended()).toEqual({ code: 0, signal: null });
      expect(JSON.parse(String(line))).toMatchObject({ session: 'in-mongo', status: 'Completed' });
    } finally {
      await embedded.stop();
      await mongo.stop();
      folder.remove();
    }
    expect(existsSync(folder.path)).toBe(false);
  }, 120_000);
});

/** The servers of tests want to be asked, not to call back. */
function withOptions(url: string): string {
  return url.includes('?') ? url : `${url}?serverMonitoringMode=poll`;
}

async function rowsIn(url: string): Promise<string[]> {
  const client = await MongoClient.connect(withOptions(url));
  try {
    const rows = await client.db().collection('code_runs').find().toArray();
    return rows.map((row) => `${row['session']} ${row['status']}`);
  } finally {
    await client.close();
  }
}

test('the lines of make mongo and of the guides are the same', () => {
  const line = 'MONGODB_URI=mongodb://127.0.0.1:27017/code_mode make start';
  const root = join(import.meta.dirname, '../..');
  for (const file of ['README.md', 'docs/storage.md', 'docs/operating.md']) {
    expect(readFileSync(join(root, file), 'utf8'), file).toContain(line);
  }
  const [address = ''] = line.split('27017');
  expect(readFileSync(join(root, 'tools/mongo/start.ts'), 'utf8')).toContain(address);
});
