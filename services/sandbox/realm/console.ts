/**
 * The program's console: every method that models use, as lines of the run's log. Nothing here throws because of
 * what it is given.
 */

import { table } from './console-table.ts';
import { format, inspect } from './format.ts';
import { type Level, level, writeLog } from './log.ts';
import { charCodeAt, define, isFinite, SafeMap, slice } from './primordials.ts';
import { currentStack } from './stack.ts';
import { needStackRoom } from './stack-room.ts';

let charactersMax = 0;
let indent = '';
const counts = new SafeMap<string, number>();

export function openConsole(lineBytesMax: number): void {
  charactersMax = lineBytesMax;
}

function write(at: Level, text: string): void {
  needStackRoom();
  writeLog(at, indent === '' ? text : indented(text));
}

function indented(text: string): string {
  let result = indent;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    result += character === '\n' ? `\n${indent}` : character;
  }
  return result;
}

/** Arguments as one line: format specifiers in a first string, the rest separated by blanks. */
function line(values: readonly unknown[]): string {
  const first = values[0];
  let used = 1;
  let text: string;
  if (typeof first === 'string' && values.length > 1) {
    text = '';
    let from = 0;
    for (let at = 0; at + 1 < first.length; at += 1) {
      if (charCodeAt(first, at) !== 0x25) {
        continue;
      }
      const specifier = first[at + 1] as string;
      if (specifier === '%') {
        text += slice(first, from, at + 1);
      } else if (used < values.length && isSpecifier(specifier)) {
        text += slice(first, from, at) + specified(specifier, values[used]);
        used += 1;
      } else {
        continue;
      }
      at += 1;
      from = at + 1;
    }
    text += slice(first, from);
  } else {
    text = values.length === 0 ? '' : format(first, charactersMax);
  }
  for (; used < values.length && text.length <= charactersMax; used += 1) {
    text += ` ${format(values[used], charactersMax)}`;
  }
  return text;
}

function isSpecifier(character: string): boolean {
  switch (character) {
    case 's':
    case 'd':
    case 'i':
    case 'f':
    case 'j':
    case 'o':
    case 'O':
    case 'c':
      return true;
    default:
      return false;
  }
}

function specified(specifier: string, value: unknown): string {
  switch (specifier) {
    case 'c':
      return '';
    case 'd':
    case 'f':
      return typeof value === 'object' ? 'NaN' : number(value, false);
    case 'i':
      return typeof value === 'object' ? 'NaN' : number(value, true);
    case 's':
      return format(value, charactersMax);
    default:
      return inspect(value, charactersMax);
  }
}

function number(value: unknown, whole: boolean): string {
  if (typeof value === 'bigint') {
    return `${value}n`;
  }
  const plain = typeof value === 'string' ? +value : typeof value === 'number' ? value : Number.NaN;
  return inspect(whole && isFinite(plain) ? plain - (plain % 1) : plain, charactersMax);
}

function label(value: unknown): string {
  return value === undefined ? 'default' : format(value, 200);
}

// ---- The object --------------------------------------------------------------------------------

export function installConsole(): void {
  const methods = {
    debug: (...values: unknown[]) => write(level.debug, line(values)),
    log: (...values: unknown[]) => write(level.info, line(values)),
    info: (...values: unknown[]) => write(level.info, line(values)),
    warn: (...values: unknown[]) => write(level.warn, line(values)),
    error: (...values: unknown[]) => write(level.error, line(values)),
    dir: (value: unknown) => write(level.info, inspect(value, charactersMax)),
    table: (data: unknown) => write(level.info, table(data, charactersMax)),
    trace: (...values: unknown[]) =>
      write(level.debug, `Trace: ${line(values)}${currentStack(methods.trace)}`),
    assert: (holds: unknown, ...values: unknown[]) => {
      if (!holds) {
        write(level.error, values.length === 0 ? 'Assertion failed' : `Assertion failed: ${line(values)}`);
      }
    },
    group: (...values: unknown[]) => {
      if (values.length > 0) {
        write(level.info, line(values));
      }
      if (indent.length < 40) {
        indent += '  ';
      }
    },
    groupEnd: () => {
      indent = slice(indent, 2);
    },
    count: (name?: unknown) => {
      const key = label(name);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      write(level.info, `${key}: ${count}`);
    },
    countReset: (name?: unknown) => {
      counts.delete(label(name));
    },
    // Time stands still, so nothing ever takes any.
    time: () => {},
    timeLog: (name?: unknown, ...values: unknown[]) =>
      write(level.info, `${label(name)}: 0ms${values.length === 0 ? '' : ` ${line(values)}`}`),
    timeEnd: (name?: unknown) => write(level.info, `${label(name)}: 0ms`),
  };
  const console = {};
  for (const name of Object.keys(methods) as (keyof typeof methods)[]) {
    define(console, name, methods[name], true);
  }
  define(console, 'groupCollapsed', methods.group, true);
  define(console, 'dirxml', methods.log, true);
  define(console, Symbol.toStringTag, 'console');
  define(globalThis, 'console', console);
}
