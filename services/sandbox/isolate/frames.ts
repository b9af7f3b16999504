/**
 * The frames between the supervisor and a child: a 5-byte head (body length as u32, kind as u8, little
 * endian) and a body. This file knows their form alone; what may come when is pool/session.ts.
 *
 * F1  What comes from a child is hostile: a length is checked against the limit of its kind before a byte of
 *     the body is kept, every read inside a body is checked against the body's end, text must be UTF-8, and
 *     a body must be used up.
 * F2  Only bytes, text and unsigned integers: nothing of a program is parsed here.
 * F3  A child runs this without a JIT, for every call: numbers go through a DataView, which is the engine's own code,
 *     where Buffer puts them together byte by byte.
 */

export const headBytes = 5;

/** From the supervisor. */
export const toChild = {
  /** u32 length of the realm's job as JSON, that JSON, the program. Once. */
  job: 1,
  /** u32 index, u8 settle kind, u32 length of a, a, b. */
  settle: 2,
  /** u32 number of a system call, six u64 arguments, text. Instead of a job; see jail/probe.ts. */
  probe: 3,
} as const;

/** From a child. */
export const fromChild = {
  /** The secret the child was made with, u32 length of what it says of its lock as JSON, that JSON. Once, first. */
  ready: 1,
  /** u8 level, text. Written at once. */
  log: 2,
  /** u32 index, u32 line, u32 column, u32 length of the name, the name, arguments as JSON. */
  call: 3,
  /** u32 outcomes delivered, u32 processor milliseconds, u64 bytes of the isolate. */
  rest: 4,
  /** u8 end kind, u32 line, u32 column, u32 processor milliseconds, u64 bytes of the isolate, u32 length of the name, the name, u32 length of the message, the message, value. Last. */
  end: 5,
  /** u32 errno, 0 if the call succeeded. Only after a probe. */
  probed: 6,
} as const;

/** How a child says that it ended. */
export const endKind = { returned: 1, returnedUndefined: 2, threw: 3, outputTooLarge: 4, memory: 5 } as const;

export const secretBytes = 16;

/** In place of an argument of a probe: the address of the text that comes with it. */
export const probeTextArgument = 0xffff_ffff_ffff_fff1n;

/** A frame that is not what it should be. The sender is at fault. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Builds frames, one after another, in one growing buffer. */
export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(4096);
  #view = viewOf(this.#buffer);
  #length = 0;
  #start = 0;

  get length(): number {
    return this.#length;
  }

  begin(kind: number): this {
    this.#start = this.#length;
    return this.u32(0).u8(kind);
  }

  end(): void {
    this.#view.setUint32(this.#start, this.#length - this.#start - headBytes, true);
  }

  u8(value: number): this {
    this.#room(1);
    this.#view.setUint8(this.#length, value);
    this.#length += 1;
    return this;
  }

  u32(value: number): this {
    this.#room(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
    return this;
  }

  /** A safe integer. */
  u64(value: number): this {
    this.#room(8);
    this.#view.setUint32(this.#length, value, true);
    this.#view.setUint32(this.#length + 4, value / wordSize, true);
    this.#length += 8;
    return this;
  }

  /** An argument of a probe. */
  argument(value: number | bigint | 'text'): this {
    this.#room(8);
    const word = value === 'text' ? probeTextArgument : BigInt.asUintN(64, BigInt(value));
    this.#view.setBigUint64(this.#length, word, true);
    this.#length += 8;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#room(value.byteLength);
    this.#buffer.set(value, this.#length);
    this.#length += value.byteLength;
    return this;
  }

  /** Text up to the end of the frame. */
  rest(text: string): this {
    // Counting first is slower for short text, and takes three times the room for long text if left out.
    this.#room(text.length < 4096 ? text.length * 3 : Buffer.byteLength(text));
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
    return this;
  }

  /** Text behind its length. */
  text(text: string): this {
    const at = this.#length;
    this.u32(0).rest(text);
    this.#view.setUint32(at, this.#length - at - 4, true);
    return this;
  }

  /** What was written so far; valid until the next write. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    this.#view = viewOf(grown);
  }
}

/** Reads the body of one frame. Throws FrameError past its end. */
export class BodyReader {
  readonly #body: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
    this.#view = viewOf(body);
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  /** A u64 that must be a safe integer. */
  u64(): number {
    const low = this.u32();
    const value = this.u32() * wordSize + low;
    if (!Number.isSafeInteger(value)) throw new FrameError('a number is too large');
    return value;
  }

  bytes(length: number): Buffer {
    const at = this.#take(length);
    return this.#body.subarray(at, at + length);
  }

  /** Where the next so many bytes begin. */
  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#body.length) throw new FrameError('a frame is too short');
    this.#at = at + length;
    return at;
  }

  /** Text behind its length. */
  text(bytesMax: number): string {
    const length = this.u32();
    if (length > bytesMax) throw new FrameError('a text is too long');
    return decode(this.bytes(length));
  }

  restBytes(): Buffer {
    return this.bytes(this.#body.length - this.#at);
  }

  restText(): string {
    return decode(this.restBytes());
  }

  done(): void {
    if (this.#at !== this.#body.length) throw new FrameError('a frame is too long');
  }
}

/** What fits into a u32, and one more. */
const wordSize = 2 ** 32;

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

function decode(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  try {
    return utf8.decode(bytes);
  } catch {
    throw new FrameError('a text is not UTF-8');
  }
}

export interface Frame {
  readonly kind: number;
  readonly body: Buffer;
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #bytesMax: (kind: number) => number | undefined;
  #chunks: Buffer[] = [];
  #length = 0;

  /** `bytesMax` gives the largest body that a kind may have now, or undefined for a kind that may not come. */
  constructor(bytesMax: (kind: number) => number | undefined) {
    this.#bytesMax = bytesMax;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next whole frame, if there is one. Throws FrameError for one that may not come. */
  next(): Frame | undefined {
    if (this.#length < headBytes) return undefined;
    const head = this.#front(headBytes);
    const length = head.readUInt32LE(0);
    const kind = head.readUInt8(4);
    const max = this.#bytesMax(kind);
    if (max === undefined) throw new FrameError(`a frame of kind ${kind} may not come now`);
    if (length > max) throw new FrameError(`a frame of kind ${kind} has ${length} bytes, more than ${max}`);
    if (this.#length < headBytes + length) return undefined;
    const whole = this.#front(headBytes + length);
    this.#drop(headBytes + length);
    return { kind, body: whole.subarray(headBytes, headBytes + length) };
  }

  /** At least `length` bytes in one piece; the pieces are joined only once all of them are there. */
  #front(length: number): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= length) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #drop(length: number): void {
    const first = this.#chunks[0];
    if (first === undefined) return;
    this.#length -= length;
    if (first.length === length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(length);
  }
}
