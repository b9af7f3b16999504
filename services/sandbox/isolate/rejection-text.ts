/** What is known of a rejection that nobody handled, as text for the realm. */

/** What isolated-vm gives for an object that is no error; of the object itself it gives nothing. */
const isolatedVmOnly = /^An object was thrown from supplied code within isolated-vm, but /;

/** `error` is what entering the isolate threw. */
export function rejectionText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isolatedVmOnly.test(error.message)) return 'an object that is no Error, and is not shown';
  return error.stack ?? '';
}
