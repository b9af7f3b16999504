/** What /proc says of processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Processes that descend from `root`, not the root itself. */
export function descendants(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readOr(`/proc/${pid}/stat`);
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]));
  }
  const found: number[] = [];
  const visit = (parent: number) => {
    for (const [pid, of] of parents) {
      if (of !== parent) continue;
      found.push(pid);
      visit(pid);
    }
  };
  visit(root);
  return found;
}

/** The only or first one. Throws where there is none: 0 would stand for this process's own group. */
export function firstOf(pids: readonly number[]): number {
  const [pid] = pids;
  if (pid === undefined) throw new Error('there is no such process');
  return pid;
}

/** The fields of /proc/<pid>/task/<tid>/status of every thread. */
export function threadStatuses(pid: number): readonly ReadonlyMap<string, string>[] {
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const lines = readFileSync(`/proc/${pid}/task/${tid}/status`, 'latin1').split('\n');
    return new Map(lines.map((line) => [line.split(':')[0] ?? '', (line.split(':')[1] ?? '').trim()]));
  });
}

/** What the descriptors of a process are: "socket", "anon_inode", "/dev/null" … without numbers. */
export function descriptors(pid: number | 'self'): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/:?\[\d+\]$/, '');
    } catch {
      return []; // The descriptor of the listing itself.
    }
  });
}

/** A field of /proc/<pid>/limits: "Max data size" → soft limit. */
export function softLimit(pid: number, name: string): string | undefined {
  const line = readFileSync(`/proc/${pid}/limits`, 'latin1')
    .split('\n')
    .find((candidate) => candidate.startsWith(name));
  return line?.slice(name.length).trim().split(/\s+/)[0];
}

/** Whether the process is there and has not ended. */
export function lives(pid: number): boolean {
  const stat = readOr(`/proc/${pid}/stat`);
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
