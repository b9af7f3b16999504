/**
 * Both services for the process that starts them alone: on a socket that only this user can reach, runs in
 * memory, under a key that is nowhere else. Leaves nothing behind.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readCodeRunConfig } from '../code-run/config.ts';
import { createLog } from '../shared/log.ts';
import { type Embedded, startEmbedded } from './embedded.ts';
import { makeSocketFolder } from './socket-folder.ts';

export interface PrivateServices {
  /** Where CodeRunService serves gRPC: "unix:/path". */
  readonly address: string;
  readonly embedded: Embedded;
  stop(): Promise<void>;
}

export async function startPrivate(): Promise<PrivateServices> {
  const folder = await makeSocketFolder();
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const address = `unix:${join(folder, 'code-run.sock')}`;
    const config = readCodeRunConfig({
      environment: {
        CODE_RUN_GRPC_ADDRESS: address,
        CODE_RUN_HTTP_ADDRESS: 'off',
        CODE_RUN_STORE: 'sqlite::memory:',
        CODE_RUN_KEYS: `private:${randomBytes(32).toString('base64')}`,
        CODE_RUN_LOG_LEVEL: 'error',
        // Whoever stops this has ended its runs or gives them up.
        CODE_RUN_DRAIN_MS: '0',
      },
    });
    const log = createLog({ service: 'code-mode', level: config.logLevel });
    const embedded = await startEmbedded(config, { SANDBOX_LOG_LEVEL: config.logLevel }, log);
    const stop = async () => {
      await embedded.stop();
      await remove();
    };
    return { address, embedded, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}
