/**
 * Settings of the all-in-one start: those of both services, in one environment and one file, without those that it
 * decides itself (how the two reach each other), and with the defaults of a machine where someone tries things out.
 */
import {
  type CodeRunConfig,
  codeRunPrefix,
  codeRunRelations,
  codeRunTable,
  httpOff,
} from '../code-run/config.ts';
import { type SandboxConfig, sandboxPrefix, sandboxRelations, sandboxTable } from '../sandbox/config.ts';
import { isLoopback, parseAddress } from '../shared/address.ts';
import { startingAs, type Variable, without } from '../shared/config.ts';
import { ConfigReader, type Sources } from '../shared/config-reader.ts';
import { environmentOf, printConfig } from '../shared/config-text.ts';

/** A person reads this terminal: only what matters is logged, unless asked for. */
export const embeddedCodeRunTable = {
  ...without(
    codeRunTable,
    'sandboxAddress',
    'sandboxTlsCertFile',
    'sandboxTlsKeyFile',
    'sandboxTlsCaFile',
    'sandboxTlsName',
  ),
  logLevel: startingAs(codeRunTable.logLevel, 'warn'),
};

const sandboxLogLevel: Variable<SandboxConfig['logLevel'] | undefined> = {
  ...sandboxTable.logLevel,
  what: 'What the sandbox logs. Not set: as CODE_RUN_LOG_LEVEL.',
  initial: undefined,
  fallback: undefined,
};

export const embeddedSandboxTable = {
  ...without(
    sandboxTable,
    'listen',
    'exitWithStdin',
    'tlsCertFile',
    'tlsKeyFile',
    'tlsClientCaFile',
    'tlsClientNames',
  ),
  // On loopback the first minutes should work on every host; what is missing of the lock is warned of.
  lock: startingAs(sandboxTable.lock, 'development'),
  logLevel: sandboxLogLevel,
};

export interface EmbeddedConfig {
  /** Its address of the sandbox is not used. */
  readonly codeRun: CodeRunConfig;
  /** Settings of the sandbox, for its process. */
  readonly sandboxEnvironment: Readonly<Record<string, string>>;
  /** The settings in force, as lines of a file. */
  readonly text: string;
}

/** Throws ConfigError. */
export function readEmbeddedConfig(sources: Sources): EmbeddedConfig {
  const reader = new ConfigReader(sources, [
    { table: embeddedCodeRunTable, prefix: codeRunPrefix },
    { table: embeddedSandboxTable, prefix: sandboxPrefix },
  ]);
  const own = reader.values(embeddedCodeRunTable);
  const sandbox = reader.values(embeddedSandboxTable);
  const codeRun: CodeRunConfig = {
    ...own,
    sandboxAddress: codeRunTable.sandboxAddress.fallback,
    sandboxTlsCertFile: undefined,
    sandboxTlsKeyFile: undefined,
    sandboxTlsCaFile: undefined,
    sandboxTlsName: undefined,
    storeSetting: reader.nameOf(embeddedCodeRunTable.store),
    // There is one instance, this one.
    makesKeyFile: true,
  };
  const logLevel = sandbox.logLevel ?? codeRun.logLevel;
  reader.relate(() => [
    ...notOnLoopback(codeRun),
    ...codeRunRelations(codeRun),
    ...sandboxRelations({ ...unused, ...sandbox, logLevel }),
  ]);
  reader.finish();
  return {
    codeRun,
    sandboxEnvironment: environmentOf(embeddedSandboxTable, { ...sandbox, logLevel }),
    text: [printConfig(embeddedCodeRunTable, own), printConfig(embeddedSandboxTable, sandbox)].join('\n'),
  };
}

/** The sandbox stands behind a socket of its own, which only this user can reach. */
const unused = {
  listen: 'unix:/own/socket',
  exitWithStdin: true,
  tlsCertFile: undefined,
  tlsKeyFile: undefined,
  tlsClientCaFile: undefined,
  tlsClientNames: undefined,
};

function notOnLoopback({ grpcAddress, httpAddress }: CodeRunConfig): string[] {
  return Object.entries({ CODE_RUN_GRPC_ADDRESS: grpcAddress, CODE_RUN_HTTP_ADDRESS: httpAddress })
    .filter(([, address]) => address !== httpOff && !isLoopback(parseAddress(address)))
    .map(([name]) => `${name} must be on loopback: the all-in-one start serves this machine alone`);
}
