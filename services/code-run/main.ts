/** The command of CodeRunService: serves, or does what an operator asks on the same store. */
import { printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { addOperatorCommands } from './commands.ts';
import { type CodeRunConfig, codeRunTable, readCodeRunConfig } from './config.ts';
import { startCodeRun } from './server.ts';

async function serve(config: CodeRunConfig): Promise<void> {
  const log = createLog({ service: 'code-run', level: config.logLevel });
  const service = await startCodeRun(config, log);
  const { grpcAddress, httpAddress } = service;
  log.info({ grpcAddress, httpAddress }, 'listening');
  // Heard before anyone is told that it listens: who is told may stop it at once.
  const told = untilToldToStop();
  printReady({ grpcAddress, httpAddress });
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
  table: codeRunTable,
  read: readCodeRunConfig,
  serve,
});
addOperatorCommands(command);
await runCommand(command);
