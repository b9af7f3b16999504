/** console.table: rows of an array or object, a column for each key that any of them has. */
import { format, inspect } from './format.ts';
import {
  append,
  getPrototypeOf,
  isArray,
  type List,
  list,
  max,
  ObjectPrototype,
  ownKeys,
  padEnd,
  repeat,
} from './primordials.ts';

const rowsMax = 200;

/** Data as a table, or as any other value if it is none. */
export function table(data: unknown, charactersMax: number): string {
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
