/** Text measured in the bytes that it takes on the wire. */

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Whether `text` takes more than `bytesMax`; measured only where its length does not decide. */
export function exceedsUtf8(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  return text.length * 3 > bytesMax && utf8Bytes(text) > bytesMax;
}

/** The longest beginning of `text` that, with an ellipsis, takes at most `bytesMax`; whole characters only. */
export function truncateUtf8(text: string, bytesMax: number): string {
  if (utf8Bytes(text) <= bytesMax) return text;
  const ellipsis = '…';
  const room = bytesMax - utf8Bytes(ellipsis);
  const bytes = Buffer.from(text, 'utf8');
  let end = Math.max(room, 0);
  // Steps back over continuation bytes (10xxxxxx), so that no character is cut in two.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + ellipsis;
}
