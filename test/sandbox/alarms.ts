/** A clock that the test rings. */
import type { Alarm } from '../../services/sandbox/pool/handshake.ts';

export class Alarms {
  readonly #set = new Set<{ readonly ms: number; readonly ring: () => void }>();

  readonly set: Alarm = (ms, ring) => {
    const alarm = { ms, ring };
    this.#set.add(alarm);
    return () => void this.#set.delete(alarm);
  };

  /** What is set, and has not rung. */
  get times(): readonly number[] {
    return [...this.#set].map(({ ms }) => ms);
  }

  ring(): void {
    const due = [...this.#set];
    this.#set.clear();
    for (const { ring } of due) ring();
  }
}
