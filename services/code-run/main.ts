/** The command of CodeRunService: serves, or does what an operator asks on the same store. */
import { printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { printConfig } from '../shared/config-text.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { checkCodeRun } from './check.ts';
import { addOperatorCommands } from './commands.ts';
import { type CodeRunConfig, codeRunTable, readCodeRunConfig } from './config.ts';
import { storeName } from './store/open.ts';

async function serve(config: CodeRunConfig): Promise<void> {
  const log = createLog({ service: 'code-run', level: config.logLevel });
  // Loaded only where it is used: every other command answers faster.
  const { startCodeRun } = await import('./server.ts');
  const service = await startCodeRun(config, log);
  const { grpcAddress, httpAddress } = service;
  const store = storeName(config.store);
  log.info({ grpcAddress, httpAddress, store }, 'listening');
  // Heard before anyone is told that it listens: who is told may stop it at once.
  const told = untilToldToStop();
  printReady({ grpcAddress, httpAddress, store });
  try {
    await Promise.race([told, service.failed]);
  } finally {
    log.info({}, 'draining');
    await service.stop();
  }
}

const command = serviceCommand({
  name: 'code-run',
  description: 'Runs the JavaScript programs of AI agents: durable, replayable, in locked-down processes.',
  tables: [codeRunTable],
  read: readCodeRunConfig,
  check: checkCodeRun,
  show: (config) => printConfig(codeRunTable, config),
  serve,
});
addOperatorCommands(command);
await runCommand(command);
