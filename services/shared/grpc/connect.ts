/**
 * Mounts plain handlers on a Connect router: the Connect protocol and gRPC-Web for the HTTP port. Errors are
 * those of the gRPC port, by the same mapping.
 */
import type { DescService } from '@bufbuild/protobuf';
import { ConnectError, type ConnectRouter, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { status } from '@grpc/grpc-js';
import { BadRequestSchema } from '../../../gen/google/rpc/error_details_pb.js';
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

function contextOf(bound: BoundMethod, connect: HandlerContext): CallContext {
  return {
    path: pathOf(bound.method),
    signal: connect.signal,
    peer: 'http',
    header: (name) => connect.requestHeader.get(name) ?? undefined,
  };
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
