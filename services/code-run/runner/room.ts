/**
 * What the attempts of an instance hold of arguments and results, all together. One program can make its run hold
 * `runBytesMax`; many such runs would end the process, and every other run with it.
 *
 * H1  Past the bound attempts are given up, the largest first, until what the others hold fits. Their runs stay
 *     resumable.
 * H2  Until those have ended, no attempt takes in more: a slow store lets nothing grow past the bound. An attempt that
 *     is given up ends by itself, so this waiting does too; what a core has not read of one that ended stops nobody.
 * H3  Journals are read few at a time: how large one is shows only then.
 */

export interface Share {
  /** Says how much the attempt holds now. */
  hold(bytes: number): void;
  /** The attempt is over. What it held counts until `leave`. */
  ended(): void;
  /** Nothing is held any more. Idempotent. */
  leave(): void;
}

interface Tenant {
  readonly giveUp: () => void;
  bytes: number;
  standing: 'Here' | 'GivenUp' | 'Ended';
}

export class Room {
  readonly bytesMax: number;
  readonly #readsMax: number;
  readonly #tenants = new Set<Tenant>();
  #held = 0;
  /** How much of it attempts hold that were given up and have not ended, and how many those are. */
  #givenUp = { bytes: 0, count: 0 };
  #change = Promise.withResolvers<void>();
  #reads = 0;
  readonly #readsWaiting: (() => void)[] = [];

  constructor(bytesMax: number, readsMax: number) {
    this.bytesMax = bytesMax;
    this.#readsMax = readsMax;
  }

  get heldBytes(): number {
    return this.#held;
  }

  enter(giveUp: () => void): Share {
    const tenant: Tenant = { giveUp, bytes: 0, standing: 'Here' };
    this.#tenants.add(tenant);
    return {
      hold: (bytes) => this.#hold(tenant, bytes),
      ended: () => this.#stand(tenant, 'Ended'),
      leave: () => {
        this.#hold(tenant, 0);
        this.#stand(tenant, 'Ended');
        this.#tenants.delete(tenant);
      },
    };
  }

  /** Resolves when more may be taken in; undefined: now. */
  wait(): Promise<void> | undefined {
    return this.#isOpen ? undefined : this.#open();
  }

  /** Does what brings a journal in, and takes a share of the room for it, when it is its turn. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#reads < this.#readsMax) this.#reads += 1;
    else await new Promise<void>((resolve) => this.#readsWaiting.push(resolve));
    try {
      await this.wait();
      return await work();
    } finally {
      const next = this.#readsWaiting.shift();
      if (next === undefined) this.#reads -= 1;
      else next();
    }
  }

  get #isOpen(): boolean {
    return this.#held <= this.bytesMax || this.#givenUp.count === 0;
  }

  async #open(): Promise<void> {
    while (!this.#isOpen) await this.#change.promise;
  }

  #hold(tenant: Tenant, bytes: number): void {
    if (!this.#tenants.has(tenant) || bytes === tenant.bytes) return;
    const more = bytes - tenant.bytes;
    tenant.bytes = bytes;
    this.#held += more;
    if (tenant.standing === 'GivenUp') this.#givenUp.bytes += more;
    if (more > 0) this.#makeRoom();
    else this.#wake();
  }

  #stand(tenant: Tenant, standing: 'GivenUp' | 'Ended'): void {
    const before = tenant.standing;
    tenant.standing = standing;
    if (standing === before) return;
    const sign = standing === 'GivenUp' ? 1 : before === 'GivenUp' ? -1 : 0;
    this.#givenUp.bytes += sign * tenant.bytes;
    this.#givenUp.count += sign;
    this.#wake();
  }

  #makeRoom(): void {
    while (this.#held - this.#givenUp.bytes > this.bytesMax) {
      const largest = this.#largest();
      if (largest === undefined) return;
      this.#stand(largest, 'GivenUp');
      largest.giveUp();
    }
  }

  #largest(): Tenant | undefined {
    let largest: Tenant | undefined;
    for (const tenant of this.#tenants) {
      if (tenant.standing === 'Here' && tenant.bytes > (largest?.bytes ?? 0)) largest = tenant;
    }
    return largest;
  }

  #wake(): void {
    if (!this.#isOpen) return;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
