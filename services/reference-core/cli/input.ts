/** Reads what a command is given: programs and configurations. */
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import { exceedsUtf8 } from '../../shared/text.ts';
import { parseServers, type ServerConfig } from '../mcp/config.ts';
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
  const code = inline ?? (file === '-' ? await text(input) : await readText(file ?? '', 'the program'));
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
  try {
    return parseServers(json, file, process.env);
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(exitStatus.usage, error.message, { cause: error });
    throw error;
  }
}

export async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : (cause as Error).message;
    throw new CommandError(exitStatus.usage, `cannot read ${what} from ${file}: ${why}`, { cause });
  }
}
