/**
 * The services under the HTTP port: requests of Connect and gRPC-Web go to them, all others to the routes.
 *
 * C1  A body is checked before it is decoded, and read only for a caller that was let in.
 * C2  What Connect refuses without a word gets a problem document that says why.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Code, ConnectError, type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { protocols, withSender } from '../../../shared/grpc/connect.ts';
import { answersOnly, checkedBody } from '../../../shared/grpc/connect-body.ts';
import { limits } from '../../../shared/limits.ts';
import type { Log } from '../../../shared/log.ts';
import { httpProblem, problemType } from './problem.ts';
import { senderOf } from './sender.ts';
import type { Handler } from './transport.ts';

export interface ServicesDeps {
  /** Mounts the services for Connect and gRPC-Web. */
  readonly mount: (router: ConnectRouter) => void;
  readonly log: Log;
}

export function withServices({ mount, log }: ServicesDeps, routes: Handler): Handler {
  const router = createConnectRouter({
    ...protocols,
    acceptCompression: [compressionGzip, compressionBrotli].map(answersOnly),
    readMaxBytes: limits.grpcMessageBytesMax, // What a method takes is in its bounds.
    writeMaxBytes: limits.grpcAnswerBytesMax,
  });
  mount(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const handler = handlers.get(request.url?.split('?', 1)[0] ?? '');
    if (handler === undefined) return routes(request, response);
    serve(handler, request, response).catch((error: unknown) => {
      if (ConnectError.from(error).code === Code.Aborted) return; // The caller went away.
      log.error({ path: handler.requestPath, err: error }, 'request failed');
      response.destroy();
    });
  };
}

async function serve(handler: UniversalHandler, request: IncomingMessage, response: ServerResponse) {
  const values = withSender(senderOf(request));
  const { body, ...received } = universalRequestFromNodeRequest(request, response, undefined, values);
  const contentType = request.headers['content-type'] ?? '';
  const stream = checkedBody(handler.method, contentType, body as AsyncIterable<Uint8Array>);
  const answered = await handler({ ...received, body: stream });
  await universalResponseToNodeResponse(explained(answered, handler), response);
}

function explained(answer: UniversalServerResponse, { method }: UniversalHandler): UniversalServerResponse {
  const detail = details[answer.status];
  if (answer.body !== undefined || detail === undefined) return answer;
  const header = new Headers(answer.header);
  header.set('content-type', problemType);
  if (answer.status === 405) header.set('allow', 'POST');
  const bytes = Buffer.from(JSON.stringify(httpProblem(answer.status, `${method.name}: ${detail}`)));
  return {
    ...answer,
    header,
    body: (async function* () {
      yield bytes;
    })(),
  };
}

const details: Readonly<Record<number, string>> = {
  405: 'the method must be POST',
  415: 'the body must be application/json or application/proto, or that of gRPC-Web',
  505: 'needs both directions at once, which the gRPC port has',
};
