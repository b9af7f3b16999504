/**
 * Starts everything on this machine. When it listens, it says on standard output where; with --json in one
 * line of JSON. Logs go to standard error.
 */
import { checkCodeRun } from '../code-run/check.ts';
import { storeName } from '../code-run/store/open.ts';
import { print, printReady, runCommand, serviceCommand } from '../shared/command.ts';
import { createLog } from '../shared/log.ts';
import { untilToldToStop } from '../shared/process.ts';
import { isTelemetryName } from '../shared/telemetry-config.ts';
import { unreachable } from '../shared/unreachable.ts';
import {
  type EmbeddedConfig,
  embeddedCodeRunTable,
  embeddedSandboxTable,
  readEmbeddedConfig,
} from './config.ts';
import type { CodeMode } from './embedded.ts';

async function serve({ codeRun, sandboxEnvironment }: EmbeddedConfig): Promise<void> {
  const log = createLog({ service: 'embedded', level: codeRun.logLevel });
  const environment = { ...telemetryEnvironment(), ...sandboxEnvironment };
  // Loaded only where it is used: --help and its kin answer faster.
  const { startEmbedded } = await import('./embedded.ts');
  const embedded = await startEmbedded(codeRun, environment, log);
  const { grpcAddress, httpAddress } = embedded.codeRun;
  const { sandboxAddress, codeMode, whenKnown } = embedded;
  const { locked, missing } = embedded.lock;
  const store = storeName(codeRun.store);
  const ready = { grpcAddress, httpAddress, sandboxAddress, store, locked, missing };
  const json = command.opts()['json'] === true;
  // Heard before anyone is told that it listens: who is told may stop it at once.
  const told = untilToldToStop();
  if (json) printReady({ ...ready, storeReady: codeMode !== undefined, codeMode: isOn(codeMode) });
  else print(greeting(ready, codeMode));
  let stopping = false;
  if (codeMode === undefined && !json) {
    whenKnown.then(
      (known) => print(codeModeLine(known)),
      (error: unknown) => {
        if (!stopping) log.warn({ err: error }, 'whether Code Mode is on is not known');
      },
    );
  }
  try {
    await Promise.race([told, embedded.codeRun.failed]);
  } finally {
    stopping = true;
    await embedded.stop();
  }
}

function isOn(codeMode: CodeMode | undefined): boolean {
  return codeMode === 'on' || codeMode === 'turned on';
}

/** Of this environment the sandbox gets what traces need, and nothing else. */
function telemetryEnvironment(): Record<string, string> {
  const given = Object.entries(process.env).flatMap(([name, value]) =>
    isTelemetryName(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return Object.fromEntries(given);
}

function greeting(
  ready: {
    readonly grpcAddress: string;
    readonly httpAddress: string | undefined;
    readonly sandboxAddress: string;
    readonly store: string;
    readonly locked: boolean;
    readonly missing: readonly string[];
  },
  codeMode: CodeMode | undefined,
): string {
  return [
    `gRPC     ${ready.grpcAddress}`,
    `HTTP     ${ready.httpAddress === undefined ? 'off' : `http://${ready.httpAddress}`}`,
    `Sandbox  ${ready.sandboxAddress}`,
    `Store    ${ready.store}`,
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
  description:
    'Starts everything on this machine: CodeRunService, a SandboxService and a store, SQLite by default.',
  tables: [embeddedCodeRunTable, embeddedSandboxTable],
  read: readEmbeddedConfig,
  check: ({ codeRun }) => checkCodeRun(codeRun),
  show: ({ text }) => text,
  serve,
}).option('--json', 'say where it listens in one line of JSON');
await runCommand(command);
