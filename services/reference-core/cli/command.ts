/** The commands of the command line. */
import type { Writable } from 'node:stream';
import { Command, CommanderError } from 'commander';
import { productVersion } from '../../shared/command.ts';
import { describeConfig } from '../../shared/config-text.ts';
import { accessTable, ownerOf } from './access.ts';
import { describe } from './api.ts';
import type { Input } from './ask.ts';
import { runDemo } from './demo.ts';
import { type ExitStatus, exitStatus } from './exit.ts';
import { readCount, readPolicy, readProgram, readServers, recordFile } from './input.ts';
import { serveAgents } from './mcp.ts';
import { messageOf, statusOf, type UsedService } from './problem.ts';
import { type DriveOptions, localSession, resumeRun, runProgram } from './run.ts';
import { cancelRun, followRun, listRuns, showRun } from './runs.ts';
import { connectService, type Service, startService } from './service.ts';
import { type Sink, Terminal } from './terminal.ts';

/** What a command reads and writes. */
export interface Streams {
  readonly input: Input;
  readonly out: Writable & Sink;
  readonly err: Writable & Sink;
}

interface ServiceOptions {
  readonly server?: string;
}

interface AppOptions extends ServiceOptions {
  readonly config?: string;
}

interface DriveCommandOptions extends AppOptions {
  readonly policy?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly calls?: boolean;
}

interface RunCommandOptions extends DriveCommandOptions {
  readonly eval?: string;
  readonly reason: string;
}

/** Where `make start` serves. */
const localServer = '127.0.0.1:7410';

const exitHelp = `
Exit status:
  0  the program returned
  1  the run failed or was cancelled
  2  the command or a configuration is wrong
  3  a service or an app could not be reached
  4  the run waits for a decision, and there is nobody to ask

Environment, for --server:
${describeConfig(accessTable)}`;

/** What every command gets. */
interface Surroundings {
  readonly streams: Streams;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  end(status: ExitStatus): void;
}

function createCommand(streams: Streams, signal: AbortSignal, end: (status: ExitStatus) => void): Command {
  const program = new Command('code-mode')
    .description('Runs programs that use MCP servers, in locked-down processes.')
    .version(productVersion())
    .addHelpText('after', exitHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.out.write(text),
      writeErr: (text) => streams.err.write(text),
    });
  const around = { streams, terminal: new Terminal(streams.out, streams.err), signal, end };
  addRun(program, around);
  addRuns(program, around);
  addApi(program, around);
  addMcp(program, around);
  program
    .command('demo')
    .description('run a real program against three real MCP servers, and show all of it')
    .action(async () => {
      // All of it is the result here.
      const shown = new Terminal(streams.out, streams.out);
      end(await runDemo(startService, streams.input, shown, signal));
    });
  return program;
}

function addRun(program: Command, { streams, terminal, signal, end }: Surroundings): void {
  const command = program
    .command('run')
    .description('run a program: the body of an async function that calls apps.<server>.<tool>(…)')
    .argument('[file]', 'the program, "-" for standard input')
    .option('-e, --eval <code>', 'the program itself')
    .option('--reason <text>', 'why it is run; stored with the run', 'Run from the command line.');
  driveOptions(command).action(async (file: string | undefined, options: RunCommandOptions) => {
    const code = await readProgram(file, options.eval, streams.input);
    const driving = await readDrive(options, streams.input);
    await using service = await serviceOf(options);
    end(await runProgram(service, { code, reason: options.reason }, driving, terminal, signal));
  });
}

