/**
 * Why a program cannot be understood, at an offset of its text. Not a SyntaxError: the TypeScript parser tries
 * alternatives and swallows those, and a problem found here is final.
 */
export class ProgramProblem extends Error {
  override readonly name = 'ProgramProblem';
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The text cannot be read on: it may be something else than a program. */
export class SyntaxProblem extends ProgramProblem {}

/** A program that is too much: no other way to read it is tried. */
export class LimitProblem extends ProgramProblem {}
