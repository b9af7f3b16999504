/**
 * Positions: offsets into a text, lines and columns (both from 1, columns in UTF-16 units), and the way back
 * from the normalized program to the program as written. Lines break where ECMAScript breaks them.
 */
import type { ColumnShift } from '../core/model.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;

/** Every line break of `text`, from the first. */
export function lineBreaksOf(text: string): readonly { readonly start: number; readonly end: number }[] {
  return [...text.matchAll(lineBreak)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

export function positionOf(text: string, offset: number): Position {
  let line = 1;
  let lineStart = 0;
  for (const found of text.matchAll(lineBreak)) {
    const end = found.index + found[0].length;
    if (end > offset) break;
    line += 1;
    lineStart = end;
  }
  return { line, column: offset - lineStart + 1 };
}

/** Undoes what normalization inserted. A position inside a piece becomes the place where it was inserted. */
export function positionAsWritten(shifts: readonly ColumnShift[], at: Position): Position {
  let column = at.column;
  for (const shift of shifts) {
    if (shift.line !== at.line || shift.column >= at.column) continue;
    column -= Math.min(shift.length, at.column - shift.column);
  }
  return { line: at.line, column };
}
