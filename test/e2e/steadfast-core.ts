/**
 * A core as it should be: each app operation by its call id, performed once, its outcome kept. It takes its runs
 * to their end, whatever happens to the services on the way.
 */
import { expect } from 'vitest';
import { type CodeRun, CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import type { PerformCall } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { RpcError } from '../../services/shared/grpc/status.ts';
import {
  type CoreClient,
  completed,
  type Outcome,
  type Played,
  play,
  resume,
  start,
  waiting,
} from '../edges/core.ts';

const program = `
const note = await apps.notes.read_note({ n: 0 });
const both = await Promise.all([1, 2].map((n) => apps.notes.read_note({ n })));
const sent = await apps.notes.send({ notes: [note, ...both] });
return [note, ...both, sent];`;

export class SteadfastCore {
  readonly operations = new Map<string, Promise<string>>();
  /** Calls that the service said were new, by call id: more than one would be performed twice by a plain core. */
  readonly announcedNew = new Map<string, number>();
  readonly decided = new Set<string>();
  readonly #cores: readonly CoreClient[];
  readonly #delayMs: () => number;

  /** Each turn of a run goes to the next instance. `delayMs`: what an app operation takes. */
  constructor(cores: readonly CoreClient[], delayMs: () => number) {
    this.#cores = cores;
    this.#delayMs = delayMs;
  }

  answer(call: PerformCall): Outcome | Promise<Outcome> {
    const { callId } = call;
    if (!call.sentBefore) this.announcedNew.set(callId, (this.announcedNew.get(callId) ?? 0) + 1);
    if (call.binding === 'notes.send' && !this.decided.has(callId)) return waiting;
    let operation = this.operations.get(callId);
    if (operation === undefined) {
      operation = new Promise((resolve) => setTimeout(resolve, this.#delayMs(), `done ${callId}`));
      this.operations.set(callId, operation);
    }
    return operation.then(completed);
  }

  /** Takes one run to its end, whatever happens to the instances on the way. */
  async run(number: number): Promise<CodeRun> {
    const callId = `call-${number}`;
    let runId: string | undefined;
    for (let turn = number; ; turn++) {
      const client = this.#cores[turn % this.#cores.length];
      if (client === undefined) throw new Error('no client');
      try {
        runId ??= await this.#find(client, callId);
        const first = runId === undefined ? start(program, { session: callId, callId }) : resume(runId);
        const { last } = await this.#play(client, first);
        if (last.case === 'finished' && last.value.run !== undefined) return last.value.run;
        if (last.case === 'waiting') {
          runId = last.value.runId;
          for (const { app } of last.value.requests) if (app !== undefined) this.decided.add(app.callId);
        }
      } catch (error) {
        // Whatever a restart may cause; anything else is a fault.
        const passing = [
          'UNAVAILABLE',
          'DEADLINE_EXCEEDED',
          'CANCELLED',
          'ABORTED',
          'FAILED_PRECONDITION',
          'RESOURCE_EXHAUSTED',
        ];
        if (!(error instanceof RpcError) || !passing.includes(error.code)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
        runId = undefined; // It may have ended without our being told.
      }
    }
  }

  #play(client: CoreClient, first: Parameters<typeof play>[1]): Promise<Played> {
    return play(client, first, (call) => this.answer(call));
  }

  async #find(client: CoreClient, session: string): Promise<string | undefined> {
    const page = await client.listCodeRuns({ session }, { timeoutMs: 5000 });
    const [run] = page.runs;
    // A final one is read by starting it again.
    return run === undefined || run.result !== undefined ? undefined : run.id;
  }

  /** Runs 0, 1, 2 …: none is lost, and no call was performed twice. */
  expectSound(ended: readonly CodeRun[]): void {
    for (const [number, run] of ended.entries()) {
      const expected = [0, 1, 2, 3].map((index) => `done call-${number}:${index}`);
      expect(run.result?.result).toMatchObject({
        case: 'completed',
        value: { valueJson: JSON.stringify(expected) },
      });
      expect(run.status).toBe(CodeRunStatus.COMPLETED);
    }
    expect(this.operations.size).toBe(ended.length * 4);
    expect([...this.announcedNew.values()].filter((times) => times !== 1)).toEqual([]);
  }
}
