/**
 * The program's console: every method that models use, as lines of the run's log. Nothing here throws because of
 * what it is given.
 */
import { format, inspect } from './format.ts';
import { type Level, level, writeLog } from './log.ts';
import {
  append,
  charCodeAt,
  define,
  getPrototypeOf,
  isArray,
  isFinite,
  type List,
  list,
  max,
  ObjectPrototype,
  ownKeys,
  padEnd,
  repeat,
  SafeMap,
  slice,
} from './primordials.ts';
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

// ---- console.table -----------------------------------------------------------------------------

const rowsMax = 200;

function table(data: unknown): string {
  if (typeof data !== 'object' || data === null) {
    return format(data, charactersMax);
  }
  try {
    return tableOf(data as Record<string, unknown>);
  } catch {
    return inspect(data, charactersMax);
  }
}

function tableOf(data: Record<string, unknown>): string {
  const keys = ownKeys(data);
  const head: List<string> = list();
  append(head, '(index)');
  const rows: List<List<string>> = list();
  let hasValues = false;
  for (let at = 0; at < keys.length && rows.length < rowsMax; at += 1) {
    const key = keys[at];
    if (typeof key !== 'string' || (key === 'length' && isArray(data))) {
      continue;
    }
    const row: List<string> = list();
    append(row, key);
    const entry = data[key];
    if (isPlain(entry)) {
      fillRow(row, head, entry);
    } else {
      hasValues = true;
      row[-1] = inspect(entry, 200);
    }
    append(rows, row);
  }
  if (hasValues) {
    append(head, 'Values');
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] as List<string>;
      row[head.length - 1] = row[-1] ?? '';
    }
  }
  return drawTable(head, rows);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    (isArray(value) || getPrototypeOf(value) === ObjectPrototype || getPrototypeOf(value) === null)
  );
}

function fillRow(row: List<string>, head: List<string>, entry: Record<string, unknown>): void {
  const keys = ownKeys(entry);
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at];
    if (typeof key !== 'string' || (key === 'length' && isArray(entry))) {
      continue;
    }
    let column = 1;
    while (column < head.length && head[column] !== key) {
      column += 1;
    }
    if (column === head.length) {
      append(head, key);
    }
    row[column] = inspect(entry[key], 200);
  }
}

function drawTable(head: List<string>, rows: List<List<string>>): string {
  const widths: List<number> = list();
  for (let column = 0; column < head.length; column += 1) {
    let width = (head[column] as string).length;
    for (let at = 0; at < rows.length; at += 1) {
      width = max(width, ((rows[at] as List<string>)[column] ?? '').length);
    }
    append(widths, width);
  }
  let text = drawRow(head, widths);
  text += '\n';
  for (let column = 0; column < head.length; column += 1) {
    text += (column === 0 ? '' : '-|-') + repeat('-', widths[column] as number);
  }
  for (let at = 0; at < rows.length; at += 1) {
    text += `\n${drawRow(rows[at] as List<string>, widths)}`;
  }
  return text;
}

function drawRow(row: List<string>, widths: List<number>): string {
  let text = '';
  for (let column = 0; column < widths.length; column += 1) {
    text += (column === 0 ? '' : ' | ') + padEnd(row[column] ?? '', widths[column] as number);
  }
  return text;
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
    table: (data: unknown) => write(level.info, table(data)),
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
