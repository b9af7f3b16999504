/** The all-in-one start as a real process, and clients to it. */
import { credentials } from '@grpc/grpc-js';
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';
import { Folder, Service } from '../edges/processes.ts';

export async function startEmbeddedProcess(environment: Record<string, string> = {}) {
  const folder = new Folder();
  const service = new Service(
    'services/embedded/main.ts',
    {
      CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
      CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
      CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`,
      CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
      CODE_RUN_DRAIN_MS: '0',
      SANDBOX_DRAIN_MS: '0',
      TMPDIR: folder.path,
      ...environment,
    },
    ['--json'],
  );
  const { grpcAddress, httpAddress, sandboxAddress } = await service.ready();
  const channel = openChannel(String(grpcAddress), credentials.createInsecure());
  return {
    folder,
    service,
    grpcAddress: String(grpcAddress),
    /** Path of the sandbox's socket. */
    sandboxSocket: String(sandboxAddress).replace(/^unix:/, ''),
    httpUrl: `http://${httpAddress}`,
    core: createClient(CodeRunService, channel),
    admin: createClient(SettingsService, channel),
    openCore() {
      const own = openChannel(String(grpcAddress), credentials.createInsecure());
      return { core: createClient(CodeRunService, own), close: () => own.close() };
    },
    async stop() {
      channel.close();
      const end = await service.stop();
      folder.remove();
      return end;
    },
  };
}

export type EmbeddedProcess = Awaited<ReturnType<typeof startEmbeddedProcess>>;
