/** Cuts a stream of bytes into lines, in time that grows with their length alone, and bounds a line. */
export class LineBuffer {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that `chunk` completes, without their ends. Throws once a line is too long. */
  *append(chunk: Buffer): Generator<string, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      start = end + 1;
      yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.byteLength;
    if (this.#bytes > this.#bytesMax) throw new Error(`a line is longer than ${this.#bytesMax} bytes`);
    if (part.byteLength > 0) this.#parts.push(part);
  }
}
