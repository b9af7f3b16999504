/** The CodeRunService that a command works with: one that runs somewhere, or all in one for this command. */
import { credentials } from '@grpc/grpc-js';
import { CodeRunService } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import {
  type GetStatusResponse,
  SandboxService,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { createClient, openChannel } from '../../shared/grpc/client.ts';
import type { CodeRunClient } from '../client/attempt.ts';
import { accessTo, type Environment } from './access.ts';

export interface Service extends AsyncDisposable {
  readonly client: CodeRunClient;
}

/** A service that runs: "host:port" or "unix:/path". */
export function connectService(address: string, environment: Environment = {}): Service {
  const access = accessTo(address, environment);
  const channel = openChannel(address, access.credentials);
  return {
    client: createClient(CodeRunService, channel, access.headers),
    [Symbol.asyncDispose]: async () => channel.close(),
  };
}

export interface OwnServices extends Service {
  /** How well programs are locked in on this machine. */
  sandboxStatus(): Promise<GetStatusResponse>;
}

/** Both services for this command alone. */
export async function startService(): Promise<OwnServices> {
  // Loaded only where it is needed: a command that speaks to a service elsewhere starts faster.
  const { startPrivate } = await import('../../embedded/private.ts');
  const services = await startPrivate();
  const { client, ...connection } = connectService(services.address);
  return {
    client,
    async sandboxStatus() {
      const channel = openChannel(services.embedded.sandboxAddress, credentials.createInsecure());
      try {
        return await createClient(SandboxService, channel).getStatus({});
      } finally {
        channel.close();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await services.stop();
    },
  };
}
