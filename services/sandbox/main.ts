/** The command of SandboxService. */
import { printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { printConfig } from '../shared/config-text.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { checkSandbox, readSandboxConfig, type SandboxConfig, sandboxTable } from './config.ts';

async function serve(config: SandboxConfig): Promise<void> {
  const log = createLog({ service: 'sandbox', level: config.logLevel });
  // Loaded only where it is used: --help and its kin answer faster.
  const { startSandbox } = await import('./server.ts');
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
    tables: [sandboxTable],
    read: readSandboxConfig,
    check: checkSandbox,
    show: (config) => printConfig(sandboxTable, config),
    serve,
  }),
);
