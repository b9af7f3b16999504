/** What the kernel says a process is doing. */
import { readFileSync } from 'node:fs';

/** Whether the process runs or would if it got the processor. False where the kernel does not say. */
export function isRunnable(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold anything; the state is the first letter after it.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('R');
  } catch {
    return false;
  }
}
