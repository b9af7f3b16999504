/**
 * The stream of one attempt: a job, then outcomes in; started, steps and an end out.
 *
 * E1  When the caller goes away the child is killed at once, whatever it is doing.
 * E2  A caller that half-closes may still hear the end of a program that needs no more outcomes.
 * E3  A process that this sandbox kills because it ends itself is no end of the program.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { LogLevel } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import {
  type DeliverOutcome,
  EndReason,
  type ExecuteRequest,
  type ExecuteResponseSchema,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { AppError, invalidField } from '../../shared/errors.ts';
import type { CallContext } from '../../shared/grpc/handlers.ts';
import { Attempt, type AttemptEvent, type Backstop, type StepEvent } from '../pool/attempt.ts';
import type { Pool } from '../pool/pool.ts';
import type { VerdictReason } from '../pool/verdict.ts';
import { checkJob, checkOutcome } from './job.ts';

type Response = MessageInitShape<typeof ExecuteResponseSchema>;
type Requests = AsyncIterator<ExecuteRequest>;

export interface ExecuteDeps {
  readonly pool: Pool;
  readonly backstop: Backstop;
  readonly fingerprint: string;
  /** Hears of every verdict. */
  readonly ended: (verdict: VerdictReason, cpuMs: number) => void;
}

export async function* execute(
  deps: ExecuteDeps,
  requests: AsyncIterable<ExecuteRequest>,
  context: Pick<CallContext, 'signal'>,
): AsyncGenerator<Response, void, void> {
  const { signal } = context;
  const iterator = requests[Symbol.asyncIterator]();
  const job = checkJob(await firstJob(iterator));
  const child = await deps.pool.acquire({ memoryMb: job.memoryMb, timeoutMs: job.timeoutMs }, signal);
  const attempt = new Attempt(child, job, deps.backstop);
  const onAbort = () => attempt.fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    yield { message: { case: 'started', value: { fingerprint: deps.fingerprint } } };
    void feed(iterator, attempt);
    for await (const event of attempt.events()) {
      // Killed by the sandbox's own end: nothing is known of the program, and another sandbox may run it.
      if (deps.pool.closing && event.tag === 'End' && event.verdict.reason === 'Lost') {
        throw new AppError('UNAVAILABLE', 'the sandbox is ending');
      }
      if (event.tag === 'End') deps.ended(event.verdict.reason, event.usage.cpuMs);
      yield toResponse(event);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    deps.pool.release(child);
  }
}

async function firstJob(requests: Requests) {
  const first = await requests.next();
  if (first.done === true) throw invalidField('job', 'must come first');
  const { message } = first.value;
  if (message.case !== 'job') throw invalidField('job', 'must come first');
  return message.value;
}

/** Outcomes go in one after another; the child's socket says when there is room for the next. */
async function feed(requests: Requests, attempt: Attempt): Promise<void> {
  try {
    for (;;) {
      const next = await requests.next();
      if (next.done === true) return attempt.endOutcomes();
      const { message } = next.value;
      await attempt.deliver(outcomesOf(message).map(checkOutcome));
    }
  } catch (error) {
    attempt.fail(error);
  }
}

function outcomesOf(message: ExecuteRequest['message']): readonly DeliverOutcome[] {
  if (message.case === 'outcome') return [message.value];
  if (message.case === 'outcomes') return message.value.outcomes;
  throw invalidField('message', 'must be outcomes after the job');
}

function toResponse(event: AttemptEvent): Response {
  if (event.tag === 'Steps') {
    const steps = event.steps.map(toStep);
    const [step] = steps;
    if (step !== undefined && steps.length === 1) return { message: { case: 'step', value: step } };
    return { message: { case: 'steps', value: { steps } } };
  }
  const { verdict, usage } = event;
  return {
    message: {
      case: 'end',
      value: {
        reason: endReasons[verdict.reason],
        ...(verdict.value === undefined ? {} : { valueJson: verdict.value }),
        message: verdict.message,
        errorName: verdict.errorName,
        line: verdict.line,
        column: verdict.column,
        cpuMs: usage.cpuMs,
        memoryBytes: BigInt(usage.memoryBytes),
      },
    },
  };
}

function toStep(step: StepEvent) {
  return {
    delivered: step.delivered,
    calls: [...step.calls],
    logs: step.logs.map((log) => ({ ...log, level: logLevelNumbers[log.level] })),
    atRest: step.atRest,
    cpuMs: step.usage.cpuMs,
    memoryBytes: BigInt(step.usage.memoryBytes),
  };
}

const endReasons: Readonly<Record<VerdictReason, EndReason>> = {
  Returned: EndReason.RETURNED,
  Error: EndReason.ERROR,
  Timeout: EndReason.TIMEOUT,
  Memory: EndReason.MEMORY,
  OutputTooLarge: EndReason.OUTPUT_TOO_LARGE,
  Lost: EndReason.LOST,
  Violation: EndReason.VIOLATION,
};

const logLevelNumbers = {
  debug: LogLevel.DEBUG,
  info: LogLevel.INFO,
  warn: LogLevel.WARN,
  error: LogLevel.ERROR,
} as const;
