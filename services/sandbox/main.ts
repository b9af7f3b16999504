/**
 * Starts SandboxService. When it listens, one line of JSON on standard output says so and where; logs go to
 * standard error.
 */
import { createLog } from '../shared/log.ts';
import { readConfig, type SandboxConfig } from './config.ts';
import { type RunningSandbox, startSandbox } from './server.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ service: 'sandbox', level: config.logLevel });
  const sandbox = await startSandbox(config, log);
  log.info({ address: sandbox.address }, 'listening');
  process.stdout.write(`${JSON.stringify({ ready: true, address: sandbox.address })}\n`);
  await untilTold(config);
  log.info({}, 'draining');
  await stop(sandbox);
}

/** Resolves when the process should end. */
function untilTold(config: SandboxConfig): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    if (config.exitWithStdin) process.stdin.once('end', () => resolve()).resume();
  });
}

async function stop(sandbox: RunningSandbox): Promise<void> {
  await sandbox.stop();
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
