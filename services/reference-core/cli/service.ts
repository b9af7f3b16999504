/** The CodeRunService that a command works with: one that runs somewhere, or all in one for this command. */
import { credentials } from '@grpc/grpc-js';
import { CodeRunService } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import {
  type GetStatusResponse,
  SandboxService,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { parseAddress } from '../../shared/address.ts';
import { createClient, openChannel } from '../../shared/grpc/client.ts';
import type { CodeRunClient } from '../client/attempt.ts';
import { accessTo, type Environment } from './access.ts';
import { CommandError, exitStatus } from './exit.ts';

export interface Service extends AsyncDisposable {
  readonly client: CodeRunClient;
}

/** A service that runs: "host:port", "dns:///name:port" or "unix:/path". */
export function connectService(address: string, environment: Environment = {}): Service {
  checkServer(address);
  const access = accessTo(address, environment);
  const channel = openChannel(address, access.credentials);
  return {
    client: createClient(CodeRunService, channel, access.headers),
    [Symbol.asyncDispose]: async () => channel.close(),
  };
}

function checkServer(address: string): void {
  if (/^dns:\/\/[^/]*\/[^/]+$/.test(address)) return;
  try {
    parseAddress(address);
  } catch (cause) {
    throw new CommandError(
      exitStatus.usage,
      `--server ${JSON.stringify(address)} must be host:port, dns:///name:port or unix:/path`,
      { cause },
    );
  }
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
