/**
 * Mounts plain handlers on a Connect router: the Connect protocol and gRPC-Web for the HTTP port. Errors are
 * those of the gRPC port, by the same mapping.
 */
import type { DescService } from '@bufbuild/protobuf';
import {
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type ServiceImpl,
} from '@connectrpc/connect';
import { status } from '@grpc/grpc-js';
import { BadRequestSchema } from '../../../gen/google/rpc/error_details_pb.js';
import type { Sender } from '../auth/authenticator.ts';
import { inSpan } from '../telemetry.ts';
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

export function mountConnect<S extends DescService>(
  router: ConnectRouter,
  service: S,
  handlers: ServiceHandlers<S>,
  edge: Edge,
): void {
  const implementation = Object.fromEntries(
    methodsOf(service, handlers).map((bound) => [bound.name, serve(bound, edge)]),
  );
  router.service(service, implementation as ServiceImpl<S>);
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

const sender = createContextKey<Sender | undefined>(undefined, { description: 'sender' });

/** What the adapter of the transport must give each request: connect itself does not tell who sends it. */
export function withSender(value: Sender): ContextValues {
  return createContextValues().set(sender, value);
}

function contextOf(bound: BoundMethod, connect: HandlerContext): CallContext {
  const value = connect.values.get(sender);
  if (value === undefined) throw new Error('the adapter was mounted without withSender');
  const { header, peer, certificateName } = value;
  return { path: pathOf(bound.method), signal: connect.signal, header, peer, certificateName };
}

function toConnectError(
  error: unknown,
  context: CallContext,
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
