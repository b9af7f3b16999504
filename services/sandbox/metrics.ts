/** Everything that the sandbox measures, by name. Labels come from closed sets: never a text of a program. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { parseAddress } from '../shared/address.ts';
import { listenProblem } from '../shared/listen-problem.ts';
import { sandboxTable } from './config.ts';
import { type LayerReport, layers } from './jail/layers.ts';
import type { PoolCounts, PoolFailures } from './pool/pool.ts';
import type { VerdictReason } from './pool/verdict.ts';

const seconds = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 600];

export class SandboxMetrics {
  readonly #registry = new Registry();
  readonly #ends: Counter<'verdict'>;
  readonly #processor: Histogram;

  constructor(counts: () => PoolCounts, failures: () => PoolFailures, reports: readonly LayerReport[]) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#ends = new Counter({
      name: 'sandbox_attempt_ends_total',
      help: 'Attempts by verdict. Violation means that a child broke its lock: look at it.',
      labelNames: ['verdict'],
      registers,
    });
    this.#processor = new Histogram({
      name: 'sandbox_attempt_processor_seconds',
      help: 'Processor time of attempts.',
      buckets: seconds,
      registers,
    });
    new Gauge({
      name: 'sandbox_processes',
      help: 'Programs that run, jobs that wait and processes that are ready.',
      labelNames: ['state'],
      registers,
      collect() {
        const { running, queued, ready } = counts();
        for (const [state, count] of Object.entries({ running, queued, ready })) this.set({ state }, count);
      },
    });
    new Counter({
      name: 'sandbox_child_failures_total',
      help: 'Processes that no job was given to: not ready, or ended before one came.',
      labelNames: ['how'],
      registers,
      collect() {
        const { notReady, endedEarly } = failures();
        this.reset();
        this.inc({ how: 'not_ready' }, notReady);
        this.inc({ how: 'ended_early' }, endedEarly);
      },
    });
    const lock = new Gauge({
      name: 'sandbox_lock_layer',
      help: 'Layers of the lock: 1 where one holds.',
      labelNames: ['layer', 'required'],
      registers,
    });
    for (const { name, state } of reports) {
      lock.set({ layer: name, required: String(layers[name].required) }, state === 'held' ? 1 : 0);
    }
  }

  ended(verdict: VerdictReason, cpuMs: number): void {
    this.#ends.inc({ verdict });
    this.#processor.observe(cpuMs / 1000);
  }

  /** Serves /metrics. Resolves when it listens. */
  async serve(address: string): Promise<Server> {
    const at = parseAddress(address);
    const server = createServer((request, response) => void this.#answer(request.url ?? '', response));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('listening', resolve).once('error', (cause) => {
      reject(listenProblem(address, sandboxTable.metricsAddress.name, cause));
    });
    if (at.kind === 'unix') server.listen(at.path);
    else server.listen(at.port, at.host);
    await promise;
    return server;
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    if (url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, { 'content-type': this.#registry.contentType })
      .end(await this.#registry.metrics());
  }
}
