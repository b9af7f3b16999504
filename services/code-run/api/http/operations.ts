/** What machines that run the service ask: is it alive, can it serve, how does it do. No identity, no secret. */
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../metrics.ts';
import type { Readiness } from '../../watch.ts';

export interface OperationDeps {
  readonly metrics: Metrics;
  readonly ready: () => Readiness;
}

export function addOperations(http: FastifyInstance, { metrics, ready }: OperationDeps): void {
  http.get('/livez', (_request, reply) => reply.send({ alive: true }));
  http.get('/readyz', (_request, reply) => {
    const seen = ready();
    const missing = (['store', 'sandbox'] as const).filter((part) => !seen[part]);
    const serves = missing.length === 0 && !seen.draining;
    return reply.code(serves ? 200 : 503).send({ ...seen, missing });
  });
  http.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}
