/**
 * Compiling a program: the body of an async function in strict mode. The engine checks that the text is one body
 * and nothing else, so that no text can close the function and go on outside of it.
 */
import { type Emit, emitKind } from './contract.ts';
import { describe, type Thrown } from './describe.ts';
import { AsyncFunction, indexOf, match, matches, slice } from './primordials.ts';
import { linesBefore, positionAsWritten } from './stack.ts';

export type Program = () => Promise<unknown>;

const directive = "'use strict';\n";

export function compile(text: string): Program {
  return new AsyncFunction(directive + text) as Program;
}

/** Why a program does not compile. The engine keeps the place to itself; the host can ask for it. */
export function describeSyntaxError(
  error: unknown,
  text: string,
  emit: Emit,
  messageBytesMax: number,
): Thrown {
  const { name, message } = describe(error, messageBytesMax, false);
  if (name !== 'SyntaxError') {
    return { name, message, position: '' };
  }
  const place = locate(text, emit);
  const { line, column } = place ?? endOf(text);
  return {
    name,
    // The engine stumbles over what closes the function, which the program has never seen.
    message:
      place === undefined && matches(/^Unexpected token '[})]'$/, message)
        ? 'Unexpected end of input'
        : message,
    position: positionAsWritten(line, column),
  };
}

/**
 * Two scripts with the same lines around the program. What closes the first one's function early and goes on
 * cannot do the same in the second one's class; the earlier place is the right one.
 */
const around = [
  ['(async function () {\n\n\n', '\n})'],
  ['(class { static async program() {\n\n\n', '\n} })'],
] as const;

/** The first place in the program; undefined if the error lies behind it. */
function locate(text: string, emit: Emit): Place | undefined {
  let first: Place | undefined;
  for (let at = 0; at < around.length; at += 1) {
    const [before, after] = around[at] as (typeof around)[number];
    const found = emit(emitKind.locate, 0, before + text + after, '', '') ?? '';
    const place = placeOf(found);
    if (place !== undefined && (first === undefined || isBefore(place, first))) {
      first = place;
    }
  }
  return first;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** A place in the program, of "line:column" in one of the scripts; undefined if it lies behind the program. */
function placeOf(found: string): Place | undefined {
  const colon = indexOf(found, ':');
  const line = +slice(found, 0, colon) - linesBefore;
  const column = +slice(found, colon + 1);
  return colon !== -1 && positionAsWritten(line, column) !== '' ? { line, column } : undefined;
}

function isBefore(a: Place, b: Place): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

/**
 * Where the program returned, if only one place can have done it: the only `return` in its text. Empty if there
 * are more, be it in functions or comments.
 */
export function returnPosition(text: string): string {
  const word = /(?<![\w$.#])return(?![\w$])/g;
  const found = match(word, text);
  if (found === undefined) {
    return '';
  }
  const end = word.lastIndex;
  if (match(word, text) !== undefined) {
    return '';
  }
  const { line, column } = endOf(slice(text, 0, end - 'return'.length));
  return positionAsWritten(line, column);
}

/** Right behind the last character: where something is missing. */
function endOf(text: string): Place {
  let line = 1;
  let lineStart = 0;
  eachLineEnd(text, (next) => {
    line += 1;
    lineStart = next;
  });
  return { line, column: text.length - lineStart + 1 };
}

export function countLines(text: string): number {
  let lines = 1;
  eachLineEnd(text, () => {
    lines += 1;
  });
  return lines;
}

/** Gives the index behind each line's end, as the language ends lines. */
function eachLineEnd(text: string, each: (next: number) => void): void {
  const end = /\r\n|[\n\r\u2028\u2029]/g;
  while (match(end, text) !== undefined) {
    each(end.lastIndex);
  }
}
