/**
 * Positions. Where a program's code stands is told by the engine's call sites; a program sees only its own
 * lines, as it wrote them: what normalization inserted is taken out again, and frames of the realm and of
 * built-ins are left out of every stack.
 *
 * The program is the only code in the isolate that was compiled from a string, so a frame is the program's
 * exactly if it is "eval" code.
 */
import {
  apply,
  captureStackTrace,
  defineFixed,
  Error,
  errorToString,
  getPrototypeOf,
  indexOf,
  min,
  readStack,
  SafeWeakMap,
  slice,
  V8Error,
} from './primordials.ts';

/** Lines that compiling puts before the program's first: the function's two, and the directive. */
export const linesBefore = 3;

export type ColumnShifts = readonly (readonly [line: number, column: number, length: number])[];

interface CallSite {
  isEval(): boolean;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  getFunctionName(): string | null;
}

const framesMax = 10;
let columnShifts: ColumnShifts = [];
let programLines = 0;

/** Every call asks for its position, so that way through the formatter is short. */
let probe: object | undefined;
let probed = '';

/** The error whose trace the engine asked for last. */
let lastFormatted: object | undefined;

/** First position of each error whose trace was formatted, or that was given one. */
const positions = new SafeWeakMap<object, string>();

/** The methods of call sites: a program never holds one, but they are bound all the same. */
const callSite = (() => {
  let site: CallSite | undefined;
  const ErrorWithHook = Error as { prepareStackTrace?: unknown };
  ErrorWithHook.prepareStackTrace = (_: unknown, sites: CallSite[]) => {
    site = sites[0];
  };
  void new Error().stack;
  if (site === undefined) {
    throw new Error('no call sites');
  }
  const prototype = getPrototypeOf(site) as CallSite;
  const { isEval, getLineNumber, getColumnNumber, getFunctionName } = prototype;
  return {
    isEval: (of: CallSite) => apply(isEval, of, []) as boolean,
    line: (of: CallSite) => (apply(getLineNumber, of, []) as number | null) ?? 0,
    column: (of: CallSite) => (apply(getColumnNumber, of, []) as number | null) ?? 0,
    name: (of: CallSite) => apply(getFunctionName, of, []) as string | null,
  };
})();

/** Formats the trace of an error. The engine calls it once for each, when its stack is first read. */
function formatStack(error: object, sites: CallSite[]): string {
  if (error === probe) {
    probed = firstPosition(sites);
    return '';
  }
  lastFormatted = error;
  const given = positions.get(error);
  let text: string;
  try {
    text = errorToString(error as Error);
  } catch {
    text = 'Error';
  }
  for (let at = 0; at < sites.length; at += 1) {
    const site = sites[at] as CallSite;
    if (!callSite.isEval(site)) {
      continue;
    }
    const position = positionAsWritten(callSite.line(site) - linesBefore, callSite.column(site));
    if (position === '') {
      continue;
    }
    if (!positions.has(error)) {
      positions.set(error, position);
    }
    const name = callSite.name(site);
    text +=
      name === null || name === 'eval' || name === ''
        ? `\n    at program:${position}`
        : `\n    at ${name} (program:${position})`;
  }
  return given === undefined ? text : `${text}\n    at program:${given}`;
}

function firstPosition(sites: CallSite[]): string {
  for (let at = 0; at < sites.length; at += 1) {
    const site = sites[at] as CallSite;
    if (callSite.isEval(site)) {
      return positionAsWritten(callSite.line(site) - linesBefore, callSite.column(site));
    }
  }
  return '';
}

/** Takes what was inserted out of a position of the normalized text. Empty if it lies outside the program. */
export function positionAsWritten(line: number, column: number): string {
  if (line < 1 || line > programLines || column < 1) {
    return '';
  }
  let inserted = 0;
  for (let at = 0; at < columnShifts.length; at += 1) {
    const shift = columnShifts[at] as ColumnShifts[number];
    if (shift[0] === line && shift[1] < column) {
      inserted += min(column - shift[1], shift[2]);
    }
  }
  return `${line}:${column - inserted}`;
}

/** The error whose trace was formatted last, if it has that position. */
export function lastFormattedAt(position: string): object | undefined {
  return lastFormatted !== undefined && (positions.get(lastFormatted) ?? '') === position
    ? lastFormatted
    : undefined;
}

/** Where the program is right now, as seen from a function of the realm: the innermost frame of its own. */
export function currentPosition(below: unknown): string {
  probe = { __proto__: null };
  probed = '';
  captureStackTrace(probe, below);
  readStack(probe as Error);
  return probed;
}

/** The stack from there on, each frame on a line of its own. */
export function currentStack(below: unknown): string {
  const holder = { __proto__: null };
  captureStackTrace(holder, below);
  const text = readStack(holder as unknown as Error) as string;
  const lineEnd = indexOf(text, '\n');
  return lineEnd === -1 ? '' : slice(text, lineEnd);
}

/** Where an error was made, if it was made in the program. */
export function positionOf(error: object): string {
  const known = positions.get(error);
  if (known !== undefined) {
    return known;
  }
  try {
    readStack(error as Error);
  } catch {
    return '';
  }
  return positions.get(error) ?? '';
}

/** Gives an error of the realm the position of the call that it is about. */
export function setPosition(error: object, position: string): void {
  positions.set(error, position);
}

export function setProgram(lines: number, shifts: ColumnShifts): void {
  programLines = lines;
  columnShifts = shifts;
}

export function lockStacks(): void {
  V8Error.stackTraceLimit = framesMax;
  defineFixed(Error, 'prepareStackTrace', formatStack);
}
