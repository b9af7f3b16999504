/**
 * Looks at what this instance needs, again and again, and says whether it can serve.
 *
 * W1  CodeRunService serves while store and sandbox answer; SettingsService while the store does.
 * W2  A change is logged once, not each look; that the store is away, and is back, as a warning: it is to be seen
 *     at the level that services log at.
 * W3  Once told to stop, it serves nothing new, whatever it sees: whoever balances the load sends it elsewhere while
 *     what runs here ends.
 */
import { CodeRunService } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { SettingsService } from '../../gen/openbot/codemode/v1/settings_service_pb.js';
import type { Health } from '../shared/grpc/health.ts';
import type { Log } from '../shared/log.ts';
import type { Metrics } from './metrics.ts';
import type { SandboxClient } from './runner/sandbox-client.ts';
import type { CodeRunStore } from './store/contract.ts';

export interface WatchParts {
  readonly store: Pick<CodeRunStore, 'ping'>;
  readonly sandbox: Pick<SandboxClient, 'status'>;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What was seen at the last look. It can serve while store and sandbox are there. */
export interface Readiness {
  readonly store: boolean;
  readonly sandbox: boolean;
  /** Every required layer of the sandbox's lock holds. */
  readonly locked: boolean;
  /** It was told to stop: what runs goes on for a while, and nothing new starts. */
  readonly draining: boolean;
}

const everyMs = 1000;
const answerMs = 2000;

export class Watch {
  readonly #parts: WatchParts;
  #seen: Omit<Readiness, 'draining'> = { store: false, sandbox: false, locked: false };
  /** Undefined before the first look. */
  #storeWas: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  get seen(): Readiness {
    return { ...this.#seen, draining: this.#stopped };
  }

  /** Looks once, and from then on every second. */
  async start(): Promise<void> {
    await this.#look();
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.start(), everyMs);
    this.#timer.unref();
  }

  /** From now on nothing serves. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#parts.health.setAll(false);
  }

  async #look(): Promise<void> {
    const { metrics, health, log } = this.#parts;
    const [store, status] = await Promise.all([this.#storeAnswers(), this.#sandboxStatus()]);
    const seen = { store, sandbox: status !== undefined, locked: status?.locked ?? false };
    metrics.part('store', store);
    metrics.part('sandbox', seen.sandbox);
    metrics.part('lock', seen.locked);
    for (const state of ['running', 'queued', 'ready'] as const) {
      metrics.sandboxProcesses(state, status?.capacity?.[state] ?? 0);
    }
    if (JSON.stringify(seen) !== JSON.stringify(this.#seen)) log.info({ ...seen }, 'what is needed changed');
    if (this.#storeWas !== store) {
      if (!store) log.warn({}, 'the store is away');
      else if (this.#storeWas === false) log.warn({}, 'the store is back');
    }
    this.#storeWas = store;
    this.#seen = seen;
    if (this.#stopped) return;
    health.set(SettingsService.typeName, store);
    health.set(CodeRunService.typeName, store && seen.sandbox);
    health.set('', store && seen.sandbox);
  }

  async #storeAnswers(): Promise<boolean> {
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, answerMs, false).unref());
    return await Promise.race([
      late,
      this.#parts.store.ping().then(
        () => true,
        () => false,
      ),
    ]);
  }

  async #sandboxStatus() {
    return await this.#parts.sandbox.status(answerMs).catch(() => undefined);
  }
}