function addRuns(program: Command, { streams, terminal, signal, end }: Surroundings): void {
  const runs = program.command('runs').description('list, show, follow, resume and cancel runs of a service');
  const serverOption = ['-s, --server <address>', 'the CodeRunService', localServer] as const;
  runs
    .command('list')
    .description('list runs, newest first')
    .option(...serverOption)
    .option('--session <id>', 'the session', localSession)
    .option('-n, --most <count>', 'how many', '20')
    .option('--json', 'one run a line, as JSON')
    .action(async (options: { server: string; session: string; most: string; json?: boolean }) => {
      await using service = connectService(options.server, process.env);
      const { session, json = false } = options;
      await listRuns(service.client, { session, most: readCount('--most', options.most), json }, terminal);
    });
  runs
    .command('show')
    .description('show a run: program, calls, log lines and end')
    .argument('<run>', 'id of the run')
    .option(...serverOption)
    .option('--json', 'as JSON')
    .action(async (runId: string, options: { server: string; json?: boolean }) => {
      await using service = connectService(options.server, process.env);
      await showRun(service.client, runId, options.json ?? false, terminal);
    });
  runs
    .command('follow')
    .description('show the calls of a run as they come, until it ends')
    .argument('<run>', 'id of the run')
    .option(...serverOption)
    .option('--json', 'give the whole run as JSON instead of its value')
    .action(async (runId: string, options: { server: string; json?: boolean }) => {
      await using service = connectService(options.server, process.env);
      end(await followRun(service.client, runId, options.json ?? false, terminal, signal));
    });
  const resume = runs
    .command('resume')
    .description('go on with a run that waits for decisions, or whose core went away')
    .argument('<run>', 'id of the run');
  driveOptions(resume, localServer).action(
    async (runId: string, options: DriveCommandOptions & { server: string }) => {
      const driving = await readDrive(options, streams.input);
      await using service = connectService(options.server, process.env);
      end(await resumeRun(service, runId, driving, terminal, signal));
    },
  );
  runs
    .command('cancel')
    .description('stop a run for good')
    .argument('<run>', 'id of the run')
    .option(...serverOption)
    .option('--json', 'give the whole run as JSON')
    .action(async (runId: string, options: { server: string; json?: boolean }) => {
      await using service = connectService(options.server, process.env);
      await cancelRun(service.client, runId, options.json ?? false, terminal);
    });
}

function addApi(program: Command, { terminal, signal }: Surroundings): void {
  program
    .command('api')
    .description('show the declarations of what programs may call')
    .argument('[query]', 'words to search by; without them an overview')
    .option('-c, --config <file>', 'MCP servers, in the usual JSON with "mcpServers"')
    .option('-s, --server <address>', 'a CodeRunService that runs (default: all in one)')
    .option('--connection <name>', 'only this connection')
    .option('--binding <name>', 'the whole declaration of this binding')
    .action(async (query = '', options: AppOptions & { connection?: string; binding?: string }) => {
      const servers = await readServers(options.config);
      await using service = await serviceOf(options);
      const { connection = '', binding = '' } = options;
      await describe(service, servers, { query, connection, binding }, terminal, signal);
    });
}

function addMcp(program: Command, { streams, terminal, signal }: Surroundings): void {
  program
    .command('mcp')
    .description('be an MCP server over standard streams: Code Mode over all servers of the configuration')
    .requiredOption('-c, --config <file>', 'MCP servers, in the usual JSON with "mcpServers"')
    .option('-s, --server <address>', 'a CodeRunService that runs (default: all in one)')
    .option(
      '-p, --policy <file>',
      'what is allowed, asked about and denied (default: asked unless read-only)',
    )
    .option('-y, --yes', 'allow every call')
    .action(async (options: DriveCommandOptions) => {
      const { servers, policy, record, owner } = await readDrive(options, streams.input);
      await using service = await serviceOf(options);
      const serving = { servers, policy, record, owner, server: options.server };
      await serveAgents(service, serving, streams, terminal, signal);
    });
}

/** The options of a command that drives a run. `server`: the service where none is named; without it, all in one. */
function driveOptions(command: Command, server?: string): Command {
  const allInOne = server === undefined ? ' (default: all in one)' : '';
  return command
    .option('-c, --config <file>', 'MCP servers, in the usual JSON with "mcpServers"')
    .option(
      '-s, --server <address>',
      `a CodeRunService that runs: host:port or unix:/path${allInOne}`,
      server,
    )
    .option(
      '-p, --policy <file>',
      'what is allowed, asked about and denied (default: asked unless read-only)',
    )
    .option('-y, --yes', 'allow every call')
    .option('--calls', 'show the calls to the apps as they come')
    .option('--json', 'give the whole run as JSON instead of its value, also while it waits');
}

async function readDrive(options: DriveCommandOptions, input: Input): Promise<DriveOptions> {
  const { config, policy, yes = false, json = false, calls = false } = options;
  return {
    servers: await readServers(config),
    policy: await readPolicy(policy, yes),
    // What is all in one ends with the command: nobody resumes its runs.
    owner: options.server === undefined ? 'local' : ownerOf(process.env),
    record: options.server === undefined ? ':memory:' : await recordFile(process.env),
    input,
    json,
    calls,
  };
}

function serviceOf({ server }: ServiceOptions): Service | Promise<Service> {
  return server === undefined ? startService() : connectService(server, process.env);
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
  let used: UsedService = {};
  command.hook('preAction', (_, action) => {
    used = { ...action.opts<ServiceOptions>(), needed: action.parent?.name() === 'runs' };
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
    const terminal = new Terminal(streams.out, streams.err);
    terminal.note(`${terminal.style('red', 'error:')} ${messageOf(error, used)}`);
    return statusOf(error);
  }
}
