/** One instance of the service in a simulated world: its own runner, on the store that all share. */
import type { JournalEntry } from '../../services/code-run/core/model.ts';
import type { Sandbox } from '../../services/code-run/runner/contract.ts';
import { Runner } from '../../services/code-run/runner/runner.ts';
import { runnerDefaults } from '../../services/code-run/runner/settings.ts';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { StoreUnavailable } from '../../services/code-run/store/contract.ts';
import { silentLog } from '../../services/shared/log.ts';
import type { SimSandbox } from './sandbox.ts';
import type { World } from './world.ts';

/** Shorter than the world's moves, so that leases run out and are renewed within a case. */
export const simSettings = {
  ...runnerDefaults,
  leaseMs: 2_000,
  renewMs: 500,
  sandboxTriesMax: 7, // More than a case has faults: a run never ends because its sandboxes were lost.
  sandboxRetryMs: 10,
} as const;

export type StoreFault = 'before' | 'after';

export class Instance {
  readonly runner: Runner;
  readonly sandbox: SimSandbox;
  readonly crashed: Promise<void>;
  /** What happens to the next write. */
  storeFault: StoreFault | undefined;
  #alive = true;
  readonly #crash: () => void;
  readonly #world: World;
  readonly #store: CodeRunStore;
  readonly #onAppended: (entries: readonly JournalEntry[]) => void;

  /** `onAppended` hears of each append that the store has taken, whether this instance ever knows or not. */
  constructor(
    name: string,
    world: World,
    store: CodeRunStore,
    sandbox: SimSandbox,
    newId: () => string,
    onAppended: (entries: readonly JournalEntry[]) => void,
  ) {
    this.#world = world;
    this.#store = store;
    this.#onAppended = onAppended;
    this.sandbox = sandbox;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.crashed = promise;
    this.#crash = resolve;
    const parts = {
      store: this.#storeView(),
      sandbox: sandbox as Sandbox,
      clock: world.clock(() => this.#alive),
      settings: { ...simSettings, instance: name },
      log: silentLog,
    };
    this.runner = new Runner(parts, newId);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** It is gone: nothing that it began comes back to it, though a write on its way may arrive. */
  crash(): void {
    this.#alive = false;
    for (const attempt of this.sandbox.attempts) attempt.kill();
    this.#crash();
  }

  #storeView(): CodeRunStore {
    return new Proxy(this.#store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.#ask(async () => {
            const answer = (await method.apply(target, args)) as unknown;
            if (name === 'append') this.#onAppended(args[2] as readonly JournalEntry[]);
            return answer;
          });
      },
    });
  }

  async #ask(apply: () => Promise<unknown>): Promise<unknown> {
    await this.#world.turn();
    if (!this.#alive) {
      if (this.#world.chance.hits(0.5)) await apply().catch(() => {});
      return new Promise(() => {});
    }
    const fault = this.storeFault;
    this.storeFault = undefined;
    if (fault === 'before') throw new StoreUnavailable();
    const answer = apply();
    answer.catch(() => {});
    await this.#world.turn();
    if (!this.#alive) return new Promise(() => {});
    if (fault === 'after') throw new StoreUnavailable();
    return answer;
  }
}
