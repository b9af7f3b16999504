/**
 * Mounts plain handlers on a grpc-js server.
 *
 * M1  Whatever a handler throws is mapped once, in status.ts; what is not an AppError is logged here.
 * M2  When the caller goes away, the handler's signal aborts, its requests throw, and nothing is written any
 *     more.
 */
import type { EventEmitter } from 'node:events';
import { isMessage, type Message } from '@bufbuild/protobuf';
import type {
  Server,
  ServerDuplexStream,
  ServerUnaryCall,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { certificateName } from '../auth/certificate.ts';
import { AppError } from '../errors.ts';
import { inSpan } from '../telemetry.ts';
import { methodDefinition, type WireMessage } from './codec.ts';
import {
  type BoundMethod,
  type CallContext,
  type Edge,
  methodsOf,
  pathOf,
  reported,
  type ServiceHandlers,
  type ServiceShape,
} from './handlers.ts';
import { beginRequest } from './request.ts';
import { toStatus } from './status.ts';
import { MessageWriter, readMessages } from './stream.ts';

type Unary = Extract<BoundMethod, { kind: 'unary' }>;
type Bidi = Extract<BoundMethod, { kind: 'bidi' }>;
type UnaryCall = ServerUnaryCall<WireMessage, WireMessage>;
type BidiCall = ServerDuplexStream<WireMessage, WireMessage>;

export function mountService<S extends ServiceShape>(
  server: Server,
  service: S,
  handlers: ServiceHandlers<S>,
  edge: Edge,
): void {
  const definition: Record<string, ReturnType<typeof methodDefinition>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const bound of methodsOf(service, handlers)) {
    definition[bound.name] = methodDefinition(bound.method);
    implementation[bound.name] = bound.kind === 'unary' ? serveUnary(bound, edge) : serveBidi(bound, edge);
  }
  server.addService(definition, implementation);
}

function serveUnary(bound: Unary, edge: Edge) {
  return (call: UnaryCall, callback: sendUnaryData<WireMessage>): void => {
    const context = contextOf(call, bound);
    const request = beginRequest(edge, context);
    void (async () => {
      try {
        const response = await request.run(() => bound.handler(requestOf(bound, call.request), context));
        callback(null, response);
        request.end('OK');
      } catch (error) {
        const failure = reported(error, context, edge.log);
        callback(toStatus(failure));
        request.end(failure.code);
      }
    })();
  };
}

function serveBidi(bound: Bidi, edge: Edge) {
  return (call: BidiCall): void => {
    const context = contextOf(call, bound);
    const request = beginRequest(edge, context);
    // Errors of a cancelled stream arrive here as well as in readMessages: without a listener they would
    // end the process, and there is nobody left to tell.
    call.on('error', () => {});
    void (async () => {
      try {
        const requests = readMessages<Message>(call, context.signal);
        const responses = inSpan(request, () => bound.handler(requests, context));
        const writer = new MessageWriter(call, context.signal);
        for await (const response of responses) await writer.write(response);
        call.end();
        request.end('OK');
      } catch (error) {
        const failure = reported(error, context, edge.log);
        if (!call.cancelled) call.emit('error', toStatus(failure));
        request.end(failure.code);
      }
    })();
  };
}

function contextOf(call: UnaryCall | BidiCall, bound: BoundMethod): CallContext {
  const controller = new AbortController();
  const events: EventEmitter = call;
  events.on('cancelled', () => controller.abort(new AppError('CANCELLED', 'the caller went away')));
  if (call.cancelled) controller.abort(new AppError('CANCELLED', 'the caller went away'));
  return {
    path: pathOf(bound.method),
    signal: controller.signal,
    peer: peerOf(call.getPeer()),
    certificateName: certificateName(call.getAuthContext().sslPeerCertificate),
    header: (name) => {
      const [value] = call.metadata.get(name);
      return typeof value === 'string' ? value : undefined;
    },
  };
}

/** "host:port" of a socket, or what grpc-js says where there is none. */
function peerOf(peer: string): string {
  return peer === 'unknown' ? '' : peer.replace(/:\d+$/, '');
}

function requestOf(bound: Unary, request: WireMessage) {
  if (!isMessage(request, bound.method.input)) throw new Error('grpc-js gave what codec.ts did not decode');
  return request;
}
