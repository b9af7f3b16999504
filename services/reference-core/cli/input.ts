/** Reads what a command is given: programs and configurations. */
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text as wholeText } from 'node:stream/consumers';
import { AppError } from '../../shared/errors.ts';
import { fileProblem } from '../../shared/file-problem.ts';
import { limits } from '../../shared/limits.ts';
import { exceedsUtf8 } from '../../shared/text.ts';
import { parseServers, type ServerConfig } from '../mcp/config.ts';
import { allowPolicy, hintPolicy, type Policy, parsePolicy } from '../operations/policy.ts';
import { CommandError, exitStatus } from './exit.ts';

/** The program of `run`: from -e, from a file, or from standard input ("-"). */
export async function readProgram(
  file: string | undefined,
  inline: string | undefined,
  input: Readable,
): Promise<string> {
  if (inline !== undefined && file !== undefined) {
    throw new CommandError(exitStatus.usage, 'give either a program file or -e, not both');
  }
  if (inline === undefined && file === undefined) {
    throw new CommandError(exitStatus.usage, 'give a program file, "-" for standard input, or -e <code>');
  }
  const code = inline ?? (file === '-' ? await wholeText(input) : await readText(file ?? '', 'the program'));
  if (code.trim() === '') throw new CommandError(exitStatus.usage, 'the program is empty');
  if (exceedsUtf8(code, limits.codeBytesMax)) {
    throw new CommandError(exitStatus.usage, `the program is larger than ${limits.codeBytesMax} bytes`);
  }
  return code;
}

/** The MCP servers of a configuration file; none without one. */
export async function readServers(file: string | undefined): Promise<ServerConfig[]> {
  if (file === undefined) return [];
  const json = await readText(file, 'the configuration of MCP servers');
  return parsed(json, (text) => parseServers(text, file, process.env));
}

/** What a policy file says; without one, read-only hints. */
export async function readPolicy(file: string | undefined, allowEverything: boolean): Promise<Policy> {
  if (file === undefined) return allowEverything ? allowPolicy : hintPolicy;
  if (allowEverything) throw new CommandError(exitStatus.usage, 'give either --policy or --yes, not both');
  return parsed(await readText(file, 'the policy'), (text) => parsePolicy(text, file));
}

export function readCount(option: string, text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new CommandError(
    exitStatus.usage,
    `${option} ${JSON.stringify(text)} must be a whole number above 0`,
  );
}

/** Where the command line keeps its operation record: a folder that only this user can enter. */
export async function recordFile(environment: NodeJS.ProcessEnv): Promise<string> {
  const base = environment['XDG_STATE_HOME'] || path.join(homedir(), '.local/state');
  const folder = path.join(base, 'openbot-code-mode');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return path.join(folder, 'operations.db');
}

/** An error of the content is one of the command. */
function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(exitStatus.usage, error.message, { cause: error });
    throw error;
  }
}

export async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError(exitStatus.usage, `cannot read ${what} from ${file}: ${fileProblem(cause)}`, {
      cause,
    });
  }
}
