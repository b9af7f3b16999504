/** Plays the core over gRPC: starts a run and answers its calls. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { CallCompletedSchema, CallWaitingSchema } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import {
  type CatalogRef,
  CatalogRefSchema,
  type CodeRunService,
  type PerformCall,
  type ReportOutcome,
  ReportOutcomeSchema,
  ResumeCodeRunSchema,
  type RunCodeRequest,
  type RunCodeRequestSchema,
  type RunCodeResponse,
  type StartCodeRun,
  StartCodeRunSchema,
} from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type { BidiCall, CallOptions, ServiceClient } from '../../services/shared/grpc/client.ts';

export type CoreClient = ServiceClient<typeof CodeRunService>;
export type Outcome = ReportOutcome['outcome'];
type First = Extract<RunCodeRequest['message'], { case: string }>;

const catalog = create(CatalogSchema, {
  connections: [
    {
      id: 'conn-7',
      name: 'Notes',
      tools: ['read_note', 'write_note', 'send'].map((name) => ({ name, description: `Does ${name}.` })),
    },
  ],
});

export const inlineCatalog: CatalogRef = create(CatalogRefSchema, {
  ref: { case: 'catalog', value: catalog },
});

export function startOf(code: string, more: Partial<StartCodeRun> = {}): StartCodeRun {
  return create(StartCodeRunSchema, {
    session: 's-1',
    turn: 't-1',
    callId: `call-${Math.random().toString(36).slice(2)}`,
    owner: 'someone',
    code,
    reason: 'to test',
    catalog: inlineCatalog,
    ...more,
  });
}

export function start(code: string, more: Partial<StartCodeRun> = {}): First {
  return { case: 'start', value: startOf(code, more) };
}

export function resume(runId: string): First {
  return { case: 'resume', value: create(ResumeCodeRunSchema, { runId, catalog: inlineCatalog }) };
}

/** An outcome message for the call of an index. */
export function outcomeOf(index: number, outcome: Outcome): First {
  return { case: 'outcome', value: create(ReportOutcomeSchema, { index, outcome }) };
}

export function completed(value: unknown): Outcome {
  return { case: 'completed', value: create(CallCompletedSchema, { valueJson: JSON.stringify(value) }) };
}

export const waiting: Outcome = { case: 'waiting', value: create(CallWaitingSchema) };

/** What a core does with a call; undefined leaves it without an outcome. */
export type Answer = (call: PerformCall) => Outcome | undefined | Promise<Outcome | undefined>;

export interface Played {
  readonly responses: readonly RunCodeResponse[];
  readonly calls: readonly PerformCall[];
  readonly last: RunCodeResponse['message'];
}

export type RunCall = BidiCall<MessageInitShape<typeof RunCodeRequestSchema>, RunCodeResponse>;

/** Plays a stream to its end. */
export async function play(
  client: CoreClient,
  first: First,
  answer: Answer,
  options: CallOptions = {},
): Promise<Played> {
  const call = client.runCode(options);
  await call.send({ message: first });
  return await answerAll(call, answer);
}

export async function answerAll(call: RunCall, answer: Answer): Promise<Played> {
  const responses: RunCodeResponse[] = [];
  const calls: PerformCall[] = [];
  for await (const response of call.responses) {
    responses.push(response);
    const { message } = response;
    if (message.case === 'call') {
      calls.push(message.value);
      void Promise.resolve(answer(message.value)).then((outcome) => {
        if (outcome === undefined) return;
        void call.send({ message: outcomeOf(message.value.index, outcome) });
      });
    }
    if (message.case === 'waiting' || message.case === 'finished') call.closeSend();
  }
  return { responses, calls, last: responses.at(-1)?.message ?? { case: undefined } };
}
