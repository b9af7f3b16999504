/**
 * The runner's `Sandbox` over gRPC: one stream for each attempt, on one channel.
 *
 * C1  A name that resolves to several addresses is used round robin; one that does not answer is left out.
 * C2  A peer that is gone without a word is noticed by keepalive while attempts wait.
 * C3  A message is at most as large as the largest result; outcomes are sent as fast as they are taken.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ChannelCredentials, ChannelOptions } from '@grpc/grpc-js';
import {
  type ExecuteRequestSchema,
  type ExecuteResponse,
  type GetStatusResponse,
  SandboxService,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { AppError } from '../../shared/errors.ts';
import {
  type BidiCall,
  type Channel,
  createClient,
  openChannel,
  type ServiceClient,
} from '../../shared/grpc/client.ts';
import { RpcError } from '../../shared/grpc/status.ts';
import type { DeliveredOutcome, Sandbox, SandboxAttempt, SandboxEvent, SandboxJob } from './contract.ts';
import { inBatches, toEvents, toJob, toRequest } from './sandbox-messages.ts';

export interface SandboxClientSettings {
  /** "dns:///sandbox:7443", "host:port" or "unix:/path". */
  readonly address: string;
  /** Host name that the certificate must carry; that of the address by default. */
  readonly tlsName?: string | undefined;
  /** How often a silent connection is asked whether it lives. */
  readonly keepaliveMs: number;
  /** How long the answer may take. */
  readonly keepaliveTimeoutMs: number;
}

export const sandboxClientDefaults = { keepaliveMs: 10_000, keepaliveTimeoutMs: 5_000 } as const;

type Request = MessageInitShape<typeof ExecuteRequestSchema>;
type ExecuteCall = BidiCall<Request, ExecuteResponse>;

export class SandboxClient implements Sandbox {
  readonly #address: string;
  readonly #channel: Channel;
  readonly #service: ServiceClient<typeof SandboxService>;

  constructor(settings: SandboxClientSettings, credentials: ChannelCredentials) {
    this.#address = settings.address;
    this.#channel = openChannel(settings.address, credentials, channelOptions(settings));
    this.#service = createClient(SandboxService, this.#channel);
  }

  execute(job: SandboxJob): SandboxAttempt {
    return new RemoteAttempt(this.#service.execute(), job, this.#address);
  }

  /** How the sandbox is. Throws RpcError if it does not answer in time. */
  status(timeoutMs: number): Promise<GetStatusResponse> {
    return this.#service.getStatus({}, { timeoutMs });
  }

  close(): void {
    this.#channel.close();
  }
}

function channelOptions(settings: SandboxClientSettings): ChannelOptions {
  return {
    'grpc.keepalive_time_ms': settings.keepaliveMs,
    'grpc.keepalive_timeout_ms': settings.keepaliveTimeoutMs,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    ...(settings.tlsName === undefined ? {} : { 'grpc.ssl_target_name_override': settings.tlsName }),
    // A sandbox that comes back is used again soon.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
  };
}

class RemoteAttempt implements SandboxAttempt {
  readonly events: AsyncIterable<SandboxEvent>;
  readonly #call: ExecuteCall;

  constructor(call: ExecuteCall, job: SandboxJob, address: string) {
    this.#call = call;
    this.events = eventsOf(call, address);
    void call.send({ message: { case: 'job', value: toJob(job) } });
  }

  async deliver(outcomes: readonly DeliveredOutcome[]): Promise<void> {
    for (const batch of inBatches(outcomes)) await this.#call.send(toRequest(batch));
  }

  kill(): void {
    this.#call.cancel();
  }
}

async function* eventsOf(call: ExecuteCall, address: string): AsyncGenerator<SandboxEvent, void, void> {
  let reached = false;
  try {
    for await (const response of call.responses) {
      reached = true;
      yield* toEvents(response);
    }
  } catch (error) {
    throw error instanceof RpcError ? toAppError(error, address, reached) : error;
  }
}

/** No room, or not there: whatever else a sandbox answers is not the caller's to mend either. */
function toAppError(cause: RpcError, address: string, reached: boolean): AppError {
  const { code, message } = cause;
  if (code === 'RESOURCE_EXHAUSTED') {
    return new AppError('RESOURCE_EXHAUSTED', `The sandbox at ${address} is busy.`, {
      cause,
      retryable: true,
    });
  }
  return code === 'UNAVAILABLE' && !reached
    ? new AppError('UNAVAILABLE', `The sandbox at ${address} could not be reached: ${message}`, { cause })
    : new AppError('ABORTED', `The sandbox at ${address} ended the attempt: ${code} ${message}`, { cause });
}
