/** What a text would look like in the bytes of a database. */

/** The text as it would stand in bytes, in UTF-16 and in base64 at each alignment. */
export function formsOf(text: string): (Buffer | string)[] {
  const inner = text.slice(3, -3);
  const base64 = [0, 1, 2].map((skip) => Buffer.from(inner.slice(skip)).toString('base64').slice(0, -4));
  return [Buffer.from(text), Buffer.from(text, 'utf16le'), ...base64];
}
