/**
 * The Markdown around a program: prose and fence lines become empty lines, so that every line keeps its
 * number. The one fenced program is taken; two are refused, since running a guess could do things twice.
 * A fence that stands inside a template literal or a comment is no fence; the caller asks only for texts
 * that do not parse as they are.
 */
import { limits } from '../../shared/limits.ts';
import { attempt, type Language, parse } from './parser.ts';
import { lineBreaksOf } from './position.ts';
import { ProgramProblem } from './problem.ts';

interface Line {
  readonly start: number;
  /** Before the line break. */
  readonly end: number;
}

interface Fence {
  readonly language: string;
  /** First and last line of what is inside. */
  readonly from: number;
  readonly to: number;
  /** Offset of the opening line. */
  readonly offset: number;
}

/** Before a fence in its line: any white space, a BOM too. */
const indent = String.raw`^[^\S\r\n\u2028\u2029]*`;
const fenceLine = new RegExp(`${indent}(\`{3,}|~{3,})([^\`\\r\\n]*)$`);
const fenceStart = new RegExp(`${indent}(?:\`{3}|~{3})`, 'm');
/** More fences than this are not looked at. */
const fencesMax = 100;
const programLanguages = new Set(
  ' js javascript ecmascript mjs cjs jsx ts typescript mts cts tsx node'.split(' '),
);

/** Whether a line of the text looks like a fence. */
export function mayBeFenced(text: string): boolean {
  return fenceStart.test(text);
}

/** The text with everything but its fenced program emptied; undefined if it has no fence. */
export function unfence(text: string): string | undefined {
  const lines = linesOf(text);
  const fences = fencesOf(text, lines);
  if (fences.length === 0) return undefined;
  const candidates = fences.filter((fence) => programLanguages.has(fence.language));
  const named = candidates.filter((fence) => fence.language !== '');
  const programs = named.length > 0 ? named : likelyOf(text, lines, candidates);
  const [program, another] = programs;
  if (program === undefined) {
    const [first] = fences;
    throw new ProgramProblem(first?.offset ?? 0, `the fenced text is ${first?.language}, not JavaScript`);
  }
  if (another !== undefined) {
    throw new ProgramProblem(
      another.offset,
      `there are ${programs.length} fenced programs, and it is not clear which to run: send one`,
    );
  }
  return keepLines(text, lines, program);
}

/** Of several fences without a language those that do something; all of them if none does. */
function likelyOf(text: string, lines: readonly Line[], fences: readonly Fence[]): readonly Fence[] {
  if (fences.length < 2) return fences;
  const likely = fences.filter((fence) => doesSomething(insideOf(text, lines, fence)));
  return likely.length === 0 ? fences : likely;
}

/** Without one of these, what can be read gives a value at most: it is data, or what a program has put out. */
const doing = /[(`=]|\b(?:await|new|return|throw)\b/;

function doesSomething(text: string): boolean {
  if (!doing.test(text)) return false;
  const isRead = (language: Language) => !(attempt(() => parse(language, text)) instanceof ProgramProblem);
  // What is too large to be read with types may be a program.
  return (
    isRead('JavaScript') || Buffer.byteLength(text) > limits.typedProgramBytesMax || isRead('TypeScript')
  );
}

function fencesOf(text: string, lines: readonly Line[]): Fence[] {
  const fences: Fence[] = [];
  let prose = new Prose();
  for (let index = 0; index < lines.length && fences.length < fencesMax; index += 1) {
    const line = lines[index] ?? { start: 0, end: 0 };
    const open = fenceOf(text, line);
    if (open === undefined || prose.isProgram) {
      prose.read(text.slice(line.start, line.end));
      continue;
    }
    let close = index + 1;
    while (close < lines.length && !closes(open.mark, fenceOf(text, lines[close]))) close += 1;
    fences.push({ language: open.language, from: index + 1, to: close - 1, offset: line.start });
    index = close;
    prose = new Prose();
  }
  return fences;
}

/** What was read since the last fence: with a backtick or a comment open, the next fence belongs to a program. */
class Prose {
  #backticks = 0;
  #inComment = false;

  read(line: string): void {
    this.#backticks += line.match(/(?<!\\)`/g)?.length ?? 0;
    const opened = line.lastIndexOf('/*');
    const closed = line.lastIndexOf('*/');
    if (opened !== closed) this.#inComment = opened > closed;
  }

  get isProgram(): boolean {
    return this.#backticks % 2 === 1 || this.#inComment;
  }
}

function fenceOf(text: string, line: Line | undefined) {
  const match = line === undefined ? null : fenceLine.exec(text.slice(line.start, line.end));
  if (match === null) return undefined;
  const language = (match[2] ?? '').trim().split(/[\s,{:]/, 1)[0] ?? '';
  return { mark: match[1] ?? '', info: (match[2] ?? '').trim(), language: language.toLowerCase() };
}

function closes(mark: string, line: { readonly mark: string; readonly info: string } | undefined): boolean {
  return line !== undefined && line.info === '' && line.mark.startsWith(mark);
}

function keepLines(text: string, lines: readonly Line[], fence: Fence): string {
  let result = '';
  lines.forEach((line, index) => {
    const next = lines[index + 1]?.start ?? text.length;
    const inside = index >= fence.from && index <= fence.to;
    result += inside ? text.slice(line.start, next) : text.slice(line.end, next);
  });
  return result;
}

function insideOf(text: string, lines: readonly Line[], { from, to }: Fence): string {
  return from > to ? '' : text.slice(lines[from]?.start, lines[to]?.end);
}

function linesOf(text: string): Line[] {
  let start = 0;
  const lines = lineBreaksOf(text).map((found) => {
    const line = { start, end: found.start };
    start = found.end;
    return line;
  });
  return [...lines, { start, end: text.length }];
}
