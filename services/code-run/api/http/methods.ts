/**
 * What the routes answer to the methods that they do not have: 405 with those that they have, and to OPTIONS
 * just that. Nothing of the request is read for it.
 */
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyType } from './body.ts';
import { httpProblem, sendProblem } from './problem.ts';

/** Adds the routes of `add`, and then the answers to every other method on the same paths. */
export function addWithMethods(http: FastifyInstance, add: () => void): void {
  // CONNECT never reaches a route: Node.js ends the connection.
  const known = new Set(http.supportedMethods);
  for (const method of METHODS) if (method !== 'CONNECT' && !known.has(method)) http.addHttpMethod(method);
  const methodsOf = new Map<string, Set<string>>();
  http.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsOf.set(url, methods);
  });
  add();
  for (const [url, methods] of [...methodsOf]) {
    const allow = [...methods, 'OPTIONS'].toSorted().join(', ');
    http.route({
      url,
      method: http.supportedMethods.filter((method) => !methods.has(method)),
      onRequest: (request, reply) => void answer(request, reply.header('allow', allow)),
      handler: () => {}, // Never reached: the hook has answered.
    });
  }
}

function answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { method } = request;
  if (method !== 'OPTIONS') return sendProblem(reply, httpProblem(405, `the route has no method ${method}`));
  if (String(reply.getHeader('allow')).includes('PATCH')) reply.header('accept-patch', bodyType);
  return reply.code(204).send();
}
