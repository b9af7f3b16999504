/** The command line that every service has: --config, --print-config, --version, and --help with its settings. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { ConfigError, describeConfig, printConfig, type Sources, type Table, type Values } from './config.ts';

export interface ServiceCommand<S extends Table> {
  readonly name: string;
  readonly description: string;
  readonly table: S;
  /** Reads and checks the settings. Throws ConfigError. */
  readonly read: (sources: Omit<Sources, 'prefix'>) => Values<S>;
  /** Serves until the process is told to stop. */
  readonly serve: (config: Values<S>) => Promise<void>;
}

/** The command of a service; more commands may be added to it. `parse` runs it and ends the process. */
export function serviceCommand<S extends Table>(service: ServiceCommand<S>): Command {
  const command = new Command(service.name)
    .description(service.description)
    .version(productVersion())
    .option('--config <file>', 'file of NAME=value lines; the environment wins over it')
    .option('--print-config', 'print the settings in force, secrets masked, and exit')
    .addHelpText('after', `\nSettings, from the environment or the file:\n${describeConfig(service.table)}`)
    .action(async () => {
      const config = service.read(sourcesOf(command));
      if (command.opts()['printConfig'] === true) print(printConfig(service.table, config));
      else await traced(service.name, () => service.serve(config));
    });
  return command;
}

/** Serves with traces where the standard variables name a collector. */
async function traced(name: string, serve: () => Promise<void>): Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
  if (OTEL_EXPORTER_OTLP_ENDPOINT === undefined && OTEL_EXPORTER_OTLP_TRACES_ENDPOINT === undefined) {
    return await serve();
  }
  const { startTracing } = await import('./telemetry-sdk.ts');
  const stopTracing = startTracing(name, productVersion());
  try {
    await serve();
  } finally {
    await stopTracing();
  }
}

/** Where the settings come from, as the options of the command say. */
export function sourcesOf(command: Command): Omit<Sources, 'prefix'> {
  const file: unknown = command.opts()['config'];
  return { environment: process.env, ...(typeof file === 'string' ? { file } : {}) };
}

/** Runs a command to its end; one line a problem on standard error, and code 1, when it cannot go on. */
export async function runCommand(command: Command): Promise<never> {
  try {
    await command.parseAsync();
  } catch (error) {
    for (const problem of problemsOf(error)) process.stderr.write(`${command.name()}: ${problem}\n`);
    process.exit(1);
  }
  process.exit(0);
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

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  return [error instanceof Error ? error.message : String(error)];
}
