/**
 * RunCode: one stream is one attempt.
 *
 * R1  The first message starts or resumes; each later one is an outcome. Anything else ends the stream with
 *     INVALID_ARGUMENT, and the run stays resumable.
 * R2  Nothing is stored before everything in the first message is checked.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ResumeCodeRun,
  RunCodeRequest,
  RunCodeResponseSchema,
  StartCodeRun,
} from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { permissions, requirePermission } from '../../shared/auth/caller.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import type { CallContext } from '../../shared/grpc/handlers.ts';
import { type CallLimits, callRanges, limits } from '../../shared/limits.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { finishedText, waitingText } from '../agent/run-text.ts';
import type { CompiledCatalog } from '../bindings/compile.ts';
import type { Metrics } from '../metrics.ts';
import type { ProgramChecker } from '../program/check.ts';
import { normalizeProgram } from '../program/normalize.ts';
import type { CodeRunner, ProgramFailure, ReportedOutcome, RunEvent, StartRun } from '../runner/contract.ts';
import type { Catalogs } from './catalogs.ts';
import { toCodeRun, toDecisionRequest, toLogLine, toPerformCall } from './convert.ts';
import { fromReportOutcome } from './outcome.ts';
import { noSuchRun } from './reading.ts';
import type { Settings } from './settings.ts';
import { Fields, isRunId } from './validate.ts';

export interface RunCodeDeps {
  readonly runner: CodeRunner;
  readonly settings: Settings;
  /** What a new run gets beside the settings of the platform. */
  readonly callLimits: CallLimits;
  readonly catalogs: Catalogs;
  readonly checker: ProgramChecker;
  readonly metrics: Metrics;
}

type Response = MessageInitShape<typeof RunCodeResponseSchema>;

export async function* runCode(
  deps: RunCodeDeps,
  requests: AsyncIterable<RunCodeRequest>,
  context: CallContext,
): AsyncGenerator<Response, void, void> {
  requirePermission(context.caller, permissions.execute);
  const messages = requests[Symbol.asyncIterator]();
  const first = await firstOf(messages);
  const misuse = new AbortController();
  const outcomes = outcomesOf(messages, misuse);
  const signal = AbortSignal.any([context.signal, misuse.signal]);
  deps.metrics.attemptBegan();
  try {
    for await (const event of await begin(deps, first, outcomes, signal)) {
      deps.metrics.event(event);
      yield toResponse(event);
    }
  } catch (error) {
    throw misuse.signal.aborted ? misuse.signal.reason : error;
  } finally {
    deps.metrics.attemptEnded();
  }
}

type First = Extract<RunCodeRequest['message'], { case: 'start' | 'resume' }>;

async function firstOf(messages: AsyncIterator<RunCodeRequest>): Promise<First> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new AppError('CANCELLED', 'no first message came in time')),
    limits.firstMessageTimeoutMs,
  );
  try {
    const next = await Promise.race([messages.next(), late]);
    const message = next.done === true ? undefined : next.value.message;
    if (message?.case === 'start' || message?.case === 'resume') return message;
    throw invalidField('message', 'the first message must be start or resume');
  } finally {
    clearTimeout(timer);
  }
}

/** The outcomes that follow the first message; `misuse` aborts when something else comes. */
async function* outcomesOf(
  messages: AsyncIterator<RunCodeRequest>,
  misuse: AbortController,
): AsyncGenerator<ReportedOutcome, void, void> {
  for (;;) {
    const next = await messages.next().catch((error: unknown) => {
      misuse.abort(error); // It cannot be decoded, or the caller is gone, which nobody is told.
      throw error;
    });
    if (next.done === true) return;
    const { message } = next.value;
    if (message.case !== 'outcome') {
      misuse.abort(invalidField('message', 'every message after the first must be an outcome'));
      throw misuse.signal.reason;
    }
    yield fromReportOutcome(message.value);
  }
}

async function begin(
  deps: RunCodeDeps,
  first: First,
  outcomes: AsyncIterable<ReportedOutcome>,
  signal: AbortSignal,
): Promise<AsyncIterable<RunEvent>> {
  return first.case === 'start'
    ? await start(deps, first.value, outcomes, signal)
    : await resume(deps, first.value, outcomes, signal);
}

