/** Sizes of text as the wire counts them, and cutting with a mark that says how much there was. */
import { charCodeAt, matches, slice } from './primordials.ts';

const ascii = /^[^\u0080-\uffff]*$/;

/** UTF-8 bytes of a text; a lone surrogate counts as the three of its replacement. */
export function utf8Bytes(text: string): number {
  if (matches(ascii, text)) {
    return text.length;
  }
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = charCodeAt(text, at);
    if (unit < 0x80) {
      bytes += 1;
    } else if (unit < 0x800) {
      bytes += 2;
    } else if (isPair(text, at, unit)) {
      bytes += 4;
      at += 1;
    } else {
      bytes += 3;
    }
  }
  return bytes;
}

function isPair(text: string, at: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff || at + 1 === text.length) {
    return false;
  }
  const next = charCodeAt(text, at + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** Whether a text has more than so many bytes, without counting what is clear from its length. */
export function isLonger(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) {
    return true;
  }
  return text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax;
}

/** The longest start of a text that has at most so many bytes, never half a character. */
export function headOf(text: string, bytesMax: number): string {
  if (!isLonger(text, bytesMax)) {
    return text;
  }
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const unit = charCodeAt(text, at);
    const pair = isPair(text, at, unit);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : pair ? 4 : 3;
    if (bytes > bytesMax) {
      break;
    }
    at += pair ? 2 : 1;
  }
  return slice(text, 0, at);
}

/** Room that a mark takes at most. */
export const markBytes = 64;

/** A text of at most so many bytes: whole, or its start and a mark that says how much there was. */
export function cut(text: string, bytesMax: number): string {
  if (!isLonger(text, bytesMax)) {
    return text;
  }
  const head = headOf(text, bytesMax - markBytes);
  return `${head}… [cut: ${head.length} of ${text.length} characters]`;
}
