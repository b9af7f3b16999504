/** How shown values lie on the page: quotes, keys, and lines that are broken when they grow too long. */
import { indexOf, jsonStringify, type List, matches, repeat, slice, symbolToString } from './primordials.ts';

const lineWidth = 76;

/** A string in quotes, cut after so many characters. */
export function quote(text: string, left: number): string {
  const shown = text.length > left && left >= 0 ? slice(text, 0, left) : text;
  const json = jsonStringify(shown);
  const body = slice(json, 1, json.length - 1);
  const rest = shown.length < text.length ? `… ${text.length - shown.length} more characters` : '';
  // Single quotes read better inside a log line, unless there is something to escape.
  return matches(/['\\]/, body) ? json + rest : `'${body}'${rest}`;
}

/** A property's name as it stands before its colon. */
export function keyText(key: string | symbol): string {
  if (typeof key === 'symbol') {
    return `[${symbolToString(key)}]`;
  }
  return matches(/^[A-Za-z_$][\w$]*$/, key) ? key : quote(key, key.length);
}

/** Parts on one line if they fit, else each on its own. `depth`: how many values are being shown around it. */
export function wrap(
  prefix: string,
  open: string,
  parts: List<string>,
  close: string,
  depth: number,
): string {
  if (parts.length === 0) {
    return `${prefix}${open}${close}`;
  }
  let line = '';
  let broken = false;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as string;
    line += at === 0 ? part : `, ${part}`;
    broken ||= indexOf(part, '\n') !== -1;
  }
  if (!broken && line.length + prefix.length + depth * 2 <= lineWidth) {
    return `${prefix}${open} ${line} ${close}`;
  }
  const indent = repeat('  ', depth === 0 ? 1 : depth);
  const outer = repeat('  ', depth === 0 ? 0 : depth - 1);
  let text = '';
  for (let at = 0; at < parts.length; at += 1) {
    text += `${at === 0 ? '' : ','}\n${indent}${parts[at]}`;
  }
  return `${prefix}${open}${text}\n${outer}${close}`;
}
