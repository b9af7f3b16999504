/** What runs on this machine, by /proc. */
import { readFileSync } from 'node:fs';

/** Whether the process runs; one that has ended and is not yet reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    // The state follows the name, which stands in parentheses and may hold anything.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .startsWith('Z');
  } catch {
    return false;
  }
}
