/** The command of SandboxService. */
import { printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { readSandboxConfig, type SandboxConfig, sandboxTable } from './config.ts';
import { startSandbox } from './server.ts';

async function serve(config: SandboxConfig): Promise<void> {
  const log = createLog({ service: 'sandbox', level: config.logLevel });
  const sandbox = await startSandbox(config, log);
  const { address, locked, missing } = sandbox;
  log.info({ address, locked }, 'listening');
  // Heard before anyone is told that it listens: who is told may stop it at once.
  const told = untilToldToStop({ withStdin: config.exitWithStdin });
  printReady({ address, locked, missing });
  await told;
  log.info({}, 'draining');
  await sandbox.stop();
}

await runCommand(
  serviceCommand({
    name: 'sandbox',
    description: 'Runs programs, each in a fresh, locked process. CodeRunService is its caller.',
    table: sandboxTable,
    read: readSandboxConfig,
    serve,
  }),
);
