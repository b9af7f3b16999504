/** Services start in any order: CodeRunService waits for its store, and serves once the sandbox is there too. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { play, start } from '../edges/core.ts';
import { Folder, Service } from '../edges/processes.ts';
import { mongoAvailable } from '../support/mongo.ts';
import { freePorts } from './ports.ts';
import { until } from './proc.ts';

describe.runIf(mongoAvailable('services that start before their store'))('CodeRunService', () => {
  test('starts before its store and its sandbox, and serves when both are there', async () => {
    const program = mongoProgram();
    if (program === undefined) throw new Error('mongoAvailable was not asked');
    const folder = new Folder();
    const [storePort = 0, sandboxPort = 0] = await freePorts(2);
    const keys = { CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}` };
    const store = { CODE_RUN_STORE: `mongodb://127.0.0.1:${storePort}/code_mode?serverMonitoringMode=poll` };
    const codeRun = new Service('services/code-run/main.ts', {
      ...keys,
      ...store,
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
      CODE_RUN_SANDBOX_ADDRESS: `127.0.0.1:${sandboxPort}`,
    });
    let server: MongoServer | undefined;
    let sandbox: Service | undefined;
    try {
      const { grpcAddress, httpAddress } = await codeRun.ready();
      const readiness = async () =>
        (await (await fetch(`http://${httpAddress}/readyz`)).json()) as { store: boolean; missing: string[] };
      expect(await readiness()).toMatchObject({ missing: ['store', 'sandbox'] });
      await until(() => codeRun.stderr.includes('the store does not answer'));
      server = await MongoServer.start(program, join(folder.path, 'mongo'), storePort);
      await until(async () => (await readiness()).store);
      expect(await readiness()).toMatchObject({ missing: ['sandbox'] });
      sandbox = new Service('services/sandbox/main.ts', {
        SANDBOX_LISTEN: `127.0.0.1:${sandboxPort}`,
        SANDBOX_LOCK: 'development',
      });
      await sandbox.ready();
      await until(async () => (await readiness()).missing.length === 0);
      const set = new Service('services/code-run/main.ts', { ...keys, ...store }, [
        'settings',
        'set',
        'enabled=true',
      ]);
      expect(await set.ended()).toEqual({ code: 0, signal: null });
      const channel = openChannel(String(grpcAddress), credentials.createInsecure());
      const { last } = await play(createClient(CodeRunService, channel), start('return 1'), () => undefined);
      channel.close();
      expect(last.case).toBe('finished');
    } finally {
      await codeRun.stop();
      await sandbox?.stop();
      await server?.stop();
      folder.remove();
    }
  }, 120_000);
});
