/**
 * Starts everything on this machine. When it listens, it says on standard output where; with --json in one
 * line of JSON. Logs go to standard error.
 */
import { type CodeRunConfig, codeRunTable, httpOff, readCodeRunConfig } from '../code-run/config.ts';
import { isLoopback, parseAddress } from '../shared/address.ts';
import { print, printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { ConfigError, type Sources } from '../shared/config.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { unreachable } from '../shared/unreachable.ts';
import { type CodeMode, startEmbedded } from './embedded.ts';

async function serve(config: CodeRunConfig): Promise<void> {
  const log = createLog({ service: 'embedded', level: config.logLevel });
  const embedded = await startEmbedded(config, sandboxEnvironment(config.logLevel), log);
  const { grpcAddress, httpAddress } = embedded.codeRun;
  const { sandboxAddress, codeMode, whenKnown } = embedded;
  const { locked, missing } = embedded.lock;
  const ready = { grpcAddress, httpAddress, sandboxAddress, locked, missing };
  const json = command.opts()['json'] === true;
  // Heard before anyone is told that it listens: who is told may stop it at once.
  const told = untilToldToStop();
  if (json) printReady({ ...ready, store: codeMode !== undefined, codeMode: isOn(codeMode) });
  else print(greeting(ready, codeMode));
  if (codeMode === undefined && !json) {
    whenKnown.then(
      (known) => print(codeModeLine(known)),
      (error: unknown) => log.warn({ err: error }, 'whether Code Mode is on is not known'),
    );
  }
  try {
    await Promise.race([told, embedded.codeRun.failed]);
  } finally {
    await embedded.stop();
  }
}

function isOn(codeMode: CodeMode | undefined): boolean {
  return codeMode === 'on' || codeMode === 'turned on';
}

/** A person reads this terminal: only what matters is logged, unless asked for. */
function readEmbeddedConfig(sources: Omit<Sources, 'prefix'>): CodeRunConfig {
  const environment = { CODE_RUN_LOG_LEVEL: 'warn', ...sources.environment };
  const config = readCodeRunConfig({ ...sources, environment });
  for (const address of [config.grpcAddress, config.httpAddress]) {
    if (address !== httpOff && !isLoopback(parseAddress(address))) {
      throw new ConfigError([
        `${address} is not on loopback: the all-in-one start serves this machine alone`,
      ]);
    }
  }
  return config;
}

/** What the sandbox gets: its own settings and those of traces, and nothing else of this environment. */
function sandboxEnvironment(logLevel: string): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    /^(SANDBOX|OTEL)_/.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return { SANDBOX_LOG_LEVEL: logLevel, ...Object.fromEntries(own) };
}

function greeting(
  ready: {
    readonly grpcAddress: string;
    readonly httpAddress: string | undefined;
    readonly sandboxAddress: string;
    readonly locked: boolean;
    readonly missing: readonly string[];
  },
  codeMode: CodeMode | undefined,
): string {
  return [
    `gRPC     ${ready.grpcAddress}`,
    `HTTP     ${ready.httpAddress === undefined ? 'off' : `http://${ready.httpAddress}`}`,
    `Sandbox  ${ready.sandboxAddress}`,
    `Lock     ${ready.locked ? 'locked' : `not locked, for want of ${ready.missing.join(', ')}`}`,
    codeModeLine(codeMode),
    'Everyone on this machine may use it; nobody else can reach it. Ctrl-C stops it.',
  ].join('\n');
}

function codeModeLine(codeMode: CodeMode | undefined): string {
  switch (codeMode) {
    case undefined:
      return 'The store does not answer yet: nothing runs until it does.';
    case 'turned on':
      return 'Code Mode was never set; this start turned it on.';
    case 'on':
      return 'Code Mode is on.';
    case 'off':
      return 'Code Mode is off: turn it on in the settings.';
    default:
      return unreachable(codeMode);
  }
}

const command = serviceCommand({
  name: 'embedded',
  description: 'Starts everything on this machine: CodeRunService, a SandboxService and a SQLite store.',
  table: codeRunTable,
  read: readEmbeddedConfig,
  serve,
}).option('--json', 'say where it listens in one line of JSON');
await runCommand(command);
