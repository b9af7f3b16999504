/**
 * Makes children that are locked well enough to be given a job, and knows whether that works.
 *
 * M1  A child that is not ready costs nobody a run: another one is made, `triesMax` in all. One that was not ready
 *     in time is the last: whoever asks has waited long enough.
 * M2  `able` from one child that could be made to the next that could not, whoever asked for it.
 */
import { childLimits } from '../../shared/limits.ts';
import type { Log } from '../../shared/log.ts';
import { missing } from '../jail/layers.ts';
import type { Child, ChildSetting, ChildSource } from './child.ts';
import { NotInTime } from './handshake.ts';

export class ChildMaker {
  readonly #source: ChildSource;
  readonly #allowUnlocked: boolean;
  readonly #log: Log;
  #able = true;
  #tell: ((able: boolean) => void) | undefined;
  #notReady = 0;
  #closing = false;

  /** `allowUnlocked`: a child may be without a required layer of the lock. */
  constructor(source: ChildSource, allowUnlocked: boolean, log: Log) {
    this.#source = source;
    this.#allowUnlocked = allowUnlocked;
    this.#log = log;
  }

  get able(): boolean {
    return this.#able;
  }

  /** Children that were not ready, so far. */
  get notReady(): number {
    return this.#notReady;
  }

  /** Tells whether children can be made, now and at each change until it closes. */
  watch(tell: (able: boolean) => void): void {
    this.#tell = tell;
    tell(this.#able);
  }

  /** A new child. Throws why there is none. */
  async make(setting: ChildSetting): Promise<Child> {
    for (let tries = 1; ; tries++) {
      try {
        const child = await this.#makeOne(setting);
        this.#know(true);
        return child;
      } catch (error) {
        if (this.#closing) throw error; // Its source may have ended under it.
        this.#notReady++;
        if (tries < childLimits.triesMax && !(error instanceof NotInTime)) {
          this.#log.warn({ err: error }, 'a child could not be made: another is tried');
          continue;
        }
        this.#log.error({ err: error }, 'a child could not be made');
        this.#know(false);
        throw error;
      }
    }
  }

  /** From now on nothing is tried again, or told. */
  beginToClose(): void {
    this.#closing = true;
  }

  async #makeOne(setting: ChildSetting): Promise<Child> {
    const { child, layers } = await this.#source.make(setting);
    const [lacking] = this.#allowUnlocked ? [] : missing(layers);
    if (lacking === undefined) return child;
    endChild(child);
    throw new Error(`a child is not locked: ${lacking.name}: ${lacking.detail}`);
  }

  #know(able: boolean): void {
    if (this.#closing || this.#able === able) return;
    this.#able = able;
    this.#tell?.(able);
  }
}

/** What is told to end hears and says nothing more. */
export function endChild(child: Child): void {
  child.kill();
  child.socket.destroy();
}
