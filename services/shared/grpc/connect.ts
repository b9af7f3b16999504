/**
 * Mounts plain handlers on a Connect router: the Connect protocol and gRPC-Web for the HTTP port. Errors are
 * those of the gRPC port, by the same mapping.
 */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import {
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type MethodImpl,
} from '@connectrpc/connect';
import { status } from '@grpc/grpc-js';
import { BadRequestSchema } from '../../../gen/google/rpc/error_details_pb.js';
import type { Sender } from '../auth/authenticator.ts';
import type { Caller } from '../auth/caller.ts';
import { inSpan } from '../telemetry.ts';
import { readOptions } from './codec.ts';
import {
  type BoundMethod,
  type CallContext,
  type Edge,
  methodsOf,
  pathOf,
  reported,
  type ServiceHandlers,
} from './handlers.ts';
import { beginRequest } from './request.ts';
import { badRequest, grpcCode, statusText } from './status.ts';

/** gRPC has a port of its own, with everything that belongs to it. */
export const protocols = { grpc: false };

export function mountConnect<S extends DescService>(
  router: ConnectRouter,
  service: S,
  handlers: ServiceHandlers<S>,
  edge: Edge,
): void {
  for (const bound of methodsOf(service, handlers)) {
    router.rpc(bound.method, serve(bound, edge) as MethodImpl<DescMethod>, {
      ...protocols,
      binaryOptions: readOptions,
      requestGate: (connect) => letIn(bound, connect, edge),
    });
  }
}

/** Identifies the caller; nothing is read of the body before. */
async function letIn(bound: BoundMethod, connect: HandlerContext, edge: Edge): Promise<void> {
  const { header, peer, certificateName } = senderOf(connect);
  const request = { path: pathOf(bound.method), header, peer, certificateName };
  try {
    connect.values.set(callerKey, await edge.identify(request));
  } catch (error) {
    throw toConnectError(error, request, edge, (code) => beginRequest(edge, request).end(code));
  }
}

function serve(bound: BoundMethod, edge: Edge) {
  if (bound.kind === 'unary') {
    return async (request: Parameters<typeof bound.handler>[0], connect: HandlerContext) => {
      const context = contextOf(bound, connect);
      const call = beginRequest(edge, context);
      try {
        const response = await call.run(() => bound.handler(request, context));
        call.end('OK');
        return response;
      } catch (error) {
        throw toConnectError(error, context, edge, call.end);
      }
    };
  }
  return async function* (requests: Parameters<typeof bound.handler>[0], connect: HandlerContext) {
    const context = contextOf(bound, connect);
    const call = beginRequest(edge, context);
    try {
      yield* inSpan(call, () => bound.handler(requests, context));
      call.end('OK');
    } catch (error) {
      throw toConnectError(error, context, edge, call.end);
    }
  };
}

const senderKey = createContextKey<Sender | undefined>(undefined, { description: 'sender' });
const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' });

/** What the adapter of the transport must give each request: connect itself does not tell who sends it. */
export function withSender(value: Sender): ContextValues {
  return createContextValues().set(senderKey, value);
}

function senderOf(connect: HandlerContext): Sender {
  const sender = connect.values.get(senderKey);
  if (sender === undefined) throw new Error('the adapter was mounted without withSender');
  return sender;
}

function contextOf(bound: BoundMethod, connect: HandlerContext): CallContext {
  const caller = connect.values.get(callerKey);
  if (caller === undefined) throw new Error('connect passed a request on that was not let in');
  const { header, peer, certificateName } = senderOf(connect);
  return { path: pathOf(bound.method), caller, signal: connect.signal, header, peer, certificateName };
}

function toConnectError(
  error: unknown,
  context: Pick<CallContext, 'path'>,
  edge: Edge,
  ended: (code: string) => void,
): ConnectError {
  // Thrown by connect itself while it reads requests: a broken message, a caller that went away.
  if (error instanceof ConnectError) {
    ended(status[error.code] ?? 'UNKNOWN');
    return error;
  }
  const failure = reported(error, context, edge.log);
  ended(failure.code);
  const violations = badRequest(failure);
  const details = violations === undefined ? [] : [{ desc: BadRequestSchema, value: violations }];
  return new ConnectError(statusText(failure), grpcCode(failure.code), undefined, details);
}
