/**
 * One attempt: a job into a child, outcomes in, steps out, and a verdict. Pulled by its reader: what the
 * reader does not take is not read from the child, so a slow reader stalls this program.
 *
 * T1  Steps come in order and end with a step at rest or with the end. Those that the child has done already
 *     come together. Log lines wait at most `logDelayMs` for more to go with them.
 * T2  Every way out kills the child.
 * T3  The backstop counts while the program runs: not while it rests, nor while its reader is slow. It spares
 *     what is starved of the processor, and nothing that has had its whole budget.
 */
import { isUtf8 } from 'node:buffer';
import { AppError, invalidField } from '../../shared/errors.ts';
import { limits, type SandboxCallLimits } from '../../shared/limits.ts';
import { FrameError, FrameReader, FrameWriter, toChild } from '../isolate/frames.ts';
import type { Child } from './child.ts';
import { processState } from './process-state.ts';
import { type ChildCall, type LogLevelName, Session, type Usage } from './session.ts';
import { type SupervisorFact, type Verdict, verdictOfEnd, verdictOfExit } from './verdict.ts';

export interface AttemptJob {
  readonly program: Uint8Array;
  /** A RealmJob, as JSON; with the program at most `jobBytesMax`. */
  readonly realmJobJson: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
  readonly callLimits: SandboxCallLimits;
}

/** An outcome as the realm takes it; the texts are UTF-8. */
export interface AttemptOutcome {
  readonly index: number;
  readonly kind: number;
  readonly a: Uint8Array;
  readonly b: Uint8Array;
}

export interface AttemptLog {
  readonly index: number;
  readonly level: LogLevelName;
  readonly text: string;
}

export interface StepEvent {
  readonly delivered: number;
  readonly calls: readonly ChildCall[];
  readonly logs: readonly AttemptLog[];
  readonly atRest: boolean;
  /** As of the last rest. */
  readonly usage: Usage;
}

export type AttemptEvent =
  | { readonly tag: 'Steps'; readonly steps: readonly StepEvent[] }
  | { readonly tag: 'End'; readonly verdict: Verdict; readonly usage: Usage };

export interface Backstop {
  /** It fires after this many times the processor budget on the wall clock, */
  readonly factor: number;
  /** and this much later. */
  readonly graceMs: number;
}

const logDelayMs = 20;

export class Attempt {
  readonly #child: Child;
  readonly #job: AttemptJob;
  readonly #session: Session;
  readonly #frames: FrameReader;
  readonly #backstopMs: number;
  readonly #graceMs: number;
  /** Processor time that the process had used before its job. */
  readonly #cpuBeforeMs: number;
  #wake: (() => void) | undefined;
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  #fact: SupervisorFact | undefined;
  #outcomesEnded = false;
  #ranMs = 0;
  #usage: Usage = { cpuMs: 0, memoryBytes: 0 };
  #calls: ChildCall[] = [];
  #logs: AttemptLog[] = [];
  #logCount = 0;
  /** When the first of `#logs` came. */
  #logsSinceMs = 0;
  #pendingBytes = 0;
  #steps: StepEvent[] = [];
  #stepsBytes = 0;
  #delivered = 0;

  constructor(child: Child, job: AttemptJob, backstop: Backstop) {
    this.#child = child;
    this.#job = job;
    this.#session = new Session(job.callLimits, job.outputBytes);
    this.#frames = new FrameReader(this.#session.bytesMax);
    this.#backstopMs = job.timeoutMs * backstop.factor + backstop.graceMs;
    this.#graceMs = backstop.graceMs;
    this.#cpuBeforeMs = processState(child.pid)?.cpuMs ?? 0;
  }

  /** Sends outcomes in, in one write; resolves when more may be sent. Throws AppError for one that does not fit. */
  async deliver(outcomes: readonly AttemptOutcome[]): Promise<void> {
    const frames = new FrameWriter();
    for (const outcome of outcomes) {
      this.#check(outcome);
      frames.begin(toChild.settle).u32(outcome.index).u8(outcome.kind);
      frames.u32(outcome.a.length).bytes(outcome.a).bytes(outcome.b).end();
    }
    this.#signal();
    await this.#write(frames.take());
  }

