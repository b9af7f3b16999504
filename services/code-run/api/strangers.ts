/**
 * Bounds what it costs to find out that nobody knows a caller.
 *
 * S1  In one second at most `perSecond` tries of one network fail; until the second is over, all others of it are
 *     refused without a look.
 * S2  That holds however many come at once: those that are being looked at count as if they had failed. The rest
 *     wait for them, and are refused only when they did fail. So callers that are known never refuse each other.
 */
import { isIPv6 } from 'node:net';

const secondMs = 1000;

/** Of one network. */
interface Tries {
  failed: number;
  looking: number;
  readonly waiting: (() => void)[];
}

export class Strangers {
  readonly #perSecond: number;
  readonly #isFailure: (error: unknown) => boolean;
  readonly #refusal: () => Error;
  readonly #networks = new Map<string, Tries>();

  constructor(perSecond: number, isFailure: (error: unknown) => boolean, refusal: () => Error) {
    this.#perSecond = perSecond;
    this.#isFailure = isFailure;
    this.#refusal = refusal;
  }

  /** Looks at a caller from `address`, or throws the refusal. */
  async look<T>(address: string, look: () => Promise<T>): Promise<T> {
    const network = networkOf(address);
    const tries = this.#networks.get(network) ?? { failed: 0, looking: 0, waiting: [] };
    this.#networks.set(network, tries);
    await this.#place(tries);
    try {
      return await look();
    } catch (error) {
      if (this.#isFailure(error)) this.#fail(network, tries);
      throw error;
    } finally {
      tries.looking--;
      tries.waiting.shift()?.();
      this.#forget(network, tries);
    }
  }

  /** Takes a place among those that are looked at: checked and taken in one go, or two would take the same. */
  async #place(tries: Tries): Promise<void> {
    for (;;) {
      if (tries.failed >= this.#perSecond) {
        tries.waiting.shift()?.(); // The next one is told as well.
        throw this.#refusal();
      }
      if (tries.failed + tries.looking < this.#perSecond) {
        tries.looking++;
        return;
      }
      await new Promise<void>((resolve) => tries.waiting.push(resolve));
    }
  }

  #fail(network: string, tries: Tries): void {
    tries.failed++;
    if (tries.failed > 1) return;
    setTimeout(() => {
      tries.failed = 0;
      this.#forget(network, tries);
    }, secondMs).unref();
  }

  #forget(network: string, { failed, looking, waiting }: Tries): void {
    if (failed === 0 && looking === 0 && waiting.length === 0) this.#networks.delete(network);
  }
}

/** One that has an IPv6 address has 2^64 of them: the network counts. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [front = '', back] = address.replace(/%.*$/, '').split('::');
  const before = front === '' ? [] : front.split(':');
  const after = back === undefined || back === '' ? [] : back.split(':');
  const zeros = back === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
