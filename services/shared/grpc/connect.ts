/**
 * Mounts plain handlers on a Connect router: the Connect protocol and gRPC-Web for the HTTP port. Errors are
 * those of the gRPC port, by the same mapping.
 */
import type { DescService } from '@bufbuild/protobuf';
import { ConnectError, type ConnectRouter, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { BadRequestSchema } from '../../../gen/google/rpc/error_details_pb.js';
import type { Log } from '../log.ts';
import { type BoundMethod, type CallContext, methodsOf, pathOf, type ServiceHandlers } from './handlers.ts';
import { badRequest, grpcCode, publicError, statusText } from './status.ts';

export function mountConnect<S extends DescService>(
  router: ConnectRouter,
  service: S,
  handlers: ServiceHandlers<S>,
  log: Log,
): void {
  const implementation = Object.fromEntries(
    methodsOf(service, handlers).map((bound) => [bound.name, serve(bound, log)]),
  );
  router.service(service, implementation as ServiceImpl<S>);
}

function serve(bound: BoundMethod, log: Log) {
  if (bound.kind === 'unary') {
    return async (request: Parameters<typeof bound.handler>[0], connect: HandlerContext) => {
      const context = contextOf(bound, connect);
      try {
        return await bound.handler(request, context);
      } catch (error) {
        throw toConnectError(error, context, log);
      }
    };
  }
  return async function* (requests: Parameters<typeof bound.handler>[0], connect: HandlerContext) {
    const context = contextOf(bound, connect);
    try {
      yield* bound.handler(requests, context);
    } catch (error) {
      throw toConnectError(error, context, log);
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

function toConnectError(error: unknown, context: CallContext, log: Log): ConnectError {
  // Thrown by connect itself while it reads requests: a broken message, a caller that went away.
  if (error instanceof ConnectError) return error;
  const failure = publicError(error);
  if (failure.code === 'INTERNAL') log.error({ path: context.path, err: failure }, 'call failed');
  const violations = badRequest(failure);
  const details = violations === undefined ? [] : [{ desc: BadRequestSchema, value: violations }];
  return new ConnectError(statusText(failure), grpcCode(failure.code), undefined, details);
}
