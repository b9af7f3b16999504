/**
 * What a service implements: plain functions over generated messages. The same object is mounted on a
 * grpc-js server (mount.ts) and on a Connect router (connect.ts), or called in process.
 *
 * H1  A stream of requests ends when the caller has half-closed, and throws when the caller went away.
 * H2  `signal` aborts when the caller went away or its deadline passed; a handler that waits must watch it.
 * H3  A handler is called only for a caller that was identified; what the caller may do is for the handler to say.
 * H4  A handler fails with AppError for what is expected; anything else becomes INTERNAL without details.
 */
import type { DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Sender } from '../auth/authenticator.ts';
import type { Caller } from '../auth/caller.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { publicError } from './status.ts';

/** The call that a handler serves. */
export interface CallContext extends Sender {
  /** "/openbot.codemode.v1.CodeRunService/RunCode". */
  readonly path: string;
  /** Who calls. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** What mounting needs beside the handlers, whatever the transport. */
export interface Edge {
  readonly log: Log;
  /** Says who calls, or throws AppError: asked once for each call, before anything of its messages is read. */
  readonly identify: (sender: Sender) => Promise<Caller>;
  /** Begins a request by its path; what it gives is called with the code of the end. */
  readonly observe: (path: string) => (code: string) => void;
}

/** An edge on which nothing is measured. */
export function plainEdge(log: Log, identify: Edge['identify']): Edge {
  return { log, identify, observe: () => () => {} };
}

/** What a caller may know of an error. What is not expected is logged, with its cause. */
export function reported(error: unknown, context: Pick<CallContext, 'path'>, log: Log): AppError {
  const failure = publicError(error);
  if (failure.code === 'INTERNAL') log.error({ path: context.path, err: failure }, 'call failed');
  return failure;
}

type UnaryHandler<M extends DescMethod> = (
  request: MessageShape<M['input']>,
  context: CallContext,
) => Promise<MessageInitShape<M['output']>>;

type BidiHandler<M extends DescMethod> = (
  requests: AsyncIterable<MessageShape<M['input']>>,
  context: CallContext,
) => AsyncIterable<MessageInitShape<M['output']>>;

export type MethodHandler<M extends DescMethod> = M['methodKind'] extends 'unary'
  ? UnaryHandler<M>
  : M['methodKind'] extends 'bidi_streaming'
    ? BidiHandler<M>
    : never;

/** A generated service, seen narrowly enough that each method keeps its own types. */
export interface ServiceShape {
  readonly typeName: string;
  readonly method: Readonly<Record<string, DescMethod>>;
}

export type ServiceHandlers<S extends ServiceShape> = {
  readonly [K in keyof S['method']]: MethodHandler<S['method'][K]>;
};

/** Pairs each method with its handler. The only place where the types of a service are given up. */
export function methodsOf<S extends ServiceShape>(
  service: S,
  handlers: ServiceHandlers<S>,
): readonly BoundMethod[] {
  return Object.entries(service.method).map(([name, method]) => {
    const handler: unknown = handlers[name as keyof S['method']];
    if (method.methodKind === 'unary') {
      return { kind: 'unary', name, method, handler: handler as UnaryHandler<DescMethod> };
    }
    if (method.methodKind === 'bidi_streaming') {
      return { kind: 'bidi', name, method, handler: handler as BidiHandler<DescMethod> };
    }
    throw new Error(`${service.typeName}.${method.name}: ${method.methodKind} has no mounting`);
  });
}

export type BoundMethod =
  | {
      readonly kind: 'unary';
      readonly name: string;
      readonly method: DescMethod;
      readonly handler: UnaryHandler<DescMethod>;
    }
  | {
      readonly kind: 'bidi';
      readonly name: string;
      readonly method: DescMethod;
      readonly handler: BidiHandler<DescMethod>;
    };

export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
