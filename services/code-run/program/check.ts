/**
 * Checks a program against the declarations of what it may use. Nothing runs.
 *
 * The forms of programs are those of normalization; plain JavaScript is checked by the looser rules that the
 * compiler has for it. Only what would go wrong is reported: a part of which nothing is known (`unknown`), and what
 * is merely not written down, is no finding.
 */
import { AppError } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';
import { truncateUtf8 } from '../../shared/text.ts';
import type { ColumnShift } from '../core/model.ts';
import { type Bounds, type Compiled, compile } from './compiler.ts';
import { type ProgramError, typedProgram } from './normalize.ts';
import { positionAsWritten } from './position.ts';

/** Before the program's first line. */
const before = 'async function program() {\n';
const after = '\n}\nexport {};\n';
const linesBefore = 1;

const defaultBounds: Bounds = { timeoutMs: limits.checkTimeoutMs, memoryBytes: limits.checkMemoryBytes };

export class ProgramChecker {
  readonly #bounds: Bounds;
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** What is wrong with the program, in the order of its text; empty if nothing is. */
  async check(code: string, declarations: string, signal?: AbortSignal): Promise<readonly ProgramError[]> {
    const typed = typedProgram(code);
    if (!typed.ok) return [typed.error];
    const file = typed.language === 'TypeScript' ? 'program.ts' : 'program.js';
    const sources = { 'declarations.d.ts': declarations, [file]: before + typed.program.text + after };
    await this.#enter();
    try {
      return findings(await compile(sources, this.#bounds, signal), typed.program.columnShifts);
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

function findings(compiled: Compiled, shifts: readonly ColumnShift[]): ProgramError[] {
  switch (compiled.tag) {
    case 'Timeout':
      return [nowhere(`The check took too long. Simplify the types`)];
    case 'Broken':
      return [nowhere('The compiler gave up, most likely for want of memory. Simplify the types')];
    case 'Done':
      return parse(compiled.output, shifts).slice(0, limits.checkFindingsMax);
  }
}

function nowhere(message: string): ProgramError {
  return { message, line: 1, column: 1 };
}

/** `program.ts(2,7): error TS2322: …`, and lines with more of it, which are indented. */
const findingLine = /^program\.[jt]s\((\d+),(\d+)\): error TS(\d+): (.*)$/;

function parse(output: string, shifts: readonly ColumnShift[]): ProgramError[] {
  const found: { position: { line: number; column: number }; code: string; lines: string[] }[] = [];
  let isOurs = false;
  for (const text of output.split('\n')) {
    const match = findingLine.exec(text);
    if (match !== null) {
      const [, line, column, code = '', message = ''] = match;
      found.push({
        position: { line: Number(line) - linesBefore, column: Number(column) },
        code,
        lines: [message],
      });
      isOurs = true;
    } else if (text.startsWith(' ')) {
      if (isOurs) found.at(-1)?.lines.push(text);
    } else {
      isOurs = false;
    }
  }
  return found
    .filter(({ code, lines: [message = ''] }) => !coerced.has(code) && !isUnsaid(message))
    .map(({ position, code, lines }) => ({
      message: truncateUtf8(plain(code, lines.join('\n')), limits.checkMessageBytesMax),
      ...positionAsWritten(shifts, position),
    }));
}

/** Operators on other types than numbers: JavaScript converts, as in the difference of two dates. */
const coerced = new Set(['2362', '2363', '2365']);

/** Nothing is known of the value, or of a property that an object got later. */
function isUnsaid(message: string): boolean {
  return /\btype 'unknown'|^Type 'unknown'|does not exist on type '\{\}'/.test(message);
}

/** A message in the words of the product: what to install and to configure is nothing a program could do. */
function plain(code: string, message: string): string {
  switch (code) {
    case '2307':
      return message.replace(/ or its corresponding type declarations\.?/, ': there are no modules.');
    case '2580':
    case '2591':
      return `${message.split('. ', 1)[0]}: this is not Node.js.`;
    case '2339':
    case '2551':
      return withAwait(message.replace(longType, "on type '$1…'"));
    default:
      return message;
  }
}

/** The type of a connection names everything that it has. */
const longType = /on type '([\s\S]{60})[\s\S]{40,}'(?=\.)/;

function withAwait(message: string): string {
  return message.includes("on type 'Promise<") ? `${message} Did you forget await?` : message;
}
