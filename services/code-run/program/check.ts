/**
 * Checks a program against the declarations of what it may use. Nothing runs.
 *
 * The forms of programs are those of normalization; plain JavaScript is checked by the looser rules that the
 * compiler has for it. Only what would go wrong is reported: a part of which nothing is known (`unknown`), and what
 * is merely not written down, is no finding. What a run would say, the check says in the same words.
 */
import { AppError } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import type { Binding, ColumnShift } from '../core/model.ts';
import { type Bounds, type Compiled, compile } from './compiler.ts';
import { Findings, type RawFinding } from './findings.ts';
import { type ProgramError, type Typed, typedProgram } from './normalize.ts';
import { positionAsWritten } from './position.ts';

/** Before the program's first line. */
const before = 'export default async function () {\n';
const after = '\n}\n';
const linesBefore = 1;

const defaultBounds: Bounds = { timeoutMs: limits.checkTimeoutMs, memoryBytes: limits.checkMemoryBytes };

/** What a program may use. */
export interface Usable {
  readonly bindings: readonly Binding[];
  /** The declarations of at least what the text names. */
  declarationsFor(code: string): string;
}

export class ProgramChecker {
  readonly #bounds: Bounds;
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** What is wrong with the program, in the order of its text; empty if nothing is. */
  async check(code: string, usable: Usable, signal?: AbortSignal): Promise<readonly ProgramError[]> {
    const typed = typedProgram(code);
    if (!typed.ok) return [typed.error];
    const file = typed.language === 'TypeScript' ? 'program.ts' : 'program.js';
    await this.#enter();
    try {
      const declarations = usable.declarationsFor(code);
      const sources = {
        'declarations.d.ts': declarations,
        [file]: before + heard(typed.program.text) + after,
      };
      const compiled = await compile(sources, this.#bounds, signal);
      return findings(compiled, typed, new Findings(usable.bindings, declarations));
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < limits.checksAtOnce) {
      this.#running += 1;
      return;
    }
    if (this.#queue.length >= limits.checksQueuedMax) {
      throw new AppError('RESOURCE_EXHAUSTED', 'Too many checks wait. Try again later.', { retryable: true });
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Hands the place on to the next one in the queue, or gives it back. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** The program without the comments that would silence the compiler: whoever asks for a check wants its findings. */
function heard(text: string): string {
  return text.replace(/@ts-(?=ignore|expect-error)/g, '@ts_');
}

function findings(compiled: Compiled, typed: Extract<Typed, { ok: true }>, all: Findings): ProgramError[] {
  switch (compiled.tag) {
    case 'Timeout':
      return [nowhere(`The check took too long. Simplify the types`)];
    case 'Broken':
      return [nowhere('The compiler gave up, most likely for want of memory. Simplify the types')];
    case 'Done':
      return all
        .of(parse(compiled.output, typed.program.columnShifts), typed)
        .slice(0, limits.checkFindingsMax);
  }
}

function nowhere(message: string): ProgramError {
  return { message, line: 1, column: 1 };
}

/** `program.ts(2,7): error TS2322: …`, and lines with more of it, which are indented. */
const findingLine = /^program\.[jt]s\((\d+),(\d+)\): error TS(\d+): (.*)$/;

/** What the compiler says of the program, at places of the program as written. */
function parse(output: string, shifts: readonly ColumnShift[]): RawFinding[] {
  const found: { code: string; line: number; column: number; lines: string[] }[] = [];
  let isOurs = false;
  for (const text of output.split('\n')) {
    const match = findingLine.exec(text);
    if (match !== null) {
      const [, line, column, code = '', message = ''] = match;
      const at = { line: Number(line) - linesBefore, column: Number(column) };
      found.push({ code, ...positionAsWritten(shifts, at), lines: [message] });
      isOurs = true;
    } else if (text.startsWith(' ')) {
      if (isOurs) found.at(-1)?.lines.push(text);
    } else {
      isOurs = false;
    }
  }
  return found.map(({ lines, ...rest }) => ({ ...rest, message: lines.join('\n') }));
}
