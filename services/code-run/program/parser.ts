/**
 * Reads programs. A text that cannot be read is a ProgramProblem with its place, whatever the parser met.
 */
import { type Expression, type Program, type Token, tokTypes } from 'acorn';
import { type Internals, type Language, options, parsers } from './grammar.ts';
import { LimitProblem, ProgramProblem, SyntaxProblem } from './problem.ts';
import { skipTrivia } from './trivia.ts';

export type { Language } from './grammar.ts';

export type Parsed =
  | {
      readonly kind: 'statements';
      readonly program: Program;
      /** Whether a variable has the name of one of TypeScript's own types. Unknown (false) of TypeScript. */
      readonly declaresTypeName: boolean;
    }
  /** A text that is no list of statements but one expression: an object, a function without a name. */
  | { readonly kind: 'expression'; readonly expression: Expression };

/** Reads the program, as statements or, where that fails, as one expression. Throws ProgramProblem. */
export function parse(language: Language, text: string): Parsed {
  const statements = attempt(() => readStatements(language, text));
  if (!(statements instanceof ProgramProblem)) return statements;
  if (!startsLikeExpression.test(text.slice(skipTrivia(text, 0)))) throw statements;
  const expression = attempt(() => parseExpression(language, text));
  if (!(expression instanceof ProgramProblem)) return { kind: 'expression', expression };
  throw farther(statements, expression);
}

/** Reads a text that is one expression. Throws ProgramProblem. */
export function parseExpression(language: Language, text: string): Expression {
  const parser = new parsers[language](options, text);
  return caught(parser, () => {
    parser.nextToken();
    const expression = parser.parseExpression();
    while (parser.type === tokTypes.semi) parser.nextToken();
    if (parser.type !== tokTypes.eof) throw new SyntaxProblem(parser.start, unexpected);
    return expression;
  });
}

/** Reads the program for its tokens, as far as it can be understood; says whether that was to the end. */
export function readTokens(language: Language, text: string, onToken: (token: Token) => void): boolean {
  const parser = new parsers[language]({ ...options, onToken }, text);
  return !(attempt(() => caught(parser, () => parser.parse())) instanceof ProgramProblem);
}

/** The problem of the reading that got farther: it understood more of what was meant. */
export function farther(a: ProgramProblem, b: ProgramProblem): ProgramProblem {
  return b.offset > a.offset ? b : a;
}

/** What acorn says of a token that it did not expect; replaced by what was found. */
export const unexpected = 'Unexpected token';

/** An object, or a function without a name. */
const startsLikeExpression = /^(?:\{|(?:async\s+)?function\b)/;

function readStatements(language: Language, text: string): Parsed {
  const parser = new parsers[language](options, text);
  const program = caught(parser, () => parser.parse());
  return { kind: 'statements', program, declaresTypeName: parser.declaresTypeName ?? false };
}

function caught<T>(parser: Internals, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProgramProblem || !(error instanceof Error)) throw error;
    if (isFullStack(error)) throw new LimitProblem(parser.start, 'nested too deeply');
    if (isSyntaxError(error)) throw new SyntaxProblem(error.pos, messageOf(error));
    // A fault of a parser is met by one program alone.
    throw new ProgramProblem(parser.start, 'this cannot be read');
  }
}

/** As the engine says it, as acorn does, and what a full stack leads to where the plugin closes its trials. */
function isFullStack(error: Error): boolean {
  return (
    error instanceof RangeError || /^(?:Not enough stack space|Parse effect scopes must)/.test(error.message)
  );
}

function messageOf(error: SyntaxError): string {
  const message = error.message.replace(/ \(\d+:\d+\)$/, '');
  return message.length <= messageCharactersMax ? message : `${message.slice(0, messageCharactersMax)}…`;
}

/** A message may repeat the program: a regular expression, a name. */
const messageCharactersMax = 200;

export function attempt<T>(read: () => T): T | ProgramProblem {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProgramProblem) return error;
    throw error;
  }
}

function isSyntaxError(error: unknown): error is SyntaxError & { readonly pos: number } {
  return error instanceof SyntaxError && 'pos' in error && typeof error.pos === 'number';
}
