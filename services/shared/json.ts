/**
 * JSON that a person wrote: what cannot be read is told by its place.
 *
 * J1  A problem never quotes the text, as the engine's own messages do: a configuration holds tokens.
 */
import { AppError } from './errors.ts';

/** The value of the text of a file. `origin` names the file in errors. Throws AppError INVALID_ARGUMENT. */
export function parseJsonFile(text: string, origin: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not kept as the cause: its message is a piece of the text.
    throw new AppError('INVALID_ARGUMENT', `${origin} is not JSON: ${jsonProblem(text)}`);
  }
}

/** Why a text is not JSON: "it ends too early, at line 1, column 7". */
export function jsonProblem(text: string): string {
  const at = jsonErrorOffset(text);
  const before = text.slice(0, at).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  return at === text.length ? `it ends too early, at ${place}` : `it cannot be read at ${place}`;
}

const space = /[ \t\r\n]*/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const stringBody = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/uy;

type Wanted = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

/** Where a text stops being the beginning of JSON; its length where more would have to follow. */
export function jsonErrorOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  for (;;) {
    skip(space);
    const next = text[at];
    const inside = open.at(-1);
    if (next === undefined || (wanted === 'comma or end' && inside === undefined)) return at;
    if (wanted.endsWith('or end') && next === (inside === '{' ? '}' : ']')) {
      open.pop();
      wanted = 'comma or end';
      at++;
    } else if (wanted === 'comma or end' || wanted === 'colon') {
      if (next !== (wanted === 'colon' ? ':' : ',')) return at;
      wanted = wanted === 'comma or end' && inside === '{' ? 'name' : 'value';
      at++;
    } else if (next === '"') {
      skip(stringBody);
      if (text[at] !== '"') return at;
      at++;
      wanted = wanted.startsWith('name') ? 'colon' : 'comma or end';
    } else if (wanted.startsWith('name')) {
      return at;
    } else if (next === '{' || next === '[') {
      open.push(next);
      wanted = next === '{' ? 'name or end' : 'value or end';
      at++;
    } else {
      if (!skip(literal)) return at;
      wanted = 'comma or end';
    }
  }
}
