/** What runs on this machine, by /proc. */
import { readdirSync, readFileSync } from 'node:fs';

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

/** Every process below `pid`, wherever it is in the tree now. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      parents.set(Number(name), Number(fields[1]));
    } catch {
      // It ended while we looked.
    }
  }
  const found: number[] = [];
  for (let level = [pid]; level.length > 0; ) {
    level = [...parents].filter(([, parent]) => level.includes(parent)).map(([child]) => child);
    found.push(...level);
  }
  return found;
}
