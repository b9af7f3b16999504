/** Turns generated methods into what grpc-js needs to put them on the wire. */
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';
import { pathOf } from './handlers.ts';

export function encode(schema: DescMessage, message: MessageInitShape<DescMessage>): Buffer {
  const bytes = toBinary(schema, create(schema, message));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export type WireMessage = MessageInitShape<DescMessage>;

export function methodDefinition(method: DescMethod): MethodDefinition<WireMessage, WireMessage> {
  return {
    path: pathOf(method),
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (value) => encode(method.input, value),
    requestDeserialize: (bytes): Message => fromBinary(method.input, bytes),
    responseSerialize: (value) => encode(method.output, value),
    responseDeserialize: (bytes): Message => fromBinary(method.output, bytes),
  };
}
