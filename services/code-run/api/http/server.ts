/**
 * The HTTP port: the routes by fastify, everything under a service's name by Connect and gRPC-Web.
 *
 * W1  Headers, bodies, idle and slow connections have limits; what breaks one gets an answer where HTTP has
 *     one, and the connection ends.
 * W2  Every error of the routes is a problem document; what is unexpected is logged and says nothing.
 */
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { type FastifyInstance, fastify } from 'fastify';
import { AppError } from '../../../shared/errors.ts';
import { publicError } from '../../../shared/grpc/status.ts';
import { httpLimits, limits } from '../../../shared/limits.ts';
import type { Log } from '../../../shared/log.ts';
import type { Certificates, CertificateTexts } from '../../../shared/tls.ts';
import type { Metrics } from '../../metrics.ts';
import type { Readiness } from '../../watch.ts';
import { addOperations } from './operations.ts';
import { httpProblem, type Problem, problemOf } from './problem.ts';
import { addRoutes, type RouteDeps } from './routes.ts';

export interface HttpDeps extends RouteDeps {
  /** Mounts the services for Connect and gRPC-Web. */
  readonly mount: (router: ConnectRouter) => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly ready: () => Readiness;
  /** Undefined: plain HTTP. */
  readonly certificates: Certificates | undefined;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export function createHttp(deps: HttpDeps): FastifyInstance {
  const { log } = deps;
  const http = fastify({
    bodyLimit: httpLimits.bodyBytesMax,
    routerOptions: { maxParamLength: limits.idBytesMax * 3 }, // Every byte of an id may be percent-encoded.
    requestTimeout: httpLimits.requestTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    serverFactory: (handler) => createBoundedServer(deps, handler),
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(clientErrorAnswer(error.code));
    },
  });
  http.setNotFoundHandler((_request, reply) => sendProblem(reply, httpProblem(404, 'no such route')));
  http.setErrorHandler((error: unknown, request, reply) => {
    const problem = problemFrom(error);
    if (problem.status === 500)
      log.error({ method: request.method, route: request.routeOptions.url, err: error }, 'request failed');
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
    if (
      problem.status === 429 ||
      (error instanceof AppError && error.code === 'UNAVAILABLE' && error.retryable)
    ) {
      reply.header('retry-after', '1');
    }
    return sendProblem(reply, problem);
  });
  http.addHook('onRequest', (request, reply, done) => {
    const ended = deps.metrics.request(`${request.method} ${request.routeOptions.url ?? 'no route'}`);
    reply.raw.once('close', () => ended(String(reply.statusCode)));
    done();
  });
  addRoutes(http, deps);
  addOperations(http, deps);
  return http;
}

function createBoundedServer(deps: HttpDeps, routes: Handler): HttpServer {
  const handler = connectNodeAdapter({
    routes: deps.mount,
    grpc: false, // It has a port of its own, with everything that belongs to it.
    fallback: routes as never,
    readMaxBytes: limits.grpcMessageBytesMax,
    writeMaxBytes: limits.grpcAnswerBytesMax,
  }) as Handler;
  const options = {
    maxHeaderSize: httpLimits.headerBytesMax,
    headersTimeout: httpLimits.headersTimeoutMs,
    requestTimeout: httpLimits.requestTimeoutMs,
    keepAliveTimeout: httpLimits.keepAliveTimeoutMs,
    connectionsCheckingInterval: httpLimits.checkingIntervalMs,
  };
  const server = createTransport(deps.certificates, options, handler);
  server.maxConnections = httpLimits.connectionsMax;
  server.maxRequestsPerSocket = httpLimits.requestsPerConnectionMax;
  return server;
}

/** New connections use renewed certificates; those that are open keep what they began with. */
function createTransport(
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

function sendProblem(
  reply: { code(status: number): { type(type: string): { send(body: Buffer): unknown } } },
  problem: Problem,
) {
  // Bytes: to a text a charset would be added, and the media type of problems has none.
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .send(Buffer.from(JSON.stringify(problem)));
}

function problemFrom(error: unknown): Problem {
  if (error instanceof AppError) return problemOf(error);
  const status = statusOf(error);
  if (status !== undefined && status < 500) {
    return httpProblem(status, error instanceof Error ? error.message : 'the request cannot be read');
  }
  return problemOf(publicError(error));
}

/** The status that fastify gives to its own errors. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** What Node.js could not parse gets its answer by hand: there is no request to answer. */
function clientErrorAnswer(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const problem = httpProblem(status, 'the request cannot be read');
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${status} ${problem.title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
