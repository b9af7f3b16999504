/** Both services in this process, on a Unix socket and loopback ports, with a store in memory. */
import { credentials } from '@grpc/grpc-js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { readCodeRunConfig } from '../../services/code-run/config.ts';
import { startCodeRun } from '../../services/code-run/server.ts';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { type Log, silentLog } from '../../services/shared/log.ts';
import { Folder } from './processes.ts';

export async function startServices(environment: Record<string, string> = {}, log: Log = silentLog) {
  const folder = new Folder();
  const sandbox = await startSandbox(
    readSandboxConfig({
      environment: { SANDBOX_LISTEN: `unix:${folder.path}/sandbox.sock`, SANDBOX_DRAIN_MS: '0' },
    }),
    silentLog,
  );
  const codeRun = await startCodeRun(
    readCodeRunConfig({
      environment: {
        CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
        CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
        CODE_RUN_SANDBOX_ADDRESS: sandbox.address,
        CODE_RUN_STORE: 'sqlite::memory:',
        CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
        CODE_RUN_DRAIN_MS: '0',
        ...environment,
      },
    }),
    log,
  );
  const channel = openChannel(codeRun.grpcAddress, credentials.createInsecure());
  return {
    folder,
    sandbox,
    codeRun,
    grpcAddress: codeRun.grpcAddress,
    httpUrl: `http://${codeRun.httpAddress}`,
    core: createClient(CodeRunService, channel),
    admin: createClient(SettingsService, channel),
    async enable(): Promise<void> {
      const { version } = await codeRun.context.settings.read();
      await codeRun.context.settings.update(version, { enabled: true }, (name) => name);
    },
    async stop(): Promise<void> {
      channel.close();
      await codeRun.stop();
      await sandbox.stop();
      folder.remove();
    },
  };
}

export type Services = Awaited<ReturnType<typeof startServices>>;