async function start(
  deps: RunCodeDeps,
  request: StartCodeRun,
  outcomes: AsyncIterable<ReportedOutcome>,
  signal: AbortSignal,
): Promise<AsyncIterable<RunEvent>> {
  const { session, turn, callId, owner, code, reason } = request;
  const fields = new Fields();
  for (const [name, value] of Object.entries({ session, turn, call_id: callId, owner })) {
    fields.id(`start.${name}`, value);
  }
  fields.text('start.code', code, 1, limits.codeBytesMax);
  fields.text('start.reason', reason, 0, limits.reasonBytesMax);
  fields.done();
  const runLimits = { ...(await deps.settings.limitsForNewRun()), ...deps.callLimits };
  const catalog = deps.catalogs.resolve(request.catalog, 'start.catalog');
  const { bindings } = catalog;
  const known = { session, turn, callId, owner, code, reason, bindings, limits: runLimits };

  const normalized = normalizeProgram(code);
  const failure = normalized.ok ? await checked(deps, request, catalog, signal) : normalized.error;
  if (normalized.ok && failure === undefined) {
    return deps.runner.start({ ...known, program: normalized.program }, outcomes, signal);
  }
  return deps.runner.startFailed(...failed(known, failure));
}

/** What the check finds, as the failure of the run; undefined if it was not asked for. */
async function checked(
  deps: RunCodeDeps,
  request: StartCodeRun,
  catalog: CompiledCatalog,
  signal: AbortSignal,
): Promise<ProgramFailure | undefined> {
  if (!request.check) return undefined;
  const [first, ...others] = await deps.checker.check(request.code, catalog, signal);
  if (first === undefined) return undefined;
  const more = others.map(({ line, column, message }) => `\n${line}:${column} ${message}`);
  return { ...first, message: `The program does not fit the declarations: ${first.message}${more.join('')}` };
}

/** Should the instance die before it has noted the failure, a resume runs into the same one. */
function failed(
  known: Omit<StartRun, 'program'>,
  failure: ProgramFailure = { message: '', line: 0, column: 0 },
): [StartRun, ProgramFailure] {
  const program = { text: `throw new SyntaxError(${JSON.stringify(failure.message)})`, columnShifts: [] };
  return [{ ...known, program }, failure];
}

async function resume(
  deps: RunCodeDeps,
  request: ResumeCodeRun,
  outcomes: AsyncIterable<ReportedOutcome>,
  signal: AbortSignal,
): Promise<AsyncIterable<RunEvent>> {
  await deps.settings.requireEnabled();
  if (!isRunId(request.runId)) throw noSuchRun();
  const fields = new Fields();
  fields.count('resume.outcomes', request.outcomes.length, callRanges.callsMax.max);
  fields.done();
  const { bindings } = deps.catalogs.resolve(request.catalog, 'resume.catalog');
  const command = {
    runId: request.runId,
    currentBindings: bindings,
    outcomes: request.outcomes.map(fromReportOutcome),
    logLinesReceived: request.logLinesReceived,
  };
  return deps.runner.resume(command, outcomes, signal);
}

function toResponse(event: RunEvent): Response {
  switch (event.tag) {
    case 'Accepted': {
      const { id, limits: runLimits, createdAtMs } = event.run;
      const accepted = { runId: id, attempt: event.attempt, limits: runLimits };
      return { message: { case: 'accepted', value: { ...accepted, createdAtMs: BigInt(createdAtMs) } } };
    }
    case 'Call':
      return { message: { case: 'call', value: toPerformCall(event.call) } };
    case 'Log':
      return { message: { case: 'log', value: toLogLine(event.line) } };
    case 'OutcomeRefused': {
      const { index, callId, message } = event;
      const code = refusalCodes[event.code];
      return { message: { case: 'outcomeRefused', value: { index, callId, code, message } } };
    }
    case 'Waiting': {
      const requests = event.requests.map((request) => toDecisionRequest(request, event.run));
      const agentText = waitingText(event.run, event.requests);
      return { message: { case: 'waiting', value: { runId: event.run.id, requests, agentText } } };
    }
    case 'Finished': {
      const agentText = finishedText(event.record);
      return { message: { case: 'finished', value: { run: toCodeRun(event.record), agentText } } };
    }
    default:
      return unreachable(event);
  }
}

const refusalCodes = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  FAILED_PRECONDITION: 9,
} as const;
