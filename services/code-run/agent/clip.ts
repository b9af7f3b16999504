/** Cuts text to a budget of bytes, and says how much is missing. */
import { truncateUtf8, utf8Bytes } from '../../shared/text.ts';

/** The beginning of a text. The note about the rest is not counted; it is short. */
export function clip(text: string, bytesMax: number): string {
  const bytes = utf8Bytes(text);
  if (bytes <= bytesMax) return text;
  const kept = truncateUtf8(text, bytesMax);
  return `${kept} (${bytes - utf8Bytes(kept)} more bytes left out)`;
}

/**
 * The first and last lines, each half of the budget; `noun` names what is counted. Whole lines, but for one that
 * takes more than its half alone.
 */
export function clipLines(lines: readonly string[], bytesMax: number, noun: string): string[] {
  if (sizeOf(lines) <= bytesMax) return [...lines];
  const first = fitting(lines, bytesMax / 2);
  const last = fitting(lines.slice(first.length).reverse(), bytesMax / 2).reverse();
  const left = lines.length - first.length - last.length;
  return left === 0 ? [...first, ...last] : [...first, `… ${left} ${noun} left out …`, ...last];
}

function fitting(lines: readonly string[], bytesMax: number): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += utf8Bytes(line) + 1;
    if (bytes > bytesMax) return kept.length === 0 ? [clip(line, bytesMax)] : kept;
    kept.push(line);
  }
  return kept;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((bytes, line) => bytes + utf8Bytes(line) + 1, 0);
}