  #check(outcome: AttemptOutcome): void {
    if (outcome.a.length > this.#job.callLimits.resultBytesMax) {
      throw invalidField('outcome.completed', `at most ${this.#job.callLimits.resultBytesMax} bytes`);
    }
    if (!isUtf8(outcome.a)) throw invalidField('outcome.completed', 'must be UTF-8');
    const refusal = this.#session.settle(outcome.index);
    if (refusal === 'NoSuchCall') throw invalidField('outcome.index', 'a run has fewer calls');
    if (refusal === 'AlreadySettled')
      throw invalidField('outcome.index', 'this call has its outcome already');
  }

  /** No outcome will come any more: a program that still waits for one cannot go on. */
  endOutcomes(): void {
    this.#outcomesEnded = true;
    this.#signal();
  }

  /** Ends the attempt: `events` throws `error`. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#child.kill();
    this.#signal();
  }

  async *events(): AsyncGenerator<AttemptEvent, void, void> {
    const { socket } = this.#child;
    const onReadable = () => this.#signal();
    const onClose = () => {
      this.#closed = true;
      this.#signal();
    };
    socket.on('readable', onReadable).on('end', onClose).on('close', onClose);
    this.#closed = socket.destroyed || socket.readableEnded;
    try {
      await this.#write(this.#jobFrame());
      yield* this.#run();
    } finally {
      this.#child.kill();
      socket.off('readable', onReadable).off('end', onClose).off('close', onClose);
    }
  }

  async *#run(): AsyncGenerator<AttemptEvent, void, void> {
    for (;;) {
      this.#throwIfFailed();
      const message = this.#nextMessage();
      if (message === undefined) {
        if (this.#steps.length > 0) {
          yield this.#takeSteps();
          continue;
        }
        if (await this.#more()) continue;
        if (this.#failure !== undefined) continue;
        if (this.#closed || this.#fact !== undefined) break;
        this.#endStep(false);
        continue;
      }
      if (message.tag === 'Call') this.#gather(message.call.argumentsJson.length, this.#calls, message.call);
      else if (message.tag === 'Log') {
        const { level, text } = message;
        if (this.#logs.length === 0) this.#logsSinceMs = performance.now();
        this.#gather(text.length, this.#logs, { index: this.#logCount++, level, text });
      } else {
        this.#usage = message.usage;
        if (message.tag === 'End') {
          yield* this.#rest();
          yield { tag: 'End', verdict: verdictOfEnd(message.end, this.#limits()), usage: this.#usage };
          return;
        }
        this.#delivered = message.delivered;
        this.#endStep(true);
        // Only an outcome moves a program at rest: what comes next comes after one more of them.
        this.#delivered++;
      }
      if (this.#pendingBytes > limits.stepPieceBytes) this.#endStep(false);
      if (this.#stepsBytes > limits.stepPieceBytes) yield this.#takeSteps();
    }
    // A process that ends by itself has its exit status before its socket closes: this changes none.
    this.#child.kill();
    const exit = await this.#child.exited;
    this.#throwIfFailed();
    yield* this.#rest();
    const usage = { ...this.#usage, cpuMs: exit.cpuMs ?? this.#usage.cpuMs };
    yield { tag: 'End', verdict: verdictOfExit(exit, this.#fact, this.#limits()), usage };
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #nextMessage() {
    try {
      for (;;) {
        const frame = this.#frames.next();
        if (frame !== undefined) return this.#session.read(frame);
        const chunk: Buffer | null = this.#child.socket.read();
        if (chunk === null) return undefined;
        this.#frames.push(chunk);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#fact = 'BrokeProtocol';
      return undefined;
    }
  }

  /** Waits for more from the child. False when there is none, or when what was gathered must go out. */
  async #more(): Promise<boolean> {
    if (this.#closed || this.#fact !== undefined) return false;
    if (this.#session.idle && this.#outcomesEnded) {
      this.fail(new AppError('CANCELLED', 'no outcome can come any more for a program that waits for one'));
      return false;
    }
    const running = !this.#session.idle;
    if (running && this.#ranMs >= this.#backstopMs) return this.#spare();
    const logsWait = this.#logs.length > 0;
    const before = performance.now();
    const dueMs = logsWait
      ? this.#logsSinceMs + logDelayMs - before
      : running
        ? this.#backstopMs - this.#ranMs
        : undefined;
    const woken = await this.#wait(dueMs);
    if (running) this.#ranMs += performance.now() - before;
    return woken || !logsWait;
  }

  /** The backstop is due: more time for a process that is starved of the processor, and the end for any other. */
  #spare(): boolean {
    const state = processState(this.#child.pid);
    const starved = state?.runnable === true && state.cpuMs - this.#cpuBeforeMs < this.#job.timeoutMs;
    if (starved) this.#ranMs -= this.#graceMs;
    else this.#fact = 'BackstopFired';
    return starved;
  }

  /** Resolves true when woken, false after `dueMs`. */
  #wait(dueMs: number | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = dueMs === undefined ? undefined : setTimeout(() => resolve(false), Math.max(0, dueMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #gather<T>(bytes: number, list: T[], item: T): void {
    list.push(item);
    this.#pendingBytes += bytes + 64;
  }

  #endStep(atRest: boolean): void {
    this.#steps.push({
      delivered: this.#delivered,
      calls: this.#calls,
      logs: this.#logs,
      atRest,
      usage: this.#usage,
    });
    this.#stepsBytes += this.#pendingBytes + 64;
    this.#calls = [];
    this.#logs = [];
    this.#pendingBytes = 0;
  }

  #takeSteps(): AttemptEvent {
    const steps = this.#steps;
    this.#steps = [];
    this.#stepsBytes = 0;
    return { tag: 'Steps', steps };
  }

  /** What came before the end. */
  *#rest(): Generator<AttemptEvent> {
    if (this.#pendingBytes > 0) this.#endStep(false);
    if (this.#steps.length > 0) yield this.#takeSteps();
  }

  #jobFrame(): Buffer {
    const frame = new FrameWriter().begin(toChild.job);
    frame.text(this.#job.realmJobJson).bytes(this.#job.program).end();
    return frame.take();
  }

  #write(bytes: Buffer): Promise<void> {
    const { socket } = this.#child;
    return new Promise((resolve) => {
      if (socket.destroyed || socket.write(bytes)) return resolve();
      const settle = () => {
        socket.off('drain', settle).off('close', settle);
        resolve();
      };
      socket.on('drain', settle).on('close', settle);
    });
  }

  #limits() {
    const { timeoutMs, memoryMb, outputBytes } = this.#job;
    return { timeoutMs, memoryMb, outputBytes };
  }
}
