/**
 * `code-mode demo`: a real program against three real MCP servers, on a copy of the demo's files that is gone
 * afterwards.
 */
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type GetStatusResponse,
  LockLayerState,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import type { ServerConfig } from '../mcp/config.ts';
import { allowPolicy } from '../operations/policy.ts';
import type { Input } from './ask.ts';
import { CommandError, type ExitStatus, exitStatus } from './exit.ts';
import { runProgram } from './run.ts';
import type { OwnServices } from './service.ts';
import type { Terminal } from './terminal.ts';

const material = path.join(import.meta.dirname, '../demo');

export async function runDemo(
  startService: () => Promise<OwnServices>,
  input: Input,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const title = (text: string) => terminal.note(`\n${terminal.style('bold', text)}`);
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'code-mode-demo-')));
  try {
    await cp(material, folder, { recursive: true });
    const code = await readFile(path.join(folder, 'program.js'), 'utf8');
    const servers = demoServers(folder);
    terminal.note('Starting both services. Code Mode is off at first; this start turns it on.');
    await using service = await startService();
    title('The lock around every program on this machine, as the sandbox tested it');
    showLock(await service.sandboxStatus(), terminal);
    title('The program');
    terminal.note(code.trimEnd());
    title('The apps');
    for (const { name } of servers) terminal.note(`@modelcontextprotocol/server-${name}`);
    title('Calls (→ to the app, ← from it) and log lines, as they come');
    const options = {
      servers,
      policy: allowPolicy,
      owner: 'local',
      input,
      record: ':memory:',
      json: false,
      calls: true,
      onEnd: () => title('The result'),
    };
    return await runProgram(service, { code, reason: 'To show Code Mode.' }, options, terminal, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function showLock({ layers, locked }: GetStatusResponse, terminal: Terminal): void {
  for (const { name, state, detail } of layers) {
    const held =
      state === LockLayerState.HELD ? terminal.style('green', 'held') : terminal.style('red', 'not held');
    terminal.note(`${name.padEnd(18)} ${held}  ${terminal.style('dim', detail)}`);
  }
  if (!locked) terminal.note(terminal.style('red', 'A layer that production needs is missing.'));
}

function demoServers(folder: string): readonly ServerConfig[] {
  const server = (
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): ServerConfig => ({
    transport: 'stdio',
    name,
    command: process.execPath,
    args: [scriptOf(name), ...args],
    env,
  });
  return [
    server('everything', ['stdio']),
    server('filesystem', [path.join(folder, 'files')]),
    server('memory', [], { MEMORY_FILE_PATH: path.join(folder, 'memory.jsonl') }),
  ];
}

function scriptOf(server: string): string {
  const name = `@modelcontextprotocol/server-${server}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return path.join(path.dirname(manifest), 'dist/index.js');
  } catch (cause) {
    throw new CommandError(exitStatus.usage, `the demo needs ${name}: run "npm ci"`, { cause });
  }
}
