/**
 * One attempt as the child runs it: a job, then one outcome at a time. Reads only when the program is at
 * rest; so outcomes that came early wait in the socket, and each is followed by everything it caused.
 *
 * A1  Calls leave with the rest that follows them, in one write, or in pieces when they are many; with several
 *     rests, where the outcomes came together. A log line leaves at once: the program may compute for long
 *     after it.
 * A2  Nothing follows an end.
 */
import { limits } from '../../shared/limits.ts';
import { type Emit, emitKind, restKind } from '../realm/contract.ts';
import type { Channel } from './channel.ts';
import { type BodyReader, endKind, FrameError, FrameWriter, fromChild, toChild } from './frames.ts';
import type { RealmHost } from './realm-host.ts';
import { rejectionText } from './rejection-text.ts';

/** The isolate's memory is looked at after so much processor time, and at the end. */
const memoryEveryMs = 5;

interface End {
  readonly kind: number;
  readonly name: string;
  readonly message: string;
  readonly position: string;
  readonly value: string;
}

/** Rests that are kept back at most, before they leave although more outcomes are here. */
const keptBytesMax = 16 * 1024;

export class ChildAttempt {
  readonly #calls = new FrameWriter();
  readonly #lines = new FrameWriter();
  readonly #processorMs: () => number;
  #startMs = 0;
  #askedMs = 0;
  /** Asks the clock before the fork: what it needs is loaded when it is first used, which would take a child 6 ms. */
  #askedAtMs = performance.now() - 1;
  #channel: Channel | undefined;
  /** Rests wait to be written, since the next outcome is here already. */
  #restsKept = false;
  #end: End | undefined;
  #memoryBytes = 0;
  #memoryAtMs = -memoryEveryMs;

  constructor(processorMs: () => number) {
    this.#processorMs = processorMs;
  }

  /** What the realm calls. */
  readonly emit: Emit = (kind, a, b, c, d) => {
    switch (kind) {
      case emitKind.call:
        this.#call(a, b, c, d);
        break;
      case emitKind.log:
        this.#log(a, b);
        break;
      case emitKind.returned:
        this.#end ??= { kind: endKind.returned, name: '', message: '', position: '', value: b };
        break;
      case emitKind.returnedUndefined:
        this.#end ??= { kind: endKind.returnedUndefined, name: '', message: '', position: '', value: '' };
        break;
      case emitKind.threw:
        this.#end ??= { kind: endKind.threw, name: b, message: c, position: d, value: '' };
        break;
      case emitKind.outputTooLarge:
        this.#end ??= { kind: endKind.outputTooLarge, name: '', message: String(a), position: '', value: '' };
        break;
    }
    return undefined;
  };

  /** Runs a job to its end. */
  run(realm: RealmHost, channel: Channel, job: BodyReader): void {
    this.#channel = channel;
    const jobJson = job.text(limits.jobBytesMax);
    const program = job.restText();
    this.#startMs = this.#askedMs = this.#processorMs();
    this.#enter(realm, () => realm.start(jobJson, program));
    for (let delivered = 0; !this.#ended(realm); delivered++) {
      this.#rest(realm, channel, delivered);
      this.#settle(realm, channel);
    }
    this.#finish(realm);
  }

  #settle(realm: RealmHost, channel: Channel): void {
    const { kind, body } = channel.read(limits.grpcMessageBytesMax);
    if (kind !== toChild.settle) throw new FrameError('an outcome comes next');
    const index = body.u32();
    const settle = body.u8();
    const a = body.text(limits.grpcMessageBytesMax);
    const b = body.restText();
    this.#enter(realm, () => realm.settle(index, settle, a, b));
  }

  /**
   * Enters the isolate. What comes back as an exception is a rejection that nobody handled, which the realm
   * tells the program's reader; or the isolate is gone, since its memory is used up.
   */
  #enter(realm: RealmHost, step: () => void): void {
    for (let next = step; ; ) {
      try {
        next();
        return;
      } catch (error) {
        if (realm.disposed) {
          this.#end = { kind: endKind.memory, name: '', message: '', position: '', value: '' };
          return;
        }
        const text = rejectionText(error);
        next = () => realm.unhandled(text);
      }
    }
  }

  #ended(realm: RealmHost): boolean {
    while (this.#end === undefined) {
      let rest: number | undefined;
      this.#enter(realm, () => {
        rest = realm.rest();
      });
      if (rest !== restKind.refused) break;
      this.#enter(realm, () => realm.settleRefused());
    }
    return this.#end !== undefined;
  }

  #log(level: number, text: string): void {
    // Rests that were kept back come first: the line belongs to the step after them.
    if (this.#restsKept) this.#flush();
    this.#lines.begin(fromChild.log).u8(level).rest(text).end();
    this.#channel?.write(this.#lines.take());
  }

  #flush(): void {
    this.#restsKept = false;
    this.#channel?.write(this.#calls.take());
  }

  #call(index: number, binding: string, argumentsJson: string, position: string): void {
    const { line, column } = parsePosition(position);
    this.#calls
      .begin(fromChild.call)
      .u32(index)
      .u32(line)
      .u32(column)
      .text(binding)
      .rest(argumentsJson)
      .end();
    if (this.#calls.length > limits.stepPieceBytes) this.#flush();
  }

  #rest(realm: RealmHost, channel: Channel, delivered: number): void {
    const spentMs = this.#roughlySpentMs();
    // Asking costs as much as the rest of a call: a program that has computed little holds little more.
    if (spentMs - this.#memoryAtMs >= memoryEveryMs) {
      this.#memoryAtMs = spentMs;
      this.#memoryBytes = Math.max(this.#memoryBytes, realm.memoryBytes());
    }
    this.#calls.begin(fromChild.rest).u32(delivered).u32(spentMs).u64(this.#memoryBytes).end();
    this.#restsKept = channel.hasFrame && this.#calls.length <= keptBytesMax;
    if (!this.#restsKept) this.#flush();
  }

  #spentMs(): number {
    this.#askedMs = this.#processorMs();
    return Math.round(this.#askedMs - this.#startMs);
  }

  /** Late by a millisecond at most: one thread uses no more of the processor than passes by the clock, which costs less to ask. */
  #roughlySpentMs(): number {
    const nowMs = performance.now();
    if (nowMs - this.#askedAtMs < 1) return Math.round(this.#askedMs - this.#startMs);
    this.#askedAtMs = nowMs;
    return this.#spentMs();
  }

  #finish(realm: RealmHost): void {
    const end = this.#end;
    if (end === undefined) return;
    const { line, column } = parsePosition(end.position);
    this.#memoryBytes = Math.max(this.#memoryBytes, realm.memoryBytes());
    this.#calls.begin(fromChild.end).u8(end.kind).u32(line).u32(column);
    this.#calls.u32(this.#spentMs()).u64(this.#memoryBytes);
    this.#calls.text(end.name).text(end.message).rest(end.value).end();
    this.#flush();
  }
}

function parsePosition(position: string): { line: number; column: number } {
  const colon = position.indexOf(':');
  if (colon < 0) return { line: 0, column: 0 };
  return { line: Number(position.slice(0, colon)) >>> 0, column: Number(position.slice(colon + 1)) >>> 0 };
}
