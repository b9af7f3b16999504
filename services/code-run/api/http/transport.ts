/**
 * The server under the HTTP port: its bounds, its certificates, and what it answers where there is no request
 * that a route could answer.
 */
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { httpLimits } from '../../../shared/limits.ts';
import type { Certificates, CertificateTexts } from '../../../shared/tls.ts';
import { foreignProblem } from './local.ts';
import { httpProblem, type Problem, problemType, unreadable } from './problem.ts';

export type HttpBounds = { readonly [K in keyof typeof httpLimits]: number };

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export function createTransport(
  bounds: HttpBounds,
  certificates: Certificates | undefined,
  localOnly: boolean,
  handler: Handler,
): HttpServer {
  const options = {
    maxHeaderSize: bounds.headerBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    connectionsCheckingInterval: bounds.checkingIntervalMs,
    requireHostHeader: false, // Node.js would refuse it without a word of why.
  };
  const server = serverOf(certificates, options, (request, response) => {
    const missing = request.headers.host === undefined && request.httpVersion !== '1.0';
    const problem = missing
      ? httpProblem(400, 'the Host header is missing')
      : localOnly && foreignProblem(request);
    if (problem) answer(response, problem);
    else handler(request, response);
  });
  server.on('checkExpectation', (_request, response: ServerResponse) =>
    answer(response, httpProblem(417, 'nothing but "100-continue" can be expected')),
  );
  // A reader that takes nothing of its answer holds a whole run in memory: it is ended like one that sends nothing.
  server.timeout = bounds.silenceTimeoutMs;
  server.maxConnections = bounds.connectionsMax;
  server.maxRequestsPerSocket = bounds.requestsPerConnectionMax;
  return server;
}

/** What Node.js could not parse gets its answer by hand: there is no request to answer. */
export function answerUnreadable(error: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const problem = httpProblem(status, unreadable);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${problem.title}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end([...head, '', body].join('\r\n'));
}

function answer(response: ServerResponse, problem: Problem): void {
  const body = JSON.stringify(problem);
  response.writeHead(problem.status, { 'content-type': problemType, connection: 'close' }).end(body);
}

/** New connections use renewed certificates; those that are open keep what they began with. */
function serverOf(
  certificates: Certificates | undefined,
  options: ServerOptions,
  handler: Handler,
): HttpServer {
  if (certificates === undefined) return createServer(options, handler);
  const clients = certificates.current.ca !== undefined;
  const tls = { requestCert: clients, rejectUnauthorized: clients };
  const server = createTlsServer({ ...options, ...tls, ...contextOf(certificates.current) }, handler);
  certificates.onChange((texts) => server.setSecureContext(contextOf(texts)));
  return server;
}

function contextOf({ cert, key, ca }: CertificateTexts): SecureContextOptions {
  return ca === undefined ? { cert, key } : { cert, key, ca };
}
