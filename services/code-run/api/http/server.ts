/**
 * The HTTP port: the routes by fastify, everything under a service's name by Connect and gRPC-Web.
 *
 * W1  Headers, bodies, idle and slow connections have limits; what breaks one gets an answer where HTTP has
 *     one, and the connection ends.
 * W2  Every error of the routes is a problem document; what is unexpected is logged and says nothing.
 */
import type { ConnectRouter } from '@connectrpc/connect';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../../shared/log.ts';
import type { Certificates } from '../../../shared/tls.ts';
import type { Metrics } from '../../metrics.ts';
import type { Readiness } from '../../watch.ts';
import { addJsonBody, bodyType } from './body.ts';
import { addWithMethods } from './methods.ts';
import { addOperations } from './operations.ts';
import { httpProblem, problemFrom, sendProblem } from './problem.ts';
import { addRoutes, type RouteDeps } from './routes.ts';
import { withServices } from './services.ts';
import { answerUnreadable, createTransport, type HttpBounds } from './transport.ts';

export interface HttpDeps extends RouteDeps {
  /** Mounts the services for Connect and gRPC-Web. */
  readonly mount: (router: ConnectRouter) => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly ready: () => Readiness;
  /** Undefined: plain HTTP. */
  readonly certificates: Certificates | undefined;
  /** Nobody is asked who calls: only what this machine asks for itself is answered. */
  readonly localOnly: boolean;
  readonly bounds: HttpBounds;
}

export function createHttp(deps: HttpDeps): FastifyInstance {
  const { bounds, certificates } = deps;
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendError(deps.log, error, request, reply);
  const http = fastify({
    bodyLimit: bounds.bodyBytesMax,
    // Ids are checked by the routes, which say what is wrong; none is longer than the headers.
    routerOptions: { maxParamLength: bounds.headerBytesMax },
    requestTimeout: bounds.requestTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // What has arrived is answered: the store closes after this port.
    serverFactory: (routes) =>
      createTransport(bounds, certificates, deps.localOnly, withServices(deps, routes)),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: answerError,
  });
  http.setErrorHandler(answerError);
  http.addHook('onRequest', (request, reply, done) => {
    const ended = deps.metrics.request(`${request.method} ${request.routeOptions.url ?? 'no route'}`);
    reply.raw.once('close', () => ended(String(reply.statusCode)));
    if (request.is404)
      sendProblem(reply, httpProblem(404, 'no such route')); // Its body is not read for it.
    else done();
  });
  addJsonBody(http);
  addWithMethods(http, () => {
    addRoutes(http, deps);
    addOperations(http, deps);
  });
  return http;
}

function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemFrom(error);
  if (problem.status === 500)
    log.error({ method: request.method, route: request.routeOptions.url, err: error }, 'request failed');
  if (problem.status === 415) reply.header('accept-patch', bodyType).header('accept-encoding', 'identity');
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  if (error instanceof AppError && error.code === 'RESOURCE_EXHAUSTED') reply.header('retry-after', '1');
  if (error instanceof AppError && error.code === 'UNAVAILABLE' && error.retryable)
    reply.header('retry-after', '1');
  return sendProblem(reply, problem);
}
