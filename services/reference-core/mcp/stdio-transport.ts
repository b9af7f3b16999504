/**
 * Speaks MCP to a child process over its standard streams.
 *
 * Its own transport, because a server is often started by a wrapper (npx, uvx, sh) that does not hand
 * signals on: every server gets a process group, and the group is what is ended.
 *
 * T1  When close() resolves, no process of the group is left.
 * T2  stdin ends first, so that a server may end by itself; then SIGTERM, then SIGKILL.
 * T3  The environment of this process is not handed on, but for what a program needs to start.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { appLimits, limits } from '../../shared/limits.ts';
import type { StdioServer } from './config.ts';
import { LineBuffer } from './line-buffer.ts';

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #server: StdioServer;
  readonly #lines = new LineBuffer(limits.grpcMessageBytesMax);
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  /** Everything that the process wrote was read. */
  #piped: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #stderr = Buffer.alloc(0);
  #strayLines = 0;

  constructor(server: StdioServer) {
    this.#server = server;
  }

  /** The end of what the server wrote to stderr. */
  get stderrTail(): string {
    return this.#stderr.toString('utf8').trim();
  }

  /** Lines of its stdout that were no messages. */
  get strayLines(): number {
    return this.#strayLines;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#server;
    const child = spawn(command, args, {
      cwd,
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    const started = new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    this.#exited = new Promise((resolve) => {
      // A child that could not be started has no exit.
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
    this.#piped = new Promise((resolve) => {
      child.once('close', () => resolve());
    });
    void this.#exited.then(() => this.close());
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-appLimits.stderrBytesMax);
    });
    return started;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined || !stdin.writable || this.#closing !== undefined) {
      return Promise.reject(new Error('the server process has ended'));
    }
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#lines.append(chunk)) this.#receive(line);
    } catch (error) {
      // A message larger than the limit: what follows cannot be read.
      this.onerror?.(error as Error);
      void this.close();
    }
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      // A line that is no message; servers that print to stdout are common.
      this.#strayLines++;
      this.onerror?.(error as Error);
      return;
    }
    this.onmessage?.(message);
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined) {
      const group = -child.pid;
      child.stdin?.end();
      if (!(await within(this.#exited, appLimits.stopGraceMs))) {
        signal(group, 'SIGTERM');
        await within(this.#exited, appLimits.stopGraceMs);
      }
      // Also when the child has exited: what it started may have outlived it.
      signal(group, 'SIGKILL');
      await this.#exited;
      // Its last words may still be in the pipe.
      await within(this.#piped, appLimits.stopGraceMs);
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
    this.onclose?.();
  }
}

/** Whether `event` comes in time. */
async function within(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const inTime = await Promise.race([event.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(group, name);
  } catch (error) {
    // Nobody is left in the group; some systems say EPERM where only the dead are.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
