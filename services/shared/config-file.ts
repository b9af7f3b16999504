/**
 * The file that --config names: `NAME=value` lines, comments on lines of their own that begin with `#`, and blank
 * lines. A value stands as it is, or in quotes: in '…' everything is meant literally, in "…" `\n`, `\"` and `\\`
 * are a line break, a quote and a backslash.
 *
 * F1  Nothing is guessed or passed over: a line that is none of these is a problem with its number, and so is a
 *     name that comes twice.
 * F2  What `quoted` writes is read back as it was.
 */
import { readFileSync } from 'node:fs';
import { fileProblem } from './file-problem.ts';

export interface FileEntry {
  readonly name: string;
  readonly value: string;
  /** "app.env:3" */
  readonly place: string;
}

export interface ConfigFile {
  readonly entries: readonly FileEntry[];
  readonly problems: readonly string[];
}

export function readConfigFile(path: string): ConfigFile {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const why = error instanceof TypeError ? 'it is no UTF-8 text' : fileProblem(error);
    return { entries: [], problems: [`--config: cannot read the file ${path}: ${why}`] };
  }
  return parseConfigFile(text, path);
}

/** `path` names the file in problems. */
export function parseConfigFile(text: string, path: string): ConfigFile {
  const entries = new Map<string, FileEntry>();
  const problems: string[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const place = `${path}:${index + 1}`;
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    try {
      const [name, value] = parseLine(line);
      const first = entries.get(name);
      if (first !== undefined) throw new Error(`${name} stands there twice, first in line ${lineOf(first)}`);
      entries.set(name, { name, value, place });
    } catch (error) {
      problems.push(`--config ${place}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { entries: [...entries.values()], problems };
}

function lineOf({ place }: FileEntry): string {
  return place.slice(place.lastIndexOf(':') + 1);
}

/** Throws an Error that says what the line should be. It quotes no value: that may be a secret. */
function parseLine(line: string): [string, string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? [];
  if (name !== undefined && value !== undefined) return [name, parseValue(name, value)];
  const word = /^export\s/.test(line) ? ', without "export"' : '';
  throw new Error(`must be NAME=value${word}, with a name of letters, digits and "_"`);
}

function parseValue(name: string, text: string): string {
  const [quote] = text;
  if (quote !== '"' && quote !== "'") {
    if (!/\s#/.test(text)) return text;
    throw new Error(`${name}: a value with " #" must be in quotes; a comment needs a line of its own`);
  }
  const inside = quote === '"' ? /^"((?:[^"\\]|\\.)*)"$/ : /^'([^']*)'$/;
  const [, value] = inside.exec(text) ?? [];
  if (value === undefined) throw new Error(`${name}: ${quote} must be closed, at the end of the line`);
  return quote === "'" ? value : value.replace(/\\(.)/g, (_, escaped: string) => unescaped(name, escaped));
}

function unescaped(name: string, escaped: string): string {
  if (escaped === 'n') return '\n';
  if (escaped === '"' || escaped === '\\') return escaped;
  throw new Error(`${name}: in "…" only \\n, \\" and \\\\ are known, not \\${escaped}`);
}

/** A value as it stands in a file. */
export function quoted(value: string): string {
  if (/^[^\s"'#\\]*$/.test(value)) return value;
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
