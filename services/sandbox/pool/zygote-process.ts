/**
 * The supervisor's side of one zygote: asks it for children, kills through it, and hears how they ended.
 *
 * Y1  When a zygote ends, every child of it has ended or is about to (lock.ts): all are told so.
 */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { Duplex } from 'node:stream';
import { BodyReader, type Frame, FrameReader, FrameWriter, secretBytes } from '../isolate/frames.ts';
import { controlFrameBytesMax, fromZygote, toZygote } from '../jail/control.ts';
import type { ExitFacts } from './child.ts';
import type { StartedProcess } from './child-program.ts';

interface Waiting {
  resolve(child: ForkedProcess): void;
  reject(error: Error): void;
}

export interface ForkedProcess {
  readonly pid: number;
  readonly exited: Promise<ExitFacts>;
}

const lost: ExitFacts = { code: undefined, signal: undefined, cpuMs: undefined, residentKb: undefined };

export class ZygoteProcess {
  /** Resolves when the zygote is gone. */
  readonly ended: Promise<void>;
  /** Those who are about to ask it for a child. */
  users = 0;
  readonly #process: ChildProcess;
  readonly #socket: Duplex;
  readonly #complaint: () => string;
  readonly #frames = new FrameReader(() => controlFrameBytesMax);
  readonly #forking = new Map<string, Waiting>();
  readonly #alive = new Map<number, (facts: ExitFacts) => void>();
  readonly #prepared = Promise.withResolvers<void>();
  #gone = false;

  constructor({ process, complaint }: StartedProcess) {
    this.#process = process;
    this.#complaint = complaint;
    const socket = process.stdio[3];
    if (!(socket instanceof Duplex)) throw new Error('a zygote without a socket');
    this.#socket = socket;
    this.#prepared.promise.catch(() => {});
    this.ended = new Promise((resolve) => {
      const onEnd = () => {
        this.#fail();
        resolve();
      };
      process.once('exit', onEnd).once('error', onEnd);
    });
    socket.on('error', () => {}); // Shows in how the process ends.
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it has children, or someone who wants one. */
  get needed(): boolean {
    return this.users > 0 || this.#alive.size > 0;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Resolves when it can fork. */
  prepared(): Promise<void> {
    return this.#prepared.promise;
  }

  fork(secret: Buffer, timeoutMs: number): Promise<ForkedProcess> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(new Error('the zygote has ended'));
      this.#forking.set(secret.toString('hex'), { resolve, reject });
      const command = new FrameWriter().begin(toZygote.fork).bytes(secret).u32(timeoutMs);
      command.end();
      this.#socket.write(command.take());
    });
  }

  killChild(pid: number): void {
    if (this.#gone || !this.#alive.has(pid)) return;
    const command = new FrameWriter().begin(toZygote.kill).u32(pid);
    command.end();
    this.#socket.write(command.take());
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #read(chunk: Buffer): void {
    this.#frames.push(chunk);
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) this.#hear(frame);
  }

  #hear({ kind, body: bytes }: Frame): void {
    const body = new BodyReader(bytes);
    if (kind === fromZygote.prepared) this.#prepared.resolve();
    if (kind === fromZygote.forked) this.#forked(body.bytes(secretBytes).toString('hex'), body.u32());
    if (kind === fromZygote.ended) this.#childEnded(body);
  }

  #childEnded(body: BodyReader): void {
    const pid = body.u32();
    const status = body.u32();
    const settle = this.#alive.get(pid);
    this.#alive.delete(pid);
    settle?.({ ...exitStatus(status), cpuMs: body.u32(), residentKb: body.u32() });
  }

  #forked(secret: string, pid: number): void {
    const waiting = this.#forking.get(secret);
    this.#forking.delete(secret);
    if (pid === 0) {
      waiting?.reject(new Error('the zygote could not fork'));
      return;
    }
    const exited = new Promise<ExitFacts>((resolve) => this.#alive.set(pid, resolve));
    waiting?.resolve({ pid, exited });
  }

  #fail(): void {
    this.#gone = true;
    const error = new Error(`a zygote ended: ${this.#complaint() || 'it said nothing'}`);
    this.#prepared.reject(error);
    for (const waiting of this.#forking.values()) waiting.reject(error);
    this.#forking.clear();
    for (const settle of this.#alive.values()) settle(lost);
    this.#alive.clear();
  }
}

/** A status as waitpid gives it: the signal in the low bits, or else the exit code above them. */
function exitStatus(status: number): Pick<ExitFacts, 'code' | 'signal'> {
  const signal = status & 0x7f;
  if (signal === 0) return { code: (status >> 8) & 0xff, signal: undefined };
  return { code: undefined, signal: signalNames.get(signal) };
}

const signalNames: ReadonlyMap<number, NodeJS.Signals> = new Map(
  Object.entries(constants.signals)
    .reverse() // Of several names for one number the first stays: SIGABRT, not SIGIOT.
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);
