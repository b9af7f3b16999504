/**
 * Makes what a model wrote into the program that the sandbox compiles: the body of a strict async function.
 *
 * N1: every line keeps its number, and columns are undone by the column shifts. N2: a program that parses as
 * JavaScript is left alone, byte for byte, unless one of the forms (forms.ts) applies. N3: nothing is guessed
 * beyond the named forms; what cannot be understood is an error before anything runs. N4: time is bounded for
 * every text (parser.ts).
 */
import type { NormalizedProgram } from '../core/model.ts';
import { type Blank, blank, insert } from './edits.ts';
import { type Changes, changesFor } from './forms.ts';
import type { Language } from './parser.ts';
import { ProgramProblem } from './problem.ts';
import { type ProgramError, programError } from './syntax-error.ts';
import { type Understood, understand } from './understand.ts';

export type { ProgramError } from './syntax-error.ts';

export type Normalized =
  | { readonly ok: true; readonly program: NormalizedProgram }
  | { readonly ok: false; readonly error: ProgramError };

/** As Normalized, with types where the program has them. */
export type Typed =
  | { readonly ok: true; readonly program: NormalizedProgram; readonly language: Language }
  | { readonly ok: false; readonly error: ProgramError };

export function normalizeProgram(code: string): Normalized {
  const understood = understand(code);
  if (!understood.ok) return understood;
  const changes = changesOf(understood);
  if (!('insertions' in changes)) return { ok: false, error: changes };
  return { ok: true, program: change(understood.text, changes.blanks, changes) };
}

/** The same program as normalizeProgram gives, but with its types: what is checked before it runs. */
export function typedProgram(code: string): Typed {
  const understood = understand(code);
  if (!understood.ok) return understood;
  const changes = changesOf(understood);
  if (!('insertions' in changes)) return { ok: false, error: changes };
  const blanks = [...changes.blanks, ...understood.outside];
  return { ok: true, language: understood.language, program: change(understood.typedText, blanks, changes) };
}

function changesOf({ language, text, parsed }: Understood): Changes | ProgramError {
  try {
    return changesFor(text, parsed);
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error;
    return programError(language, text, error);
  }
}

function change(text: string, blanks: readonly Blank[], { insertions }: Changes): NormalizedProgram {
  return insert(blank(text, blanks), insertions);
}
