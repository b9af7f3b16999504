/** Being stopped by a person or the system: everything that was started is ended first. */
import { constants } from 'node:os';

/** Ctrl-C, the system, a terminal that closes. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Stopped {
  /** Aborts at the first of them. The second one of the same kind ends the process at once. */
  readonly signal: AbortSignal;
  /** The exit status that says which signal it was, as shells count. */
  status(): number;
}

export function untilStopped(): Stopped {
  const controller = new AbortController();
  let received: (typeof names)[number] = 'SIGINT';
  for (const name of names) {
    process.once(name, () => {
      received = name;
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  return { signal: controller.signal, status: () => 128 + constants.signals[received] };
}
