/**
 * The body of a request of Connect or gRPC-Web, checked before it is decoded: the bounds are those of gRPC.
 *
 * B1  A body is read only when its reader asks for it, which Connect does once the caller is let in.
 * B2  A request is not compressed: what it would grow to cannot be counted before it is decoded.
 */
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Compression } from '@connectrpc/connect/protocol';
import { boundsOf, checkParts, checkSize } from './codec.ts';
import { countFields, countJson } from './elements.ts';
import { grpcCode, publicError, statusText } from './status.ts';

/** A flag and a length before each message of gRPC-Web. */
const envelopeBytes = 5;

export async function* checkedBody(
  method: DescMethod,
  contentType: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    const enveloped = /grpc-web|connect/i.test(contentType);
    const bytes = await collect(method, body, enveloped ? envelopeBytes : 0);
    for (const message of enveloped ? messagesOf(bytes) : [bytes]) {
      checkParts(boundsOf(method), message.length, (max) =>
        /json/i.test(contentType) ? countJson(message, max) : countFields(method.input, message, max),
      );
    }
    yield bytes;
  } catch (error) {
    if (error instanceof ConnectError) throw error; // The caller went away.
    const failure = publicError(error);
    throw new ConnectError(statusText(failure), grpcCode(failure.code));
  }
}

async function collect(method: DescMethod, body: AsyncIterable<Uint8Array>, spare: number): Promise<Buffer> {
  const bounds = boundsOf(method);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    checkSize(bounds, bytes - spare);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function* messagesOf(bytes: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at + envelopeBytes <= bytes.length; ) {
    const from = at + envelopeBytes;
    at = from + bytes.readUInt32BE(at + 1);
    yield bytes.subarray(from, at);
  }
}

/** Answers may be compressed, requests not. */
export function answersOnly(compression: Compression): Compression {
  return {
    ...compression,
    decompress: async () => {
      throw new ConnectError('a request must not be compressed', Code.Unimplemented);
    },
  };
}
