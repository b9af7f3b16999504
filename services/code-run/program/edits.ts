/**
 * Changes to a program's text that keep its lines: pieces are inserted without line breaks, or characters
 * become spaces. What was inserted is told as column shifts, so that a position can be undone.
 */
import assert from 'node:assert/strict';
import type { ColumnShift, NormalizedProgram } from '../core/model.ts';
import { lineBreaksOf } from './position.ts';

export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Characters [start, end); `first` and `last`, if any, stand in the places of the first and last of them. */
export interface Blank {
  readonly start: number;
  readonly end: number;
  readonly first?: string;
  readonly last?: string;
}

const notLineBreak = /[^\n\r\u2028\u2029]/g;

/** Turns the ranges into spaces, so that every other character keeps its line and column. Ranges may overlap. */
export function blank(text: string, ranges: readonly Blank[]): string {
  let result = '';
  let copied = 0;
  for (const range of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (range.end <= copied) continue;
    const start = Math.max(range.start, copied);
    const spaces = text.slice(start, range.end).replace(notLineBreak, ' ');
    const first = start === range.start ? (range.first ?? '') : '';
    const { last = '' } = range;
    assert(first.length + last.length <= spaces.length, 'a blank keeps its width');
    result +=
      text.slice(copied, start) + first + spaces.slice(first.length, spaces.length - last.length) + last;
    copied = range.end;
  }
  return result + text.slice(copied);
}

/** Inserts the pieces. Two pieces at one place keep their order. */
export function insert(text: string, insertions: readonly Insertion[]): NormalizedProgram {
  if (insertions.length === 0) return { text, columnShifts: [] };
  const breaks = lineBreaksOf(text);
  const columnShifts: ColumnShift[] = [];
  let result = '';
  let copied = 0;
  let passed = 0;
  let inserted = 0;
  let shiftedLine = 1;
  for (const { at, text: piece } of insertions.toSorted((a, b) => a.at - b.at)) {
    for (let next = breaks[passed]; next !== undefined && next.end <= at; next = breaks[passed]) passed += 1;
    const lineStart = passed === 0 ? 0 : (breaks[passed - 1]?.end ?? 0);
    if (passed + 1 !== shiftedLine) inserted = 0;
    shiftedLine = passed + 1;
    columnShifts.push({
      line: shiftedLine,
      column: at - lineStart + 1 + inserted,
      length: piece.length,
    });
    result += text.slice(copied, at) + piece;
    copied = at;
    inserted += piece.length;
  }
  return { text: result + text.slice(copied), columnShifts };
}
