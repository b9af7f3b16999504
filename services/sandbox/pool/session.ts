/**
 * What a child may say, and when. Pure: frames in, checked messages out. Everything a child sends is taken
 * for an attack; what breaks a rule throws FrameError, and only that attempt is lost.
 *
 * S1  Calls are numbered from 0 without a gap, and there are at most callsMax.
 * S2  At rest, nothing comes until an outcome went in; each rest delivers exactly one more outcome, and
 *     never more than went in.
 * S3  Sizes stay within the limits of the job, and so do all log lines together. Text is UTF-8.
 * S4  An outcome may go in ahead of its call, as a replay sends it; each call has one.
 * S5  An end is the last frame, and calls that are still out do not hinder it.
 */
import { isUtf8 } from 'node:buffer';
import type { SandboxCallLimits } from '../../shared/limits.ts';
import { limits } from '../../shared/limits.ts';
import { BodyReader, endKind, type Frame, FrameError, fromChild } from '../isolate/frames.ts';
import { logEndBytesMax, logLevels } from '../realm/contract.ts';

export interface ChildCall {
  readonly index: number;
  readonly binding: string;
  readonly argumentsJson: Buffer;
  readonly line: number;
  readonly column: number;
}

export interface ChildEnd {
  readonly kind: (typeof endKind)[keyof typeof endKind];
  readonly name: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly value: Buffer;
}

/** What an attempt has cost so far, as the child says. */
export interface Usage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export type ChildMessage =
  | { readonly tag: 'Log'; readonly level: LogLevelName; readonly text: string }
  | { readonly tag: 'Call'; readonly call: ChildCall }
  | { readonly tag: 'Rest'; readonly delivered: number; readonly usage: Usage }
  | { readonly tag: 'End'; readonly end: ChildEnd; readonly usage: Usage };

export type LogLevelName = (typeof logLevels)[number];

export type Refusal = 'NoSuchCall' | 'AlreadySettled';

/** Room for the numbers of a frame, and for the mark on a text that was cut. */
const fixedBytes = 256;
const endKinds: ReadonlySet<number> = new Set(Object.values(endKind));

export class Session {
  readonly #callLimits: SandboxCallLimits;
  readonly #outputBytes: number;
  readonly #open = new Set<number>();
  /** Calls that were not made yet and have an outcome. */
  readonly #ahead = new Set<number>();
  #issued = 0;
  #sent = 0;
  #logBytes = 0;
  #delivered = -1;
  #state: 'running' | 'rest' | 'ended' = 'running';

  constructor(callLimits: SandboxCallLimits, outputBytes: number) {
    this.#callLimits = callLimits;
    this.#outputBytes = outputBytes;
  }

  /** At rest with every outcome delivered: only another outcome can move the program. */
  get idle(): boolean {
    return this.#state === 'rest' && this.#delivered === this.#sent;
  }

  /** Calls without an outcome. */
  get open(): number {
    return this.#open.size;
  }

  /** The largest body of a frame that may come now. */
  readonly bytesMax = (kind: number): number | undefined => {
    if (this.#state === 'ended' || this.idle) return undefined;
    switch (kind) {
      case fromChild.log:
        return fixedBytes + limits.logLineBytesMax;
      case fromChild.call:
        return fixedBytes + limits.bindingBytesMax + this.#callLimits.argumentsBytesMax;
      case fromChild.rest:
        return fixedBytes;
      case fromChild.end:
        return fixedBytes + limits.errorNameBytesMax + limits.errorMessageBytesMax + this.#outputBytes;
      default:
        return undefined;
    }
  };

  /** An outcome is about to go in. */
  settle(index: number): Refusal | undefined {
    if (index >= this.#callLimits.callsMax) return 'NoSuchCall';
    if (index >= this.#issued) {
      if (this.#ahead.has(index)) return 'AlreadySettled';
      this.#ahead.add(index);
    } else if (!this.#open.delete(index)) return 'AlreadySettled';
    this.#sent++;
    return undefined;
  }

  read(frame: Frame): ChildMessage {
    if (this.bytesMax(frame.kind) === undefined) throw new FrameError('a frame came out of order');
    const body = new BodyReader(frame.body);
    switch (frame.kind) {
      case fromChild.log:
        return this.#log(body, frame.body.length);
      case fromChild.call:
        return this.#call(body);
      case fromChild.rest:
        return this.#rest(body);
      default:
        return this.#end(body);
    }
  }

  #log(body: BodyReader, bytes: number): ChildMessage {
    this.#state = 'running';
    const level = logLevels[body.u8()];
    if (level === undefined) throw new FrameError('a log line has no level');
    this.#logBytes += Math.max(1, bytes - 1); // As the realm counts: an empty line too.
    if (this.#logBytes > this.#outputBytes + logEndBytesMax) throw new FrameError('the log is too long');
    return { tag: 'Log', level, text: body.restText() };
  }

  #call(body: BodyReader): ChildMessage {
    this.#state = 'running';
    const index = body.u32();
    const line = body.u32();
    const column = body.u32();
    const binding = body.text(limits.bindingBytesMax);
    const argumentsJson = utf8(body.restBytes());
    if (index !== this.#issued) throw new FrameError('a call has the wrong index');
    if (index >= this.#callLimits.callsMax) throw new FrameError('there are too many calls');
    if (argumentsJson.length > this.#callLimits.argumentsBytesMax)
      throw new FrameError('arguments too large');
    this.#issued++;
    if (!this.#ahead.delete(index)) this.#open.add(index);
    return { tag: 'Call', call: { index, line, column, binding, argumentsJson } };
  }

  #rest(body: BodyReader): ChildMessage {
    const delivered = body.u32();
    const usage = readUsage(body);
    body.done();
    if (delivered !== this.#delivered + 1 || delivered > this.#sent) {
      throw new FrameError('an outcome was delivered that was not sent');
    }
    if (this.#open.size === 0 && delivered === this.#sent)
      throw new FrameError('a program that can never go on');
    this.#delivered = delivered;
    this.#state = 'rest';
    return { tag: 'Rest', delivered, usage };
  }

  #end(body: BodyReader): ChildMessage {
    const kind = body.u8();
    if (!isEndKind(kind)) throw new FrameError('an end has no kind');
    const line = body.u32();
    const column = body.u32();
    const usage = readUsage(body);
    const name = body.text(limits.errorNameBytesMax);
    const message = body.text(limits.errorMessageBytesMax);
    const value = utf8(body.restBytes());
    if (value.length > this.#outputBytes) throw new FrameError('a value is too large');
    this.#state = 'ended';
    return { tag: 'End', end: { kind, name, message, line, column, value }, usage };
  }
}

function isEndKind(kind: number): kind is ChildEnd['kind'] {
  return endKinds.has(kind);
}

function readUsage(body: BodyReader): Usage {
  return { cpuMs: body.u32(), memoryBytes: body.u64() };
}

function utf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new FrameError('a text is not UTF-8');
  return bytes;
}
