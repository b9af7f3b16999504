/**
 * The run's log: at most so many bytes of text in a line and in all. What does not fit is cut, marked and
 * counted; a log line never fails a run.
 */
import { type Emit, emitKind } from './contract.ts';
import { max, min } from './primordials.ts';
import { cut, headOf, isLonger, markBytes, utf8Bytes } from './text.ts';

/** Indexes into the contract's `logLevels`. */
export const level = { debug: 0, info: 1, warn: 2, error: 3 } as const;
export type Level = (typeof level)[keyof typeof level];

let emit: Emit;
let lineBytesMax = 0;
let bytesLeft = 0;
let linesCut = 0;
let charactersCut = 0;

export function openLog(to: Emit, lineMax: number, totalMax: number): void {
  emit = to;
  lineBytesMax = lineMax;
  bytesLeft = totalMax;
}

export function writeLog(at: Level, text: string): void {
  if (bytesLeft <= 0) {
    countCut(text.length);
    return;
  }
  let line = cut(text, lineBytesMax);
  if (isLonger(line, bytesLeft)) {
    const head = headOf(line, min(bytesLeft, lineBytesMax - markBytes));
    countCut(line.length - head.length);
    line = `${head}… [cut: the log is full]`;
    bytesLeft = 0;
  } else {
    // At least one, so that empty lines do not go on for ever.
    bytesLeft -= max(1, utf8Bytes(line));
  }
  emit(emitKind.log, at, line, '', '');
}

function countCut(characters: number): void {
  linesCut += 1;
  charactersCut += characters;
}

/** Says how much was cut, in one last line. */
export function closeLog(): void {
  if (linesCut > 0) {
    const lines = linesCut === 1 ? '1 line was' : `${linesCut} lines were`;
    emit(
      emitKind.log,
      level.warn,
      `The log is full: ${lines} cut or left out, ${charactersCut} characters in all.`,
      '',
      '',
    );
  }
}
