/** A real SandboxService in this process on a Unix socket, and the runner's client to it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { SandboxClient, sandboxClientDefaults } from '../../services/code-run/runner/sandbox-client.ts';
import { readSandboxConfig } from '../../services/sandbox/config.ts';
import { startSandbox } from '../../services/sandbox/server.ts';
import { silentLog } from '../../services/shared/log.ts';

export interface RealSandbox {
  readonly client: SandboxClient;
  stop(): Promise<void>;
}

export async function startRealSandbox(env: Record<string, string> = {}): Promise<RealSandbox> {
  const folder = mkdtempSync(path.join(tmpdir(), 'runner-sandbox-'));
  const config = readSandboxConfig({
    environment: { SANDBOX_LISTEN: `unix:${folder}/s`, SANDBOX_DRAIN_MS: '0', ...env },
  });
  const sandbox = await startSandbox(config, silentLog);
  const client = new SandboxClient(
    { address: sandbox.address, ...sandboxClientDefaults },
    credentials.createInsecure(),
  );
  return {
    client,
    async stop() {
      client.close();
      await sandbox.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
