/** The commands of the command line. */
import type { Readable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import { RpcError } from '../../shared/grpc/status.ts';
import { allowAll } from '../operations/decider.ts';
import { describe } from './api.ts';
import { runDemo } from './demo.ts';
import { CommandError, type ExitStatus, exitStatus } from './exit.ts';
import { readProgram, readServers } from './input.ts';
import { runProgram } from './run.ts';
import { connectService, startService } from './service.ts';
import { type Sink, Terminal } from './terminal.ts';

/** What a command reads and writes. */
export interface Streams {
  readonly input: Readable;
  readonly out: Sink;
  readonly err: Sink;
}

interface CommonOptions {
  readonly config?: string;
  readonly server?: string;
}

interface RunCommandOptions extends CommonOptions {
  readonly eval?: string;
  readonly reason: string;
  readonly json?: boolean;
  readonly calls?: boolean;
}

const exitHelp = `
Exit status:
  0  the program returned
  1  the run failed or was cancelled
  2  the command or a configuration is wrong
  3  a service or an app could not be reached
  4  the run waits for a decision, and there is nobody to ask`;

function createCommand(streams: Streams, signal: AbortSignal, end: (status: ExitStatus) => void): Command {
  const terminal = new Terminal(streams.out, streams.err);
  const serviceOf = ({ server }: CommonOptions) =>
    server === undefined ? startService() : connectService(server);

  const program = new Command('code-mode')
    .description('Runs programs that use MCP servers, in locked-down processes.')
    .version('0.1.0')
    .addHelpText('after', exitHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.out.write(text),
      writeErr: (text) => streams.err.write(text),
    });

  program
    .command('run')
    .description(
      'run a program: the body of an async function that calls its apps as apps.<server>.<tool>(…)',
    )
    .argument('[file]', 'the program, "-" for standard input')
    .option('-e, --eval <code>', 'the program itself')
    .option('-c, --config <file>', 'MCP servers, in the usual JSON with "mcpServers"')
    .option(
      '-s, --server <address>',
      'a CodeRunService that runs: host:port or unix:/path (default: all in one)',
    )
    .option('--reason <text>', 'why it is run; stored with the run', 'Run from the command line.')
    .option('--calls', 'show the calls to the apps as they come')
    .option('--json', 'give the whole run as JSON instead of its value')
    .action(async (file: string | undefined, options: RunCommandOptions) => {
      const code = await readProgram(file, options.eval, streams.input);
      const servers = await readServers(options.config);
      await using service = await serviceOf(options);
      end(
        await runProgram(
          service,
          {
            code,
            reason: options.reason,
            servers,
            decider: allowAll,
            json: options.json ?? false,
            calls: options.calls ?? false,
          },
          terminal,
          signal,
        ),
      );
    });

  program
    .command('api')
    .description('show the declarations of what programs may call')
    .argument('[query]', 'words to search by; without them an overview')
    .option('-c, --config <file>', 'MCP servers, in the usual JSON with "mcpServers"')
    .option('-s, --server <address>', 'a CodeRunService that runs (default: all in one)')
    .option('--connection <name>', 'only this connection')
    .option('--binding <name>', 'the whole declaration of this binding')
    .action(
      async (
        query: string | undefined,
        options: CommonOptions & { connection?: string; binding?: string },
      ) => {
        const servers = await readServers(options.config);
        await using service = await serviceOf(options);
        const { connection = '', binding = '' } = options;
        await describe(service, servers, { query: query ?? '', connection, binding }, terminal, signal);
        end(exitStatus.ok);
      },
    );

  program
    .command('demo')
    .description('run a real program against three real MCP servers, and show all of it')
    // All of it is the result here.
    .action(async () => end(await runDemo(startService, new Terminal(streams.out, streams.out), signal)));

  return program;
}

/** Executes the command that `args` name. Gives the exit status; throws only the reason of `signal`. */
export async function execute(
  args: readonly string[],
  streams: Streams,
  signal: AbortSignal,
): Promise<number> {
  let status: ExitStatus = exitStatus.ok;
  const command = createCommand(streams, signal, (ended) => {
    status = ended;
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
    const terminal = new Terminal(streams.out, streams.err);
    terminal.note(`${terminal.style('red', 'error:')} ${messageOf(error)}`);
    if (error instanceof CommandError) return error.status;
    return error instanceof RpcError ? statusOf(error) : exitStatus.runFailed;
  }
}

function statusOf(error: RpcError): ExitStatus {
  return error.code === 'INVALID_ARGUMENT' ? exitStatus.usage : exitStatus.unavailable;
}

function messageOf(error: unknown): string {
  if (error instanceof RpcError) return `CodeRunService: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
