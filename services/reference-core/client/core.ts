/**
 * The reference core: starts and resumes runs at CodeRunService, performs their calls and has waiting ones
 * decided.
 *
 * C1  A run whose stream breaks after it was accepted is resumed, with growing pauses, a bounded number of times;
 *     so is one that another caller still holds.
 * C2  A run that waits is resumed when its calls were decided. If nobody can be asked, it goes on waiting.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CodeRun, LogLine } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type { RunWaiting } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { RpcError } from '../../shared/grpc/status.ts';
import { appLimits } from '../../shared/limits.ts';
import type { Apps } from '../mcp/apps.ts';
import type { CallToDecide, Decider, Verdict } from '../operations/decider.ts';
import { Operations } from '../operations/operations.ts';
import type { OperationRecord } from '../operations/record.ts';
import { type AttemptEnd, type CodeRunClient, type RunObserver, runAttempt } from './attempt.ts';

/** What to run, and for whom. */
export interface RunRequest {
  readonly session: string;
  readonly turn: string;
  /** Unique for each run: call ids are made from it. */
  readonly callId: string;
  readonly owner: string;
  readonly code: string;
  readonly reason: string;
}

export type RunEnd =
  | { readonly tag: 'Finished'; readonly run: CodeRun; readonly agentText: string }
  | { readonly tag: 'Waiting'; readonly waiting: RunWaiting };

export interface CoreParts {
  readonly client: CodeRunClient;
  readonly apps: Pick<Apps, 'catalog' | 'perform'>;
  readonly record: OperationRecord;
  readonly decider: Decider;
}

export class ReferenceCore {
  readonly #parts: CoreParts;
  readonly #operations: Operations;

  constructor(parts: CoreParts) {
    this.#parts = parts;
    this.#operations = new Operations(parts.record, parts.apps, parts.decider);
  }

  /** Runs a program to its end, or until nobody can be asked. Throws RpcError. */
  async run(request: RunRequest, observer: RunObserver, signal: AbortSignal): Promise<RunEnd> {
    const { catalog } = await this.#parts.apps.catalog();
    this.#operations.begin(request.callId);
    return this.#carryOn('', observer, signal, (watching) =>
      this.#attempt(
        { case: 'start', value: { ...request, catalog: { ref: { case: 'catalog', value: catalog } } } },
        watching,
        signal,
      ),
    );
  }

  /** Goes on with a run that waits or whose core went away. Throws RpcError. */
  resume(runId: string, observer: RunObserver, signal: AbortSignal): Promise<RunEnd> {
    return this.#carryOn(runId, observer, signal, (watching) => this.#resume(runId, 0, watching, signal));
  }

  /** `known`: the id of the run; empty before it has one. */
  async #carryOn(
    known: string,
    observer: RunObserver,
    signal: AbortSignal,
    first: (observer: RunObserver) => Promise<AttemptEnd>,
  ): Promise<RunEnd> {
    let runId = known;
    let failures = 0;
    let logLines = 0;
    const watching: RunObserver = {
      ...observer,
      accepted: (accepted) => {
        runId = accepted.runId;
        observer.accepted?.(accepted);
      },
      call: (call) => {
        // The run got further: a break is not the same one again.
        failures = 0;
        observer.call?.(call);
      },
      log: (line: LogLine) => {
        logLines = Math.max(logLines, line.index + 1);
        observer.log?.(line);
      },
    };
    let attempt = first;
    for (;;) {
      try {
        const end = await attempt(watching);
        if (end.tag === 'Finished') return this.#finish(end.finished);
        if (!(await this.#decide(end.waiting, signal))) return { tag: 'Waiting', waiting: end.waiting };
      } catch (error) {
        if (runId === '' || !isBreak(error) || failures >= appLimits.resumesMax) throw error;
        const delayMs = appLimits.resumePauseMs * 2 ** failures;
        failures += 1;
        observer.interrupted?.(error, delayMs);
        await pause(delayMs, undefined, { signal });
      }
      attempt = (again) => this.#resume(runId, logLines, again, signal);
    }
  }

  async #resume(
    runId: string,
    logLinesReceived: number,
    observer: RunObserver,
    signal: AbortSignal,
  ): Promise<AttemptEnd> {
    const { catalog } = await this.#parts.apps.catalog();
    return this.#attempt(
      {
        case: 'resume',
        value: { runId, logLinesReceived, catalog: { ref: { case: 'catalog', value: catalog } } },
      },
      observer,
      signal,
    );
  }

  #attempt(
    first: Parameters<typeof runAttempt>[1],
    observer: RunObserver,
    signal: AbortSignal,
  ): Promise<AttemptEnd> {
    return runAttempt(this.#parts.client, first, this.#operations, observer, { signal });
  }

  /** The calls that a run waits for, as this core recorded them. */
  callsOf(waiting: RunWaiting): CallToDecide[] {
    return waiting.requests.flatMap(({ app }) => {
      const call = app === undefined ? undefined : this.#operations.waiting(app.callId);
      return call === undefined ? [] : [call];
    });
  }

  /** Writes verdicts down, one for each call in order. They count when the run is resumed. */
  settle(calls: readonly CallToDecide[], verdicts: readonly Verdict[]): void {
    calls.forEach((call, index) => {
      const verdict = verdicts[index];
      if (verdict !== undefined) this.#operations.settle(call.callId, verdict);
    });
  }

  /** Has waiting calls decided; false if there is nobody to ask. */
  async #decide(waiting: RunWaiting, signal: AbortSignal): Promise<boolean> {
    const calls = this.callsOf(waiting);
    const code = waiting.requests[0]?.code?.code ?? '';
    const verdicts = await this.#parts.decider.ask({ runId: waiting.runId, code, calls }, signal);
    if (verdicts === undefined) return false;
    this.settle(calls, verdicts);
    return true;
  }

  #finish({ run, agentText }: Extract<AttemptEnd, { tag: 'Finished' }>['finished']): RunEnd {
    if (run === undefined) throw new RpcError('INTERNAL', 'the service sent an end without the run');
    this.#operations.forget(run.callId);
    return { tag: 'Finished', run, agentText };
  }
}

/** The service or the way to it went away, or another instance still holds the run: it may go on later. */
function isBreak(error: unknown): error is RpcError {
  return error instanceof RpcError && ['UNAVAILABLE', 'ABORTED'].includes(error.code);
}
