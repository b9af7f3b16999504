/**
 * Starts CodeRunService. When it listens, one line of JSON on standard output says so and where; logs go to
 * standard error.
 */
import { failWith } from '../shared/command.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { readCodeRunConfig } from './config.ts';
import { startCodeRun } from './server.ts';

async function main(): Promise<void> {
  const config = readCodeRunConfig({ environment: process.env });
  const log = createLog({ service: 'code-run', level: config.logLevel });
  const service = await startCodeRun(config, log);
  const { grpcAddress, httpAddress } = service;
  log.info({ grpcAddress, httpAddress }, 'listening');
  process.stdout.write(`${JSON.stringify({ ready: true, grpcAddress, httpAddress })}\n`);
  await untilToldToStop();
  log.info({}, 'draining');
  await service.stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => failWith('code-run', error),
);
