/** A disk that is full for one process: its files may not grow past a size, until they may again. */
import { execFileSync } from 'node:child_process';

/** Sets how many bytes a file of the process may have, as prlimit(1) has it: a number or "unlimited". */
export function growthOf(pid: number, fileBytesMax: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${fileBytesMax}:`]);
}
