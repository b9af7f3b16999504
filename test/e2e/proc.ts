/** Processes as the kernel sees them. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name of the command may hold anything, so the fields are counted from its end.
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return []; // It ended while it was looked at.
    }
  });
}

/** Every process below `pid`, the nearest first. */
export function descendants(pid: number): Process[] {
  const all = processes();
  const found: Process[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    const children = all.filter((process) => parents.includes(process.parent));
    found.push(...children);
    parents = children.map((process) => process.pid);
  }
  return found;
}

export function isAlive(pid: number): boolean {
  return processes().some((process) => process.pid === pid);
}

/** Waits until `condition` holds. The test's own time limit is the deadline. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
