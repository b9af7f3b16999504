/**
 * The command line that every service has: --config, --print-config, --version, and --help with its settings.
 *
 * M1  Settings are checked in one way: what --print-config prints, a start takes.
 * M2  What is wrong with a command or with the settings ends it with status 2, anything else with 1.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { ConfigError, type Table } from './config.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import type { Sources } from './config-reader.ts';
import { describeConfig } from './config-text.ts';
import { AppError } from './errors.ts';
import { nearest } from './nearest.ts';
import { isTelemetryName, isTracing, printTelemetry, telemetryProblems } from './telemetry-config.ts';

export interface ServiceCommand<C> {
  readonly name: string;
  readonly description: string;
  /** For --help. */
  readonly tables: readonly Table[];
  /** Reads the settings. Throws ConfigError. */
  readonly read: (sources: Sources) => C;
  /** Looks at what the settings name: files, folders, keys. Throws ConfigError. */
  readonly check: (config: C) => void | Promise<void>;
  /** The settings in force, as lines of a file. */
  readonly show: (config: C) => string;
  /** Serves until the process is told to stop. */
  readonly serve: (config: C) => Promise<void>;
}

/** How a service ends, as --help lists it. */
const exitStatus = { done: 0, failed: 1, usage: 2 } as const;

const moreHelp = `
Traces are sent where OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, names a collector.

Exit status:
  0  it was done, or stopped as it was told
  1  it could not be done
  2  the command or a setting is wrong`;

/** The command of a service; more commands may be added to it. `runCommand` runs it and ends the process. */
export function serviceCommand<C>(service: ServiceCommand<C>): Command {
  const settings = service.tables.map(describeConfig).join('\n');
  const command = new Command(service.name)
    .description(service.description)
    .version(productVersion())
    .option('--config <file>', 'file of NAME=value lines; the environment wins over it', once)
    .option('--print-config', 'print the settings in force, secrets masked, and exit')
    .addHelpText('after', `\nSettings, from the environment or the file:\n${settings}\n${moreHelp}`)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, `${service.name}: `)),
    })
    .hook('preAction', (_, action) => {
      if (action === command || command.opts()['printConfig'] !== true) return;
      command.error('error: --print-config stands without a command');
    })
    .action(async () => {
      const [word] = command.args;
      if (word !== undefined) command.error(unknownWord(command, word));
      const config = await settingsOf(command, service);
      if (command.opts()['printConfig'] === true) {
        print([service.show(config), ...printTelemetry(process.env)].join('\n'));
      } else {
        await traced(service.name, () => service.serve(config));
      }
    });
  return command;
}

/** The settings, read and checked, as the options of the command say. Throws ConfigError. */
export async function settingsOf<C>(
  command: Command,
  { read, check }: Pick<ServiceCommand<C>, 'read' | 'check'>,
): Promise<C> {
  const path: unknown = command.opts()['config'];
  const file = typeof path === 'string' ? readConfigFile(path) : undefined;
  if (file !== undefined) exportTelemetry(file);
  const config = read({ environment: process.env, ...(file === undefined ? {} : { file }) });
  const problems = telemetryProblems(process.env);
  if (problems.length > 0) throw new ConfigError(problems);
  await check(config);
  return config;
}

/** Its libraries read the environment alone. */
function exportTelemetry({ entries }: ConfigFile): void {
  for (const { name, value } of entries) {
    if (isTelemetryName(name)) process.env[name] ??= value;
  }
}

/** Serves with traces where the standard variables name a collector. */
async function traced(name: string, serve: () => Promise<void>): Promise<void> {
  if (!isTracing(process.env)) return await serve();
  const { startTracing } = await import('./telemetry-sdk.ts');
  const stopTracing = startTracing(name, productVersion());
  try {
    await serve();
  } finally {
    await stopTracing();
  }
}

/** Runs a command to its end; one line a problem on standard error when it cannot go on. */
export async function runCommand(command: Command): Promise<never> {
  try {
    await command.allowExcessArguments().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError)
      process.exit(error.exitCode === 0 ? exitStatus.done : exitStatus.usage);
    for (const problem of problemsOf(error)) process.stderr.write(`${command.name()}: ${problem}\n`);
    process.exit(isUsage(error) ? exitStatus.usage : exitStatus.failed);
  }
  process.exit(process.exitCode ?? exitStatus.done);
}

/** For a command that went on to its end, but did not do all that it was asked. */
export function endAsFailed(): void {
  process.exitCode = exitStatus.failed;
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The line that says where a service listens, for parents and scripts. */
export function printReady(fields: Readonly<Record<string, unknown>>): void {
  print(JSON.stringify({ ready: true, ...fields }));
}

export function productVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}

/** The value of an option that stands at most once: of two, one would be lost in silence. */
function once(value: string, previous: string | undefined): string {
  if (previous !== undefined) throw new InvalidArgumentError('It may be given once.');
  return value;
}

function unknownWord(command: Command, word: string): string {
  const names = command.commands.map((each) => each.name());
  if (names.length === 0) return `error: unexpected argument '${word}'`;
  const [near] = nearest(word, names, 1);
  return `error: unknown command '${word}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`;
}

function isUsage(error: unknown): boolean {
  if (error instanceof ConfigError) return true;
  return error instanceof AppError && (error.code === 'INVALID_ARGUMENT' || error.code === 'NOT_FOUND');
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  return [error instanceof Error ? error.message : String(error)];
}
