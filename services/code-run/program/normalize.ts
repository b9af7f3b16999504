/**
 * Makes what a model wrote into the program that the sandbox compiles: the body of a strict async function.
 *
 * N1: every line keeps its number, and columns are undone by the column shifts. N2: a program that parses as
 * JavaScript is left alone, byte for byte, unless one of the forms (forms.ts) applies. N3: nothing is guessed
 * beyond the named forms; what cannot be understood is an error before anything runs. N4: time is bounded for
 * every text (parser.ts).
 */
import { limits } from '../../shared/limits.ts';
import type { NormalizedProgram } from '../core/model.ts';
import { blank, insert } from './edits.ts';
import { eraseTypes } from './erase.ts';
import { mayBeFenced, unfence } from './fences.ts';
import { changesFor, looksLikeObject } from './forms.ts';
import {
  attempt,
  farther,
  type Language,
  type Parsed,
  parse,
  parseExpression,
  readTokens,
  typeNames,
} from './parser.ts';
import { LimitProblem, ProgramProblem } from './problem.ts';
import { type ProgramError, programError } from './syntax-error.ts';

export type { ProgramError } from './syntax-error.ts';

export type Normalized =
  | { readonly ok: true; readonly program: NormalizedProgram }
  | { readonly ok: false; readonly error: ProgramError };

export function normalizeProgram(code: string): Normalized {
  // The text as understood so far; its lines are those of `code`.
  let text = code;
  let language: Language = 'JavaScript';
  try {
    if (Buffer.byteLength(code) > limits.codeBytesMax) {
      throw new LimitProblem(0, `the program is larger than ${limits.codeBytesMax} bytes`);
    }
    text = withoutHashbang(withoutMarkdown(code));
    const asWritten = attempt(() => readJavaScript(text));
    if (!(asWritten instanceof ProgramProblem) && !hasTypeArguments(text, asWritten)) {
      return { ok: true, program: finish(text, asWritten) };
    }
    const erased = withoutTypes(text, asWritten);
    language = 'TypeScript';
    text = erased;
    return { ok: true, program: finish(text, readJavaScript(text)) };
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error;
    return { ok: false, error: programError(language, text, error) };
  }
}

function finish(text: string, parsed: Parsed): NormalizedProgram {
  const { blanks, insertions } = changesFor(text, parsed);
  return insert(blank(text, blanks), insertions);
}

function readJavaScript(text: string): Parsed {
  const parsed = parse('JavaScript', text);
  if (parsed.kind !== 'statements' || !looksLikeObject(parsed.program)) return parsed;
  const expression = attempt(() => parseExpression('JavaScript', text));
  return expression instanceof ProgramProblem ? parsed : { kind: 'expression', expression };
}

/**
 * `list.reduce<number>(…)` is JavaScript by its letters, two comparisons with a variable `number`. Without such a
 * variable it could only fail.
 */
function hasTypeArguments(text: string, parsed: Parsed): boolean {
  if (parsed.kind !== 'statements' || parsed.declaresTypeName) return false;
  return typeArguments.test(text);
}

/** One of TypeScript's own types where an argument could stand; whether it is one, the TypeScript parser says. */
const typeArguments = new RegExp(`[<,|]\\s*(?:${[...typeNames].join('|')})\\s*(?:\\[\\]\\s*)?[>,|]`);

/** Erases types. A text that is not TypeScript either has the problem of the language that understood more. */
function withoutTypes(text: string, asJavaScript: Parsed | ProgramProblem): string {
  const isJavaScript = !(asJavaScript instanceof ProgramProblem);
  if (asJavaScript instanceof LimitProblem) throw asJavaScript;
  const bytesMax = limits.typedProgramBytesMax;
  if (Buffer.byteLength(text) > bytesMax) {
    if (isJavaScript) return text;
    const problem = `not JavaScript, and a program with types may have at most ${bytesMax} bytes`;
    throw new ProgramProblem(asJavaScript.offset, problem);
  }
  const typed = attempt(() => parse('TypeScript', text));
  if (!(typed instanceof ProgramProblem)) return eraseTypes(text, typed);
  if (isJavaScript) return text;
  throw farther(asJavaScript, typed);
}

/**
 * Takes the Markdown away. What looks like a fence may stand in a comment or a string of a program that is
 * understood as it is. As code it is three signs in a row: a template tagged with a template, which never works.
 */
function withoutMarkdown(code: string): string {
  if (!mayBeFenced(code)) return code;
  let inARow = 0;
  let end = -1;
  let fence: number | undefined;
  const understood = readTokens('JavaScript', code, (token) => {
    if (token.start === token.end) return;
    const isMark = token.end === token.start + 1 && /[`~]/.test(code.charAt(token.start));
    inARow = isMark && token.start === end ? inARow + 1 : Number(isMark);
    end = token.end;
    if (inARow === 3) fence ??= token.start - 2;
  });
  if (understood && fence === undefined) return code;
  const program = unfence(code);
  if (program === undefined && understood) {
    throw new ProgramProblem(fence ?? 0, 'Markdown fences must stand on lines of their own, or be left out');
  }
  return program ?? code;
}

function withoutHashbang(text: string): string {
  const [hashbang] = /^\s*#![^\n\r\u2028\u2029]*/.exec(text) ?? [];
  return hashbang === undefined ? text : blank(text, [{ start: 0, end: hashbang.length }]);
}
