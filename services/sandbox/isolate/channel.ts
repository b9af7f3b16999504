/**
 * The child's end of the socket: blocking reads and writes on one descriptor, no event loop. A supervisor
 * that is gone ends the process.
 */
import { readSync, writeSync } from 'node:fs';
import { BodyReader, FrameError, headBytes } from './frames.ts';

export interface InFrame {
  readonly kind: number;
  readonly body: BodyReader;
}

export class Channel {
  readonly #fd: number;
  readonly #exit: (code: number) => never;
  readonly #head = Buffer.alloc(headBytes);
  readonly #small = Buffer.alloc(64 * 1024);

  constructor(fd: number, exit: (code: number) => never) {
    this.#fd = fd;
    this.#exit = exit;
  }

  write(bytes: Buffer): void {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.#fd, bytes, at);
    } catch {
      this.#exit(0);
    }
  }

  /** The next frame; valid until the one after it. */
  read(bytesMax: number): InFrame {
    this.#fill(this.#head, headBytes);
    const length = this.#head.readUInt32LE(0);
    if (length > bytesMax) throw new FrameError('the supervisor sent a frame that is too large');
    const body = length <= this.#small.length ? this.#small : Buffer.allocUnsafeSlow(length);
    this.#fill(body, length);
    return { kind: this.#head.readUInt8(4), body: new BodyReader(body.subarray(0, length)) };
  }

  #fill(into: Buffer, length: number): void {
    let at = 0;
    while (at < length) {
      let count = 0;
      try {
        count = readSync(this.#fd, into, at, length - at, null);
      } catch {
        this.#exit(0);
      }
      if (count === 0) this.#exit(0);
      at += count;
    }
  }
}
