/** When a service should end. */

/** Resolves at the first SIGTERM or SIGINT; with `withStdin` also when standard input ends. */
export function untilToldToStop(options: { readonly withStdin?: boolean } = {}): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
    if (options.withStdin === true) process.stdin.once('end', () => resolve()).resume();
  });
}
