/** Steps over what stands between two tokens: white space and comments. In steps, since a text may be full of them. */
const spaceOrComment = /\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\//y;

/** The offset of the first token at or after `offset`; the length of the text if there is none. */
export function skipTrivia(text: string, offset: number): number {
  let at = offset;
  for (;;) {
    spaceOrComment.lastIndex = at;
    if (!spaceOrComment.test(text)) return at;
    at = spaceOrComment.lastIndex;
  }
}

/** Whether a line ends between two offsets. */
export function hasLineBreak(text: string, start: number, end: number): boolean {
  return /[\n\r\u2028\u2029]/.test(text.slice(start, end));
}
