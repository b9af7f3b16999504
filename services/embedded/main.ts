/**
 * Starts everything on this machine. When it listens, it says on standard output where; with --json in one
 * line of JSON. Logs go to standard error.
 */
import { parseArgs } from 'node:util';
import { readCodeRunConfig } from '../code-run/config.ts';
import { failWith } from '../shared/command.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { startEmbedded } from './embedded.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  // A person reads this terminal: only what matters is logged, unless asked for.
  const config = readCodeRunConfig({ environment: { CODE_RUN_LOG_LEVEL: 'warn', ...process.env } });
  const log = createLog({ service: 'embedded', level: config.logLevel });
  const embedded = await startEmbedded(config, sandboxEnvironment(config.logLevel), log);
  const { grpcAddress, httpAddress } = embedded.codeRun;
  const { turnedOn, enabled } = embedded;
  const ready = { ready: true, grpcAddress, httpAddress, codeMode: enabled };
  process.stdout.write(values.json ? `${JSON.stringify(ready)}\n` : greeting(ready, turnedOn));
  await untilToldToStop();
  await embedded.stop();
}

/** What the sandbox gets: its own settings, and nothing else of this environment. */
function sandboxEnvironment(logLevel: string): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('SANDBOX_') && value !== undefined ? [[name, value] as const] : [],
  );
  return { SANDBOX_LOG_LEVEL: logLevel, ...Object.fromEntries(own) };
}

function greeting(
  ready: { readonly grpcAddress: string; readonly httpAddress: string; readonly codeMode: boolean },
  turnedOn: boolean,
): string {
  const codeMode = turnedOn
    ? 'Code Mode was never set; this start turned it on.'
    : `Code Mode is ${ready.codeMode ? 'on' : 'off: turn it on in the settings'}.`;
  return [
    `gRPC  ${ready.grpcAddress}`,
    `HTTP  http://${ready.httpAddress}`,
    codeMode,
    'Everyone on this machine may use it; nobody else can reach it. Ctrl-C stops it.',
    '',
  ].join('\n');
}

main().then(
  () => process.exit(0),
  (error: unknown) => failWith('embedded', error),
);
