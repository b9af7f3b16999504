/**
 * The program of zygotes and children as one text, and how it starts. It is bundled when the sandbox starts:
 * without a JIT there is no WebAssembly, and so nothing in the child that could take types away. It goes in by standard input: nothing is written to a disk.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bundle } from '../isolate/bundle.ts';
import type { ProcessRole } from '../isolate/role.ts';

const entry = fileURLToPath(new URL('../isolate/main.ts', import.meta.url));

/** Reads a program and a role, and runs the one with the other. `require` finds packages from `root`. */
const loader = `
const { program, role, root } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const module_ = { exports: {} };
new (require('node:vm').Script)('(function (require, module) {' + program + '\\n})', { filename: 'sandbox-child' })
  .runInThisContext()(require('node:module').createRequire(root), module_);
void module_.exports.main(role);
`;

const complaintBytesMax = 4096;

export interface StartedProcess {
  readonly process: ChildProcess;
  /** What it said on standard error, for the error of a start that fails. */
  complaint(): string;
}

export class ChildProgram {
  readonly #text: string;
  readonly #flags: readonly string[];

  private constructor(text: string, flags: readonly string[]) {
    this.#text = text;
    this.#flags = flags;
  }

  static async bundle(options: { readonly jit: boolean }): Promise<ChildProgram> {
    const text = await bundle(entry, {
      platform: 'node',
      format: 'cjs',
      target: 'node26',
      external: ['isolated-vm'],
    });
    return new ChildProgram(text, flagsOf(options));
  }

  /** A new process whose descriptor 3 is a socket to here. */
  start(role: ProcessRole): StartedProcess {
    const started = spawn(process.execPath, [...this.#flags, '-e', loader], {
      cwd: '/',
      env: { TZ: 'UTC', LANG: 'C' },
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    let complaint = '';
    started.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < complaintBytesMax) complaint += chunk.toString('utf8', 0, complaintBytesMax);
    });
    started.stdin?.on('error', () => {}); // Shows in how the process ends.
    started.stdin?.end(JSON.stringify({ program: this.#text, role, root: entry }));
    return { process: started, complaint: () => complaint.trim() };
  }
}

/** What the processes that run programs are started with. */
export function flagsOf({ jit }: { readonly jit: boolean }): readonly string[] {
  return [
    '--no-warnings',
    // One thread: a fork takes no other along, and a lock covers no other.
    '--single-threaded',
    '--v8-pool-size=0',
    '--disable-sigusr1',
    // What these turn off is put off by the engine to a timer, for which isolated-vm would start a thread: the lock
    // lets none be made.
    '--no-memory-reducer',
    '--no-incremental-marking-task',
    '--memory-pool-timeout=0',
    // Functions are compiled once, before the fork, and not in every child again.
    '--no-lazy',
    // The depth at which a recursion ends is part of what a program sees.
    '--stack-size=900',
    ...(jit ? [] : ['--jitless']),
  ];
}
