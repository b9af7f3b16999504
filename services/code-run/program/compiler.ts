/**
 * Runs the TypeScript compiler over the files of one check, as a process of its own: its time, memory and output
 * are bounded, and what a hostile program does to it ends with it. It takes 40 ms of processor time and 26 MiB for
 * an ordinary program; a compiler kept running would save little and keep state.
 *
 * C1: the compiler reads the given files and its own library, nothing else (noResolve): a type can name any file of
 * the host, and a message would show what is in it. C2: the files are gone when the check is over. C3: they are
 * readable to nobody else, and in memory where the host has a folder for that: programs are never stored in plain.
 * C4: no message says where they were.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { limits } from '../../shared/limits.ts';

/** How the compiler ended: with what it found, or killed at one of its bounds. */
export type Compiled =
  | { readonly tag: 'Done'; readonly output: string }
  | { readonly tag: 'Timeout' }
  /** It ended without an answer: out of memory, or a fault of its own. */
  | { readonly tag: 'Broken' };

/** How the folder of a check is called. */
export const folderPrefix = 'openbot-check-';

/** What one run of the compiler may take. */
export interface Bounds {
  readonly timeoutMs: number;
  /** Address space, of which the compiler reserves far more than it uses. */
  readonly memoryBytes: number;
}

export interface Sources {
  readonly [fileName: string]: string;
}

const options = {
  target: 'esnext',
  lib: ['esnext'],
  module: 'esnext',
  moduleDetection: 'force',
  types: [],
  noResolve: true,
  noEmit: true,
  allowJs: true,
  checkJs: true,
  // A program that works is not refused for what it leaves unsaid: null checks, implicit any.
  strict: false,
  skipLibCheck: true,
  pretty: false,
};

export async function compile(
  sources: Sources,
  bounds: Bounds,
  signal: AbortSignal | undefined,
): Promise<Compiled> {
  const folder = await mkdtemp(path.join(await parentFolder(), folderPrefix));
  try {
    const files = Object.keys(sources);
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    for (const [name, text] of Object.entries(sources)) await writeFile(path.join(folder, name), text);
    return await run(folder, bounds, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** C3 */
async function parentFolder(): Promise<string> {
  const inMemory = '/dev/shm';
  const isThere = await access(inMemory, constants.W_OK).then(
    () => true,
    () => false,
  );
  return isThere ? inMemory : os.tmpdir();
}

function run(folder: string, bounds: Bounds, signal: AbortSignal | undefined): Promise<Compiled> {
  const { promise, resolve, reject } = Promise.withResolvers<Compiled>();
  const timeout = AbortSignal.timeout(bounds.timeoutMs);
  // The shell sets the hard limit on address space, where the platform has one, and becomes the compiler.
  const script = `ulimit -v ${bounds.memoryBytes / 1024} 2>/dev/null; exec "$0" -p . --singleThreaded`;
  const compiler = spawn('/bin/sh', ['-c', script, compilerPath()], {
    cwd: folder,
    env: { GOMAXPROCS: '1', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  compiler.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes <= limits.checkOutputBytesMax) chunks.push(chunk);
    else compiler.kill('SIGKILL');
  });
  let failure: unknown;
  compiler.once('error', (error) => {
    failure = error;
    // Not started: there will be no close.
    if (compiler.pid === undefined) reject(unavailable(error));
  });
  compiler.once('close', (code) => {
    const output = Buffer.concat(chunks).toString('utf8').replaceAll(`${folder}/`, '');
    if (timeout.aborted) resolve({ tag: 'Timeout' });
    else if (signal?.aborted === true) reject(signal.reason);
    else if (failure !== undefined) reject(unavailable(failure));
    else if (code === 0 || code === foundErrors || bytes > limits.checkOutputBytesMax) {
      resolve({ tag: 'Done', output });
    } else resolve({ tag: 'Broken' });
  });
  return promise;
}

/** The compiler's code for a program with errors. */
const foundErrors = 1;

function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the TypeScript compiler cannot be started', { cause });
}

/** The binary behind the typescript package, which its own launcher finds in the same way. */
function compilerPath(): string {
  const platform = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  try {
    const typescript = createRequire(createRequire(import.meta.url).resolve('typescript/package.json'));
    return path.join(path.dirname(typescript.resolve(platform)), 'lib', 'tsc');
  } catch (error) {
    throw unavailable(error);
  }
}
