/**
 * The subject: the services as `make start` starts them, as processes, with a SQLite file and every write
 * durable, driven by a core in this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import type { RunFinished } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import {
  CodeRunService,
  type ReportOutcomeSchema,
} from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import {
  type Channel,
  createClient,
  openChannel,
  type ServiceClient,
} from '../../services/shared/grpc/client.ts';
import type { Answer } from './floor.ts';

const catalog = create(CatalogSchema, {
  connections: [{ id: 'conn-1', name: 'App', tools: [{ name: 'call' }] }],
});

export class Services {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #channel: Channel;
  readonly #client: ServiceClient<typeof CodeRunService>;

  private constructor(child: ChildProcess, folder: string, address: string) {
    this.#child = child;
    this.#folder = folder;
    this.#channel = openChannel(address, credentials.createInsecure());
    this.#client = createClient(CodeRunService, this.#channel);
  }

  static async start(): Promise<Services> {
    const folder = await mkdtemp(path.join(tmpdir(), 'code-mode-bench-'));
    const main = path.resolve(import.meta.dirname, '../../services/embedded/main.ts');
    const child = spawn(process.execPath, ['--no-warnings', main, '--json'], {
      env: {
        PATH: process.env['PATH'],
        CODE_RUN_GRPC_ADDRESS: '127.0.0.1:0',
        CODE_RUN_HTTP_ADDRESS: '127.0.0.1:0',
        CODE_RUN_STORE: `sqlite:${folder}/runs.db`,
        CODE_RUN_KEYS_FILE: `${folder}/keys`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = JSON.parse(line) as { grpcAddress: string };
      return new Services(child, folder, ready.grpcAddress);
    }
    throw new Error('the services did not start');
  }

  /** Runs a program in which \`apps.app.call(args)\` calls; gives its value as JSON text. */
  async run(code: string, answer: Answer): Promise<string> {
    const id = randomUUID();
    const call = this.#client.runCode();
    const start = { session: 'bench', turn: id, callId: id, owner: 'bench', code, reason: 'bench' };
    await call.send({
      message: { case: 'start', value: { ...start, catalog: { ref: { case: 'catalog', value: catalog } } } },
    });
    for await (const { message } of call.responses) {
      if (message.case === 'finished') return returnedValue(message.value);
      if (message.case === 'call') {
        const { index, argumentsJson } = message.value;
        void answer(argumentsJson).then((valueJson) =>
          call.send({
            message: {
              case: 'outcome',
              value: { index, outcome: { case: 'completed', value: { valueJson } } },
            },
          }),
        );
      }
    }
    throw new Error('the stream ended before the run');
  }

  /** Runs a program whose call number `decided` and later ones wait for a decision; gives the id of the run. */
  async runUntilWait(code: string, decided: number): Promise<string> {
    const id = randomUUID();
    const call = this.#client.runCode();
    const start = { session: 'bench', turn: id, callId: id, owner: 'bench', code, reason: 'bench' };
    await call.send({
      message: { case: 'start', value: { ...start, catalog: { ref: { case: 'catalog', value: catalog } } } },
    });
    for await (const { message } of call.responses) {
      if (message.case === 'waiting') return message.value.runId;
      if (message.case !== 'call') continue;
      const { index, argumentsJson: valueJson } = message.value;
      const completed = { case: 'completed', value: { valueJson } } as const;
      const waiting = { case: 'waiting', value: {} } as const;
      const value = index < decided ? { index, outcome: completed } : { index, outcome: waiting };
      void call.send({
        message: { case: 'outcome', value: value as MessageInitShape<typeof ReportOutcomeSchema> },
      });
    }
    throw new Error('the run did not wait');
  }

  /** Resumes a run, and lets it wait again; gives how long it took to the first call. */
  async timeReplay(runId: string): Promise<number> {
    const began = performance.now();
    const call = this.#client.runCode();
    await call.send({
      message: { case: 'resume', value: { runId, catalog: { ref: { case: 'catalog', value: catalog } } } },
    });
    let tookMs = Number.NaN;
    for await (const { message } of call.responses) {
      if (message.case === 'waiting') return tookMs;
      if (message.case !== 'call') continue;
      tookMs = performance.now() - began;
      const outcome = { case: 'waiting', value: {} } as const;
      void call.send({ message: { case: 'outcome', value: { index: message.value.index, outcome } } });
    }
    throw new Error('the run did not wait again');
  }

  async stop(): Promise<void> {
    this.#channel.close();
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await gone;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function returnedValue({ run }: RunFinished): string {
  const result = run?.result?.result;
  if (result?.case !== 'completed') throw new Error(`the run ended as ${JSON.stringify(result)}`);
  return result.value.valueJson ?? 'undefined';
}
