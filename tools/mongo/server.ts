/**
 * A MongoDB-protocol server on this machine: `mongod` from PATH, else the FerretDB that `make tools` builds,
 * behind a gate that makes good what FerretDB v1 does not promise (gate.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { MongoGate } from './gate.ts';

interface Program {
  readonly kind: 'mongod' | 'ferretdb';
  readonly path: string;
}

/** Undefined: this machine has neither. */
export function mongoProgram(): Program | undefined {
  const { PATH = '' } = process.env;
  const folders = PATH.split(delimiter);
  const mongod = folders.map((folder) => join(folder, 'mongod')).find(isExecutable);
  if (mongod !== undefined) {
    return { kind: 'mongod', path: mongod };
  }
  const ferretdb = join(import.meta.dirname, '../../.tools/bin/ferretdb');
  return isExecutable(ferretdb) ? { kind: 'ferretdb', path: ferretdb } : undefined;
}

export class MongoServer {
  readonly #program: Program;
  readonly #folder: string;
  #process: ChildProcess;
  readonly gate: MongoGate;

  private constructor(program: Program, folder: string, child: ChildProcess, gate: MongoGate) {
    this.#program = program;
    this.#folder = folder;
    this.#process = child;
    this.gate = gate;
  }

  /** Keeps its data in `folder`. `port` 0: any free one. */
  static async start(program: Program, folder: string, port = 0): Promise<MongoServer> {
    mkdirSync(folder, { recursive: true });
    const { child, port: serverPort } = await launch(program, folder);
    const gate = await MongoGate.listen(serverPort, program.kind === 'ferretdb', port);
    return new MongoServer(program, folder, child, gate);
  }

  get url(): string {
    return `mongodb://127.0.0.1:${this.gate.port}/?serverMonitoringMode=poll`;
  }

  /** Of the server behind the gate. */
  get pid(): number {
    if (this.#process.pid === undefined) throw new Error('it was not started');
    return this.#process.pid;
  }

  /** Kills the server as a crash would. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await ended(this.#process);
  }

  /** Starts it again on what it left. */
  async restart(): Promise<void> {
    const { child, port } = await launch(this.#program, this.#folder);
    this.#process = child;
    this.gate.retarget(port);
  }

  async stop(): Promise<void> {
    await this.gate.close();
    this.#process.kill('SIGTERM');
    await ended(this.#process);
  }
}

/** Resolves when the server says that it listens, on which port. */
async function launch(
  { kind, path }: Program,
  folder: string,
): Promise<{ child: ChildProcess; port: number }> {
  const given =
    kind === 'mongod'
      ? ['--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', '0', '--nounixsocket']
      : [
          ...['--handler=sqlite', `--sqlite-url=file:${folder}/`, `--state-dir=${folder}`],
          ...['--listen-addr=127.0.0.1:0', '--debug-addr=-', '--telemetry=disable', '--log-level=info'],
        ];
  const child = spawn(path, given, { stdio: ['ignore', 'pipe', 'pipe'] });
  const listening =
    kind === 'mongod' ? /Waiting for connections.*"port":(\d+)/ : /Listening on TCP 127\.0\.0\.1:(\d+)/;
  const said: string[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${kind} ended at once:\n${said.slice(-20).join('\n')}`)));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        said.push(line);
        said.splice(0, said.length - 100);
        const [, found] = listening.exec(line) ?? [];
        if (found !== undefined) {
          resolve(Number(found));
        }
      });
    }
  });
  return { child, port };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    await once(child, 'exit');
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
