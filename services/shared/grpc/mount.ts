/**
 * Mounts plain handlers on a grpc-js server.
 *
 * M1  The caller is identified from the headers, before anything of the call's messages is read; one that is
 *     refused is told so, and its messages are dropped unread.
 * M2  Whatever a handler throws is mapped once, in status.ts; what is not an AppError is logged here.
 * M3  When the caller goes away, the handler's signal aborts, its requests throw, and nothing is written any
 *     more.
 */
import type { EventEmitter } from 'node:events';
import type {
  Metadata,
  ServerDuplexStream,
  ServerInterceptingCallInterface,
  ServerUnaryCall,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Sender } from '../auth/authenticator.ts';
import type { Caller } from '../auth/caller.ts';
import { certificateName } from '../auth/certificate.ts';
import { AppError } from '../errors.ts';
import { inSpan } from '../telemetry.ts';
import { decodeRequest, servedDefinition, type WireMessage } from './codec.ts';
import type { EdgeServer } from './edge-server.ts';
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
type UnaryCall = ServerUnaryCall<Buffer, WireMessage>;
type BidiCall = ServerDuplexStream<Buffer, WireMessage>;

export function mountService<S extends ServiceShape>(
  server: EdgeServer,
  service: S,
  handlers: ServiceHandlers<S>,
  edge: Edge,
): void {
  const definition: Record<string, ReturnType<typeof servedDefinition>> = {};
  const callers = new WeakMap<Metadata, Caller>();
  const implementation: UntypedServiceImplementation = {};
  for (const bound of methodsOf(service, handlers)) {
    definition[bound.name] = servedDefinition(bound.method);
    const callerOf = (call: UnaryCall | BidiCall) => {
      const caller = callers.get(call.metadata);
      if (caller === undefined) throw new Error('grpc-js passed a call on that was not let in');
      return caller;
    };
    implementation[bound.name] =
      bound.kind === 'unary' ? serveUnary(bound, edge, callerOf) : serveBidi(bound, edge, callerOf);
    server.gate(pathOf(bound.method), async (call, metadata) => {
      const sender = { path: pathOf(bound.method), ...senderOf(call, metadata) };
      try {
        callers.set(metadata, await edge.identify(sender));
        return undefined;
      } catch (error) {
        const failure = reported(error, sender, edge.log);
        beginRequest(edge, sender).end(failure.code);
        return toStatus(failure);
      }
    });
  }
  server.addService(definition, implementation);
}

type CallerOf = (call: UnaryCall | BidiCall) => Caller;

function serveUnary(bound: Unary, edge: Edge, callerOf: CallerOf) {
  return (call: UnaryCall, callback: sendUnaryData<WireMessage>): void => {
    const context = contextOf(call, bound, callerOf(call));
    const request = beginRequest(edge, context);
    void (async () => {
      try {
        const message = decodeRequest(bound.method, call.request);
        const response = await request.run(() => bound.handler(message, context));
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

function serveBidi(bound: Bidi, edge: Edge, callerOf: CallerOf) {
  return (call: BidiCall): void => {
    const context = contextOf(call, bound, callerOf(call));
    const request = beginRequest(edge, context);
    // Errors of a cancelled stream arrive here as well as in readMessages: without a listener they would
    // end the process, and there is nobody left to tell.
    call.on('error', () => {});
    void (async () => {
      try {
        const requests = readMessages(call, context.signal, (bytes: Buffer) =>
          decodeRequest(bound.method, bytes),
        );
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

/** One for all: grpc-js says so at the end of every call, and a stack would tell nothing. */
const callerGone = new AppError('CANCELLED', 'the caller went away');

function contextOf(call: UnaryCall | BidiCall, bound: BoundMethod, caller: Caller): CallContext {
  const controller = new AbortController();
  const events: EventEmitter = call;
  events.on('cancelled', () => controller.abort(callerGone));
  if (call.cancelled) controller.abort(callerGone);
  return { path: pathOf(bound.method), caller, signal: controller.signal, ...senderOf(call, call.metadata) };
}

type Connected = Pick<ServerInterceptingCallInterface, 'getPeer' | 'getAuthContext'>;

function senderOf(call: Connected, metadata: Metadata): Sender {
  return {
    peer: peerOf(call.getPeer()),
    certificateName: certificateName(call.getAuthContext().sslPeerCertificate),
    header: (name) => {
      const [value] = metadata.get(name);
      return typeof value === 'string' ? value : undefined;
    },
  };
}

/** "host:port" of a socket, or what grpc-js says where there is none. */
function peerOf(peer: string): string {
  return peer === 'unknown' ? '' : peer.replace(/:\d+$/, '');
}
