/** Being stopped by a person or the system: everything that was started is ended first. */
import { constants } from 'node:os';

export interface Stopped {
  /** Aborts at the first SIGINT or SIGTERM. The second one of the same kind ends the process at once. */
  readonly signal: AbortSignal;
  /** The exit status that says which signal it was, as shells count. */
  status(): number;
}

export function untilStopped(): Stopped {
  const controller = new AbortController();
  let received: 'SIGINT' | 'SIGTERM' = 'SIGINT';
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      received = name;
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  return { signal: controller.signal, status: () => 128 + constants.signals[received] };
}
