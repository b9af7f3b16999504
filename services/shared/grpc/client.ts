/**
 * A typed grpc-js client of a generated service.
 *
 * C1  A failed call is an RpcError; an aborted one throws the reason of its signal.
 * C2  A bidi call honours back-pressure: `send` resolves when more may be sent, and responses that are not
 *     read are not fetched.
 * C3  Calls on one connection share it: what one of them streams without pause does not keep the others waiting.
 */
import type { DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import {
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  Client as GrpcClient,
  Metadata,
  type ServiceError,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { limits } from '../limits.ts';
import { beginClientSpan } from '../telemetry.ts';
import { methodDefinition, type WireMessage } from './codec.ts';
import type { ServiceShape } from './handlers.ts';
import { fromServiceError, RpcError } from './status.ts';
import { MessageWriter, readMessages } from './stream.ts';
import { widenConnectionWindows } from './windows.ts';

widenConnectionWindows();

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The call fails with DEADLINE_EXCEEDED after this long. No deadline by default. */
  readonly timeoutMs?: number;
  /** Request metadata: "authorization" → "Bearer …". */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call with a stream in each direction. */
export interface BidiCall<I, O> {
  /** Sends a message; resolves when another may be sent. Never rejects: the end shows in `responses`. */
  send(message: I): Promise<void>;
  /** Says that no more messages follow. */
  closeSend(): void;
  /** Ends the call at once. Idempotent. */
  cancel(): void;
  /** To be read once. Throws RpcError if the call fails, CANCELLED after `cancel`. */
  readonly responses: AsyncIterable<O>;
}

type ClientMethod<M extends DescMethod> = M['methodKind'] extends 'unary'
  ? (request: MessageInitShape<M['input']>, options?: CallOptions) => Promise<MessageShape<M['output']>>
  : M['methodKind'] extends 'bidi_streaming'
    ? (options?: CallOptions) => BidiCall<MessageInitShape<M['input']>, MessageShape<M['output']>>
    : never;

export type ServiceClient<S extends ServiceShape> = {
  readonly [K in keyof S['method']]: ClientMethod<S['method'][K]>;
};

/** A connection to one address; clients of several services share it. */
export type Channel = GrpcClient;

/** `address`: "host:port", "dns:///host:port" or "unix:/path". */
export function openChannel(
  address: string,
  credentials: ChannelCredentials,
  options: ChannelOptions = {},
): Channel {
  return new GrpcClient(address, credentials, {
    'grpc.max_receive_message_length': limits.grpcAnswerBytesMax,
    'grpc.max_send_message_length': limits.grpcMessageBytesMax,
    ...options,
  });
}

/** `headers` go with every call: "authorization" → "Bearer …". */
export function createClient<S extends ServiceShape>(
  service: S,
  channel: Channel,
  headers: Headers = {},
): ServiceClient<S> {
  const methods = Object.entries(service.method).map(([name, method]) => [
    name,
    method.methodKind === 'unary' ? unary(channel, method, headers) : bidi(channel, method, headers),
  ]);
  return Object.fromEntries(methods) as ServiceClient<S>;
}

type Headers = Readonly<Record<string, string>>;

function unary(channel: Channel, method: DescMethod, headers: Headers) {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
  return (request: WireMessage, options: CallOptions = {}): Promise<WireMessage> =>
    new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => call.cancel();
      const span = beginClientSpan(path);
      const call = channel.makeUnaryRequest<WireMessage, WireMessage>(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadataOf({ ...span.headers, ...headers, ...options.headers }),
        deadlineOf(options),
        (error: ServiceError | null, response?: WireMessage) => {
          span.end(codeOf(error));
          signal?.removeEventListener('abort', onAbort);
          if (signal?.aborted === true) reject(signal.reason);
          else if (error !== null) reject(fromServiceError(error));
          else if (response === undefined) reject(new RpcError('INTERNAL', 'an answer without a message'));
          else resolve(response);
        },
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    });
}

function bidi(channel: Channel, method: DescMethod, headers: Headers) {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
  return (options: CallOptions = {}): BidiCall<WireMessage, WireMessage> => {
    const span = beginClientSpan(path);
    const call = channel.makeBidiStreamRequest<WireMessage, WireMessage>(
      path,
      requestSerialize,
      responseDeserialize,
      metadataOf({ ...span.headers, ...headers, ...options.headers }),
      deadlineOf(options),
    );
    call.once('status', (ended: StatusObject) => span.end(codeOf(ended)));
    return bidiCall(call, options.signal);
  };
}

function bidiCall(
  call: ClientDuplexStream<WireMessage, WireMessage>,
  signal: AbortSignal | undefined,
): BidiCall<WireMessage, WireMessage> {
  // Aborts once the call is over in whatever way, so that no send waits for a peer that is gone.
  const over = new AbortController();
  const writer = new MessageWriter(call, over.signal);
  const onAbort = () => call.cancel();
  call.on('status', () => {
    signal?.removeEventListener('abort', onAbort);
    over.abort();
  });
  // The error is thrown by `responses`; a caller that only sends must not be ended by it.
  let failure: RpcError | undefined;
  call.on('error', (error: ServiceError) => {
    failure = fromServiceError(error);
  });
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    send: (message) => writer.write(message).catch(() => {}),
    closeSend: () => call.end(),
    cancel: () => call.cancel(),
    responses: responsesOf(call, () => (signal?.aborted === true ? signal.reason : failure)),
  };
}

async function* responsesOf(
  call: ClientDuplexStream<WireMessage, WireMessage>,
  failure: () => unknown,
): AsyncGenerator<WireMessage> {
  try {
    yield* readMessages(call, new AbortController().signal, (message: WireMessage) => message);
    // The call failed before anybody read: its error event is past.
    if (failure() !== undefined) throw failure();
  } catch (error) {
    throw failure() ?? error;
  } finally {
    call.cancel(); // A reader that stops early gives the call up; after the end this does nothing.
  }
}

function metadataOf(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function codeOf(ended: { readonly code: number } | null): string {
  return ended === null ? 'OK' : (status[ended.code] ?? 'UNKNOWN');
}

function deadlineOf(options: CallOptions): { deadline?: number } {
  return options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs };
}
