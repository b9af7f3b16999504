/** Runs programs in realms for the tests of one file: one host process, a fresh isolate for each program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { buildRealmText } from '../../../services/sandbox/isolate/realm-text.ts';
import { flagsOf } from '../../../services/sandbox/pool/child-program.ts';
import { emitKind, type RealmJob, settleKind } from '../../../services/sandbox/realm/contract.ts';
import { initialCallLimits, limits } from '../../../services/shared/limits.ts';
import { type Outcome, type Request, type Transcript, toLine } from './protocol.ts';

const bindings: RealmJob['bindings'] = [
  ['notes', 'read_note', 'Notes', 'read-note'],
  ['notes', 'list_notes', 'Notes', 'list-notes'],
  ['mail', 'send', 'Mail', 'send'],
];

export const createdAtMs = Date.UTC(2026, 10, 30, 12, 34, 56, 789);

const baseJob: RealmJob = {
  createdAtMs,
  seed: [1, 2, 3, 4],
  outputBytes: 64 * 1024,
  logLineBytesMax: limits.logLineBytesMax,
  messageBytesMax: limits.messageBytesMax,
  callsMax: initialCallLimits.callsMax,
  argumentsBytesMax: initialCallLimits.argumentsBytesMax,
  jsonDepthMax: limits.jsonDepthMax,
  bindings,
  columnShifts: [],
};

export const completed = (value: unknown): Outcome => ({
  kind: settleKind.completed,
  a: JSON.stringify(value),
  b: '',
});
export const failed = (reason: string, message: string): Outcome => ({
  kind: settleKind.failed,
  a: reason,
  b: message,
});
export const denied = (message: string): Outcome => ({ kind: settleKind.denied, a: message, b: '' });
export const inputRequired = (operationId: string): Outcome => ({
  kind: settleKind.inputRequired,
  a: operationId,
  b: '',
});

export interface Options {
  readonly job?: Partial<RealmJob>;
  readonly outcomes?: readonly Outcome[];
  readonly order?: readonly number[];
  readonly memoryMb?: number;
}

export type Ending =
  | { readonly tag: 'returned'; readonly json: string }
  | { readonly tag: 'returnedUndefined' }
  | { readonly tag: 'threw'; readonly name: string; readonly message: string; readonly position: string }
  | { readonly tag: 'outputTooLarge'; readonly bytes: number };

export interface Run {
  readonly calls: Transcript['calls'];
  /** "level text" of each line. */
  readonly logs: readonly string[];
  readonly ending: Ending;
  readonly unhandled: number;
}

const hostFile = fileURLToPath(new URL('./host.ts', import.meta.url));

/** Without a JIT Node.js cannot strip types, so the host is made into JavaScript first. */
function buildHost(): string {
  const { outputFiles } = buildSync({
    entryPoints: [hostFile],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outputFiles[0]?.text ?? '';
}

/** A realm host for the file that calls it. */
export function useRealm(env: NodeJS.ProcessEnv = { TZ: 'UTC', LANG: 'C' }) {
  let host: ChildProcess | undefined;
  let lines: AsyncIterator<string> | undefined;
  let reader: Interface | undefined;

  beforeAll(async () => {
    const realm = await buildRealmText();
    const flags = [...flagsOf({ jit: false }), '--input-type=module'];
    const started = spawn(process.execPath, [...flags, '--eval', buildHost()], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    started.stdin.write(toLine(realm.text));
    reader = createInterface({ input: started.stdout });
    lines = reader[Symbol.asyncIterator]();
    host = started;
  });
  afterAll(() => {
    reader?.close();
    host?.kill('SIGKILL');
  });

  async function run(program: string, options: Options = {}): Promise<Run> {
    const request: Request = {
      program,
      job: { ...baseJob, ...options.job },
      memoryMb: options.memoryMb ?? 64,
      outcomes: options.outcomes ?? [],
      ...(options.order === undefined ? {} : { order: options.order }),
    };
    host?.stdin?.write(toLine(request));
    const line = await lines?.next();
    if (line === undefined || line.done === true) {
      throw new Error(`the host died on: ${program}`);
    }
    return toRun(JSON.parse(line.value) as Transcript);
  }

  /** The returned value of a program that must return. */
  async function value(program: string, options?: Options): Promise<unknown> {
    const { ending } = await run(program, options);
    if (ending.tag !== 'returned') {
      throw new Error(`the program did not return: ${JSON.stringify(ending)}`);
    }
    return JSON.parse(ending.json);
  }

  /** What a program threw that must throw. */
  async function thrown(program: string, options?: Options) {
    const { ending } = await run(program, options);
    if (ending.tag !== 'threw') {
      throw new Error(`the program did not throw: ${JSON.stringify(ending)}`);
    }
    return ending;
  }

  /** The log lines of a program that must end well. */
  async function logs(program: string, options?: Options): Promise<readonly string[]> {
    const { logs: written, ending } = await run(program, options);
    if (ending.tag === 'threw') {
      throw new Error(`the program threw: ${JSON.stringify(ending)}`);
    }
    return written;
  }

  return { run, value, thrown, logs };
}

function toRun({ calls, logs, ends, unhandled }: Transcript): Run {
  const [end] = ends;
  if (end === undefined || ends.length !== 1) {
    throw new Error(`a run has one end, not ${JSON.stringify(ends)}`);
  }
  return { calls, logs: logs.map(({ level, text }) => `${level} ${text}`), ending: toEnding(end), unhandled };
}

function toEnding({ kind, a, b, c, d }: Transcript['ends'][number]): Ending {
  switch (kind) {
    case emitKind.returned:
      return { tag: 'returned', json: b };
    case emitKind.returnedUndefined:
      return { tag: 'returnedUndefined' };
    case emitKind.threw:
      return { tag: 'threw', name: b, message: c, position: d };
    case emitKind.outputTooLarge:
      return { tag: 'outputTooLarge', bytes: a };
    default:
      throw new Error(`unknown end ${kind}`);
  }
}
