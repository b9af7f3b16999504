/**
 * The line of a program that something is said about, with a mark under the place. A long line is cut around it.
 */
const lineBreak = /\r\n|[\n\r\u2028\u2029]/;

/** A line up to this long is shown whole, in UTF-16 units; of a longer one so much on each side of the place. */
const wholeMax = 160;
const side = 60;

/** Two lines, or none if the place is not in the program. Line and column count from 1, in UTF-16 units. */
export function excerpt(code: string, line: number, column: number): string[] {
  const text = code.split(lineBreak, line)[line - 1];
  if (line < 1 || column < 1 || text === undefined || column > text.length + 1) return [];
  const at = column - 1;
  const isWhole = text.length <= wholeMax;
  const start = isWhole ? 0 : wholeCharacter(text, Math.max(0, at - side));
  const end = isWhole ? text.length : wholeCharacter(text, Math.min(text.length, at + side));
  const left = `${line} | ${start > 0 ? '…' : ''}`;
  const shown = text.slice(start, end);
  // A tab in the line is a tab before the mark, so that both are as wide.
  const padding = (left + text.slice(start, at)).replace(/[^\t]/g, ' ');
  return [`${left}${shown}${end < text.length ? '…' : ''}`, `${padding}^`];
}

/** Moves an offset out of the middle of a surrogate pair. */
function wholeCharacter(text: string, offset: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(offset)) ? offset - 1 : offset;
}
