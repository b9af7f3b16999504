/**
 * The child's end of the socket: blocking reads and writes on one descriptor, no event loop. A supervisor
 * that is gone ends the process.
 *
 * C1  Nothing is read beyond the frame that is asked for, so that the descriptor can be polled and handed on;
 *     after `readAhead`, reads take what is there, and frames sent together cost one system call.
 */
import { readSync, writeSync } from 'node:fs';
import { BodyReader, FrameError, headBytes } from './frames.ts';

export interface InFrame {
  readonly kind: number;
  readonly body: BodyReader;
}

const bufferBytes = 64 * 1024;

export class Channel {
  readonly #fd: number;
  readonly #exit: (code: number) => never;
  readonly #buffer = Buffer.alloc(bufferBytes);
  readonly #view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, bufferBytes);
  /** What was read and not used yet lies between them. */
  #start = 0;
  #end = 0;
  #ahead = false;

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

  /** From now on nobody else reads from the descriptor or waits for it. */
  readAhead(): void {
    this.#ahead = true;
  }

  /** Whether a whole frame is here already. */
  get hasFrame(): boolean {
    const there = this.#end - this.#start;
    return there >= headBytes && there >= headBytes + this.#view.getUint32(this.#start, true);
  }

  /** The next frame; valid until the one after it. */
  read(bytesMax: number): InFrame {
    this.#need(headBytes);
    const length = this.#view.getUint32(this.#start, true);
    const kind = this.#view.getUint8(this.#start + 4);
    if (length > bytesMax) throw new FrameError('the supervisor sent a frame that is too large');
    this.#start += headBytes;
    return { kind, body: new BodyReader(length <= bufferBytes ? this.#small(length) : this.#large(length)) };
  }

  #small(length: number): Buffer {
    this.#need(length);
    this.#start += length;
    return this.#buffer.subarray(this.#start - length, this.#start);
  }

  #large(length: number): Buffer {
    const body = Buffer.allocUnsafeSlow(length);
    let at = this.#buffer.copy(body, 0, this.#start, this.#end);
    this.#start = this.#end = 0;
    while (at < length) at += this.#read(body, at, length);
    return body;
  }

  /** Reads on until so many bytes are in the buffer. */
  #need(bytes: number): void {
    if (this.#end - this.#start >= bytes) return;
    this.#buffer.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    const to = this.#ahead ? bufferBytes : bytes;
    while (this.#end < bytes) this.#end += this.#read(this.#buffer, this.#end, to);
  }

  #read(into: Buffer, from: number, to: number): number {
    let count = 0;
    try {
      count = readSync(this.#fd, into, from, to - from, null);
    } catch {
      this.#exit(0);
    }
    if (count === 0) this.#exit(0);
    return count;
  }
}
