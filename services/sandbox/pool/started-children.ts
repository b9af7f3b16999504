/**
 * Children that are started, one Node.js each, where a prepared one cannot be forked. Slower, and as safe:
 * the same program locks itself the same way.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { secretBytes } from '../isolate/frames.ts';
import type { Child, ChildSetting, ChildSource, ExitFacts } from './child.ts';
import { readReady } from './handshake.ts';

const program = fileURLToPath(new URL('../isolate/main.ts', import.meta.url));
const complaintBytesMax = 4096;

export class StartedChildren implements ChildSource {
  readonly #flags: readonly string[];
  readonly #children = new Set<Child>();

  constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  async make(setting: ChildSetting): Promise<Child> {
    const secret = randomBytes(secretBytes);
    const argument = JSON.stringify({ ...setting, secret: secret.toString('hex') });
    const started = spawn(process.execPath, [...this.#flags, program, 'child', argument], {
      env: { TZ: 'UTC', LANG: 'C' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const exited = exitOf(started);
    const complaint = collect(started.stderr);
    const socket = started.stdio[3];
    if (!(socket instanceof Duplex) || started.pid === undefined) {
      throw new Error('a child could not be started', { cause: await exited });
    }
    socket.on('error', () => {}); // Shows as the end of the stream, and in how the process ended.
    const child: Child = { pid: started.pid, socket, exited, kill: () => void started.kill('SIGKILL') };
    this.#children.add(child);
    void exited.then(() => this.#children.delete(child));
    try {
      await readReady(socket, secret);
    } catch (cause) {
      child.kill();
      await exited;
      throw new Error(`a child was not ready: ${complaint()}`, { cause });
    }
    return child;
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill();
    await Promise.all([...this.#children].map((child) => child.exited));
  }
}

function exitOf(started: ReturnType<typeof spawn>): Promise<ExitFacts> {
  return new Promise((resolve) => {
    started.on('exit', (code, signal) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, cpuMs: undefined }),
    );
    started.on('error', () => resolve({ code: undefined, signal: undefined, cpuMs: undefined }));
  });
}

/** Keeps the beginning of what a child says before it is locked, for the error of a start that fails. */
function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => {
    if (text.length < complaintBytesMax) text += chunk.toString('utf8', 0, complaintBytesMax);
  });
  return () => text.trim();
}
