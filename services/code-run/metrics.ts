/** Everything that is measured, by name. Labels come from closed sets: never an id, a name or a text of a caller. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RunEvent } from './runner/contract.ts';

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'code'>;
  readonly #attempts: Gauge;
  readonly #ends: Counter<'status' | 'reason'>;
  readonly #calls: Counter;
  readonly #refused: Counter<'code'>;
  readonly #sandbox: Gauge<'state'>;
  readonly #up: Gauge<'part'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'code_mode_request_seconds',
      help: 'Requests by method and gRPC code. A stream counts once, when it ends.',
      labelNames: ['method', 'code'],
      buckets: seconds,
      registers,
    });
    this.#attempts = new Gauge({
      name: 'code_mode_attempts_running',
      help: 'Attempts that run on this instance.',
      registers,
    });
    this.#ends = new Counter({
      name: 'code_mode_attempt_ends_total',
      help: 'Ends of attempts: Waiting, or how the run ended, with the reason where it failed.',
      labelNames: ['status', 'reason'],
      registers,
    });
    this.#calls = new Counter({
      name: 'code_mode_app_calls_total',
      help: 'App calls that were sent to the core.',
      registers,
    });
    this.#refused = new Counter({
      name: 'code_mode_outcomes_refused_total',
      help: 'Outcomes of the core that were refused.',
      labelNames: ['code'],
      registers,
    });
    this.#sandbox = new Gauge({
      name: 'code_mode_sandbox_processes',
      help: 'Programs that run, jobs that wait and processes that are ready, as the sandbox last said.',
      labelNames: ['state'],
      registers,
    });
    this.#up = new Gauge({
      name: 'code_mode_up',
      help: 'Whether a part answers (store, sandbox), and whether the sandbox is locked: 1 or 0.',
      labelNames: ['part'],
      registers,
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Begins a request; call what it gives with the code of its end. */
  request(method: string): (code: string) => void {
    const end = this.#requests.startTimer({ method });
    return (code) => void end({ code });
  }

  attemptBegan(): void {
    this.#attempts.inc();
  }

  attemptEnded(): void {
    this.#attempts.dec();
  }

  event(event: RunEvent): void {
    switch (event.tag) {
      case 'Call':
        this.#calls.inc();
        break;
      case 'OutcomeRefused':
        this.#refused.inc({ code: event.code });
        break;
      case 'Waiting':
        this.#ends.inc({ status: 'Waiting', reason: '' });
        break;
      case 'Finished': {
        const { status, result } = event.record.run;
        this.#ends.inc({ status, reason: result?.tag === 'Failed' ? result.reason : '' });
        break;
      }
      case 'Accepted':
      case 'Log':
        break;
    }
  }

  /** It is asked whenever metrics are. */
  watchHeldBytes(runner: { readonly heldBytes: number; readonly heldBytesMax: number }): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'code_mode_held_bytes',
      help: 'Arguments and results that attempts of this instance hold.',
      registers,
      collect() {
        this.set(runner.heldBytes);
      },
    });
    new Gauge({
      name: 'code_mode_held_bytes_max',
      help: 'How much they may hold before the largest is given up.',
      registers,
    }).set(runner.heldBytesMax);
  }

  part(part: 'store' | 'sandbox' | 'lock', up: boolean): void {
    this.#up.set({ part }, up ? 1 : 0);
  }

  sandboxProcesses(state: 'running' | 'queued' | 'ready', count: number): void {
    this.#sandbox.set({ state }, count);
  }
}
