/** The services as real processes, with everything they leave in a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');
const node = join(root, 'node_modules/.bin/node');

export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'code-mode-'));
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The environment of a service: nothing of ours but the path. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH };
}

/** Where a service runs: by default in the repository, on this host. */
export interface Place {
  readonly cwd?: string;
  /** A command that runs the one it is given, somewhere else: `ip netns exec …`, `unshare …`. */
  readonly inside?: readonly string[];
}

export class Service {
  readonly child: ChildProcess;
  /** What it wrote to standard error. */
  stderr = '';
  readonly #ended: Promise<{ code: number | null; signal: string | null }>;

  constructor(
    script: string,
    environment: Record<string, string>,
    args: readonly string[] = [],
    place: Place = {},
  ) {
    const command = [node, '--no-warnings', join(root, script), ...args];
    const [program = node, ...rest] = [...(place.inside ?? []), ...command];
    this.child = spawn(program, rest, {
      env: { ...bareEnvironment(), ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: place.cwd ?? root,
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** The line of JSON that says it listens. */
  async ready(): Promise<Record<string, unknown>> {
    if (this.child.stdout === null) throw new Error('no standard output');
    for await (const line of createInterface(this.child.stdout)) {
      const parsed: unknown = JSON.parse(line);
      if (typeof parsed === 'object' && parsed !== null && 'ready' in parsed) {
        return parsed as Record<string, unknown>;
      }
    }
    throw new Error(`ended before it was ready:\n${this.stderr}`);
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('not started');
    return this.child.pid;
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.child.kill(signal);
  }

  ended(): Promise<{ code: number | null; signal: string | null }> {
    return this.#ended;
  }

  async stop(): Promise<{ code: number | null; signal: string | null }> {
    this.kill();
    return await this.#ended;
  }
}
