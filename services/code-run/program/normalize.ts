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
import { typesFor, typesForCalls } from './parameters.ts';
import type { Language } from './parser.ts';
import { ProgramProblem } from './problem.ts';
import { type ProgramError, programError } from './syntax-error.ts';
import { type Understood, understand } from './understand.ts';
import { type Uses, usesOf } from './uses.ts';

export type { ProgramError } from './syntax-error.ts';

export type Normalized =
  | { readonly ok: true; readonly program: NormalizedProgram }
  | { readonly ok: false; readonly error: ProgramError };

/** As Normalized, with types where the program has them, and of the functions that get `apps`. */
export type Typed =
  | {
      readonly ok: true;
      readonly program: NormalizedProgram;
      readonly language: Language;
      /** What it uses, at offsets of `text`, whose lines and columns are those of the text as written. */
      readonly uses: Uses;
      readonly text: string;
    }
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
  const { language, text, typedText, outside } = understood;
  const blanks = [...changes.blanks, ...outside];
  const uses = usesOf(understood.parsed);
  const { called } = changes;
  const types = [
    ...(called === undefined ? [] : typesFor(called, typedText, language)),
    ...uses.functions.flatMap((one) =>
      one.called === called ? [] : typesForCalls(one.called, one.calls, typedText, language),
    ),
    // A module that is named by what is no plain text is looked for nowhere.
    ...uses.modules.map((at) => ({ at, text: '""+' })),
  ];
  const insertions = [...changes.insertions, ...types];
  return { ok: true, language, uses, text, program: change(typedText, blanks, { insertions }) };
}

function changesOf({ language, text, parsed }: Understood): Changes | ProgramError {
  try {
    return changesFor(text, parsed);
  } catch (error) {
    if (!(error instanceof ProgramProblem)) throw error;
    return programError(language, text, error);
  }
}

function change(
  text: string,
  blanks: readonly Blank[],
  { insertions }: Pick<Changes, 'insertions'>,
): NormalizedProgram {
  return insert(blank(text, blanks), insertions);
}
