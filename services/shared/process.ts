/** Signals that a service obeys. */

/** Resolves at the first SIGTERM or SIGINT. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}
