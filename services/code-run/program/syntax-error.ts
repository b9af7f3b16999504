/**
 * Says what is wrong with a program that cannot be understood: what was found, where, and what most likely
 * helps. Made from the text alone; nothing ran.
 */
import { type Token, tokTypes } from 'acorn';
import { type Language, readTokens, unexpected } from './parser.ts';
import { type Position, positionOf } from './position.ts';
import type { ProgramProblem } from './problem.ts';

export interface ProgramError extends Position {
  readonly message: string;
}

const foundCharactersMax = 40;
/** How much of what stands before an error is looked at for a hint. */
const beforeCharacters = 200;

export function programError(language: Language, text: string, problem: ProgramProblem): ProgramError {
  const what =
    problem.message === unexpected ? `unexpected ${foundAt(text, problem.offset)}` : problem.message;
  const hint = hintFor(language, text, problem);
  return {
    message: `Syntax error: ${what}${hint === undefined ? '' : `. ${hint}`}`,
    ...positionOf(text, problem.offset),
  };
}

function foundAt(text: string, offset: number): string {
  if (offset >= text.length) return 'end of the program';
  const rest = text.slice(offset, offset + foundCharactersMax + 1);
  const [found = ''] = /^(?:[\p{ID_Continue}$#@]+|(["'`])[^\n\r]*?\1|=>|[=!<>&|?*+-]+|.)/su.exec(rest) ?? [];
  const shown = found.length > foundCharactersMax ? `${found.slice(0, foundCharactersMax)}…` : found;
  return shown.includes('"') ? `\`${shown}\`` : `"${shown}"`;
}

function hintFor(language: Language, text: string, { offset, message }: ProgramProblem): string | undefined {
  if (/[\u2018\u2019\u201C\u201D]/.test(text[offset] ?? '')) return 'Use straight quotes';
  if (text.charAt(offset - 1) === '#' || text[offset] === '#') return 'A comment starts with //';
  if (text.slice(offset - 2, offset) === '</') return 'There is no JSX: write text';
  if (message !== unexpected) return undefined;
  const before = text.slice(Math.max(0, offset - beforeCharacters), offset);
  if (/\bawait\s+$/.test(before)) return 'await is only possible in an async function: write async before it';
  if (/[{,]\s*[\w$'"]+\s*$/.test(before) && text[offset] === ':') {
    return 'To give back an object write: return { … }';
  }
  if (before.endsWith('-') && text[offset] === '>') return 'An arrow function is written with =>';
  return unclosedHint(language, text, offset) ?? missingHint(text, before, offset);
}

/** Two values side by side. */
function missingHint(text: string, before: string, offset: number): string | undefined {
  const isValue = /^[\p{ID_Start}\d"'`$]/u.test(text.slice(offset, offset + 2));
  if (!isValue || !/[\p{ID_Continue})\]}"'`$]\s*$/u.test(before)) return undefined;
  return 'A comma, an operator or a quote is missing before it';
}

function unclosedHint(language: Language, text: string, offset: number): string | undefined {
  const open: Token[] = [];
  readTokens(language, text, (token) => {
    if (token.start >= offset) return;
    if (opening.has(token.type)) open.push(token);
    else if (closing.has(token.type)) open.pop();
  });
  const last = open.at(-1);
  if (last === undefined || !showsUnclosed(text, text.slice(last.start, last.end), offset)) return undefined;
  const { line, column } = positionOf(text, last.start);
  return `"${text.slice(last.start, last.end)}" of line ${line}, column ${column} is not closed`;
}

/** Whether the token at `offset` cannot stand inside the bracket. */
function showsUnclosed(text: string, bracket: string, offset: number): boolean {
  if (offset >= text.length || /^[)\]}]/.test(text.slice(offset))) return true;
  return (
    bracket !== '{' && /^(?:[;{]|const\b|let\b|var\b|return\b|if\b|for\b|while\b)/.test(text.slice(offset))
  );
}

const opening = new Set([tokTypes.parenL, tokTypes.bracketL, tokTypes.braceL, tokTypes.dollarBraceL]);
const closing = new Set([tokTypes.parenR, tokTypes.bracketR, tokTypes.braceR]);
