/** atob and btoa over the language's own Base64. */
import { named } from './named-error.ts';

/** Binary text of Base64, which may have blanks and lack its padding. */
export function atob(data: unknown): string {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(String(data));
  } catch {
    throw named('InvalidCharacterError', 'atob: the text is not correctly encoded Base64');
  }
  let text = '';
  const chunk = 4096;
  for (let at = 0; at < bytes.length; at += chunk) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + chunk) as unknown as number[]);
  }
  return text;
}

/** Base64 of binary text: one character for each byte. */
export function btoa(data: unknown): string {
  const text = String(data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0xff) {
      throw named(
        'InvalidCharacterError',
        'btoa takes characters up to U+00FF: encode other text with new TextEncoder().encode(text).toBase64()',
      );
    }
    bytes[at] = unit;
  }
  return bytes.toBase64();
}
