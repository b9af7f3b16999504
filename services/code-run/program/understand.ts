/**
 * Understands a program as written: takes away what is around it and reads it, as JavaScript if it is that, else
 * as TypeScript whose types are erased. The lines stay those of the text as written (N1).
 */
import { limits } from '../../shared/limits.ts';
import type { Blank } from './edits.ts';
import { blank } from './edits.ts';
import { type Erased, eraseTypes } from './erase.ts';
import { mayBeFenced, unfence } from './fences.ts';
import { looksLikeObject } from './forms.ts';
import { typeNames } from './grammar.ts';
import { mistakeAt, mistakeIn } from './mistakes.ts';
import {
  attempt,
  farther,
  type Language,
  type Parsed,
  parse,
  parseExpression,
  readTokens,
} from './parser.ts';
import { LimitProblem, ProgramProblem, SyntaxProblem } from './problem.ts';
import { type ProgramError, programError } from './syntax-error.ts';

export interface Understood {
  readonly ok: true;
  readonly language: Language;
  /** The program as JavaScript, and its tree. */
  readonly text: string;
  readonly parsed: Parsed;
  /** The program with its types, as long as `text`; the same if it has none. */
  readonly typedText: string;
  /** What stands in `typedText` and cannot stand in a function: import and export of types, declare. */
  readonly outside: readonly Blank[];
}

export interface NotUnderstood {
  readonly ok: false;
  readonly error: ProgramError;
}

export function understand(code: string): Understood | NotUnderstood {
  // The text as understood so far; its lines are those of `code`.
  let text = code;
  let language: Language = 'JavaScript';
  try {
    if (Buffer.byteLength(code) > limits.codeBytesMax) {
      throw new LimitProblem(0, `the program is larger than ${limits.codeBytesMax} bytes`);
    }
    text = withoutHashbang(withoutMarkdown(code));
    const typedText = text;
    const parsed = attempt(() => readJavaScript(text));
    if (!(parsed instanceof ProgramProblem) && !hasTypeArguments(text, parsed)) {
      const mistake = mistakeIn(text, parsed);
      if (mistake !== undefined) throw mistake;
      return { ok: true, language, text, parsed, typedText, outside: [] };
    }
    const erased = withoutTypes(text, parsed);
    language = 'TypeScript';
    text = erased.text;
    return { ok: true, language, parsed: readJavaScript(text), typedText, ...erased };
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error;
    const mistake = error instanceof SyntaxProblem ? mistakeAt(text, error.offset) : undefined;
    return { ok: false, error: programError(language, text, mistake ?? error) };
  }
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
function withoutTypes(text: string, asJavaScript: Parsed | ProgramProblem): Erased {
  const isJavaScript = !(asJavaScript instanceof ProgramProblem);
  if (asJavaScript instanceof LimitProblem) throw asJavaScript;
  const bytesMax = limits.typedProgramBytesMax;
  if (Buffer.byteLength(text) > bytesMax) {
    if (isJavaScript) return { text, outside: [] };
    const problem = `not JavaScript, and a program with types may have at most ${bytesMax} bytes`;
    throw new ProgramProblem(asJavaScript.offset, problem);
  }
  const typed = attempt(() => parse('TypeScript', text));
  if (!(typed instanceof ProgramProblem)) return eraseTypes(text, typed);
  if (isJavaScript) return { text, outside: [] };
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
