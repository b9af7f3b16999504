/**
 * One attempt of a run over one stream of CodeRunService.RunCode.
 *
 * A1  Calls are performed in parallel; each outcome is reported as it comes.
 * A2  A stream that ends without `waiting` or `finished` is an error: the run stays resumable.
 * A3  Calls that are under way when the attempt ends are left to end by themselves; their outcomes are in the
 *     record.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { LogLine } from '../../../gen/openbot/codemode/v1/code_run_pb.js';
import type {
  CodeRunService,
  OutcomeRefused,
  PerformCall,
  RunAccepted,
  RunCodeRequestSchema,
  RunFinished,
  RunWaiting,
} from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import type { CallOptions, ServiceClient } from '../../shared/grpc/client.ts';
import { RpcError } from '../../shared/grpc/status.ts';
import { unreachable } from '../../shared/unreachable.ts';
import { failed } from '../mcp/call-error.ts';
import type { CoreOutcome, Operations } from '../operations/operations.ts';
import { toReceivedCall, toReport } from './convert.ts';

export type CodeRunClient = ServiceClient<typeof CodeRunService>;

/** Watches a run. Every function is called in the order in which things happen. */
export interface RunObserver {
  accepted?(accepted: RunAccepted): void;
  call?(call: PerformCall): void;
  outcome?(call: PerformCall, outcome: CoreOutcome): void;
  log?(line: LogLine): void;
  /** The service refused an outcome; nothing changed. */
  refused?(refused: OutcomeRefused): void;
  /** The stream broke; the run is resumed after `delayMs`. */
  interrupted?(error: RpcError, delayMs: number): void;
}

export type AttemptEnd =
  | { readonly tag: 'Waiting'; readonly waiting: RunWaiting }
  | { readonly tag: 'Finished'; readonly finished: RunFinished };

type First = Extract<
  NonNullable<MessageInitShape<typeof RunCodeRequestSchema>['message']>,
  { case: 'start' | 'resume' }
>;

/** Throws RpcError, or the reason of the signal in `options`. */
export async function runAttempt(
  client: CodeRunClient,
  first: First,
  operations: Operations,
  observer: RunObserver,
  options: CallOptions,
): Promise<AttemptEnd> {
  const stream = client.runCode(options);
  const perform = async (call: PerformCall): Promise<void> => {
    const outcome = await operations
      .outcomeOf(toReceivedCall(call))
      .catch((error: Error) => failed('Internal', `the core could not keep the call: ${error.message}`));
    observer.outcome?.(call, outcome);
    await stream.send({ message: { case: 'outcome', value: toReport(call, outcome) } });
  };
  await stream.send({ message: first });
  for await (const { message } of stream.responses) {
    switch (message.case) {
      case 'accepted':
        observer.accepted?.(message.value);
        break;
      case 'call':
        observer.call?.(message.value);
        void perform(message.value);
        break;
      case 'log':
        observer.log?.(message.value);
        break;
      case 'outcomeRefused':
        observer.refused?.(message.value);
        break;
      case 'waiting':
        stream.closeSend();
        return { tag: 'Waiting', waiting: message.value };
      case 'finished':
        stream.closeSend();
        return { tag: 'Finished', finished: message.value };
      case undefined:
        // A message of a newer service that this core does not know.
        break;
      default:
        unreachable(message);
    }
  }
  throw new RpcError('UNAVAILABLE', 'the service ended the stream without an end of the run');
}
