/**
 * A grpc-js server that lets a call in before it reads anything of the call's messages.
 *
 * G1  A path with a gate waits for it: until it opens, nothing is read beyond what the window of the connection
 *     takes, and a call that is refused gets its status without.
 * G2  Services of others (health, reflection) have no gate, and take small messages alone.
 */
import {
  type Metadata,
  Server,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerOptions,
  type ServiceDefinition,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { smallRequest } from '../limits.ts';

/** Gives the status that refuses the call; undefined lets it in. Never rejects. */
export type Gate = (
  call: ServerInterceptingCallInterface,
  metadata: Metadata,
) => Promise<StatusObject | undefined>;

export class EdgeServer extends Server {
  readonly #gates: Map<string, Gate>;

  constructor(options: ServerOptions) {
    const gates = new Map<string, Gate>();
    const letIn = (path: string, call: ServerInterceptingCallInterface) => {
      const gate = gates.get(path);
      if (gate === undefined) return new ServerInterceptingCall(call);
      return new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: (metadata, pass) =>
              void gate(call, metadata).then((refusal) => {
                if (refusal === undefined) pass(metadata);
                else call.sendStatus(refusal);
              }),
          }),
      });
    };
    super({ ...options, interceptors: [({ path }, call) => letIn(path, call)] });
    this.#gates = gates;
  }

  /** To be set before the service of the path is added. */
  gate(path: string, gate: Gate): void {
    this.#gates.set(path, gate);
  }

  override addService(service: ServiceDefinition, implementation: UntypedServiceImplementation): void {
    const bounded = Object.entries(service).map(([name, method]) => [
      name,
      this.#gates.has(method.path)
        ? method
        : { ...method, requestDeserialize: small(method.requestDeserialize) },
    ]);
    super.addService(Object.fromEntries(bounded), implementation);
  }
}

function small(deserialize: (bytes: Buffer) => unknown): (bytes: Buffer) => unknown {
  return (bytes) => {
    if (bytes.length > smallRequest.bytesMax) throw new Error('the message is too large');
    return deserialize(bytes);
  };
}
