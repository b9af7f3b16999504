/** What the kernel says a process is doing, and has done. */
import { readFileSync } from 'node:fs';

export interface ProcessState {
  /** It runs, or would if it got the processor. */
  readonly runnable: boolean;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
}

/** A tick of the times in /proc: 1/100 s on every architecture that Node.js runs on. */
const tickMs = 10;

/** Undefined where the kernel does not say, or the process is gone. */
export function processState(pid: number): ProcessState | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name of the program, in parentheses, may hold anything. After it: the state, ten numbers, two times.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { runnable: fields[0] === 'R', cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs };
}
