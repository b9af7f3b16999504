/**
 * Turns generated methods into what grpc-js needs to put them on the wire.
 *
 * D1  A server gets the bytes of a request and decodes them when it knows who sends them, within the bounds of
 *     the method. What is not known of a message is not kept.
 */
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
import { AppError } from '../errors.ts';
import { type RequestLimits, requestLimits, smallRequest } from '../limits.ts';
import { countFields } from './elements.ts';
import { pathOf } from './handlers.ts';

export function encode(schema: DescMessage, message: MessageInitShape<DescMessage>): Buffer {
  const bytes = toBinary(schema, create(schema, message));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export type WireMessage = MessageInitShape<DescMessage>;

/** For a client. */
export function methodDefinition(method: DescMethod): MethodDefinition<WireMessage, WireMessage> {
  return {
    ...pathAndStreams(method),
    requestSerialize: (value) => encode(method.input, value),
    requestDeserialize: (bytes) => decodeRequest(method, bytes),
    responseSerialize: (value) => encode(method.output, value),
    responseDeserialize: (bytes): Message => fromBinary(method.output, bytes),
  };
}

/** For a server: requests are bytes, for decodeRequest. */
export function servedDefinition(method: DescMethod): MethodDefinition<Buffer, WireMessage> {
  return {
    ...pathAndStreams(method),
    requestSerialize: (bytes) => bytes,
    requestDeserialize: (bytes) => bytes,
    responseSerialize: (value) => encode(method.output, value),
    responseDeserialize: (bytes): Message => fromBinary(method.output, bytes),
  };
}

/** Throws RESOURCE_EXHAUSTED past the bounds of the method, INVALID_ARGUMENT for what is no message. */
export function decodeRequest(method: DescMethod, bytes: Uint8Array): Message {
  const bounds = boundsOf(method);
  checkSize(bounds, bytes.length);
  checkParts(bounds, bytes.length, (max) => countFields(method.input, bytes, max));
  try {
    return fromBinary(method.input, bytes, readOptions);
  } catch (cause) {
    throw new AppError('INVALID_ARGUMENT', 'the message cannot be decoded', { cause });
  }
}

export const readOptions = { readUnknownFields: false };

export function boundsOf(method: DescMethod): RequestLimits {
  return requestLimits[`${method.parent.name}/${method.name}`] ?? smallRequest;
}

export function checkSize({ bytesMax }: RequestLimits, bytes: number): void {
  if (bytes <= bytesMax) return;
  throw new AppError('RESOURCE_EXHAUSTED', `the message is larger than ${bytesMax} bytes`);
}

/** Only a large message is counted: a small one cannot hold much. */
export function checkParts({ partsMax }: RequestLimits, bytes: number, count: (max: number) => number): void {
  if (bytes <= smallRequest.bytesMax || count(partsMax) <= partsMax) return;
  throw new AppError('RESOURCE_EXHAUSTED', `the message has more than ${partsMax} fields`);
}

function pathAndStreams(method: DescMethod) {
  return {
    path: pathOf(method),
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
  };
}
