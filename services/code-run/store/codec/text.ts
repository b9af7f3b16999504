/**
 * Several texts in one piece of bytes, each exactly as it was: lone surrogates, which UTF-8 cannot hold, make
 * a text UTF-16. Large texts stay out of JSON, where they would be escaped a second time.
 *
 *   count (4) · for each: encoding (1) · bytes (4) · text
 */
const utf8 = 0;
const utf16 = 1;
const headBytes = 5;

export function packTexts(texts: readonly string[]): Buffer {
  const encodings = texts.map((text) => (text.isWellFormed() ? ('utf8' as const) : ('utf16le' as const)));
  const sizes = texts.map((text, at) => Buffer.byteLength(text, encodings[at]));
  const packed = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headBytes + size, 4));
  let offset = packed.writeUInt32LE(texts.length, 0);
  texts.forEach((text, at) => {
    offset = packed.writeUInt8(encodings[at] === 'utf8' ? utf8 : utf16, offset);
    offset = packed.writeUInt32LE(sizes[at] ?? 0, offset);
    offset += packed.write(text, offset, encodings[at]);
  });
  return packed;
}

/** Throws RangeError on what `packTexts` did not write. */
export function unpackTexts(packed: Buffer): string[] {
  let offset = 4;
  const texts = Array.from({ length: packed.readUInt32LE(0) }, () => {
    const encoding = packed.readUInt8(offset);
    const size = packed.readUInt32LE(offset + 1);
    offset += headBytes + size;
    if (offset > packed.length || encoding > utf16) {
      throw new RangeError('packed texts are damaged');
    }
    return packed.toString(encoding === utf8 ? 'utf8' : 'utf16le', offset - size, offset);
  });
  if (offset !== packed.length) {
    throw new RangeError('packed texts are damaged');
  }
  return texts;
}
