/**
 * The program of zygotes and children, in which a forked child crashes before it is ready, as often as a file says
 * whose path the test puts in: so many times, or always.
 */
import ffi from 'node:ffi';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ProcessRole } from '../../services/sandbox/isolate/role.ts';

declare const CRASHES_FILE: string;

const SIGSEGV = 11;

function isToCrash(): boolean {
  const told = existsSync(CRASHES_FILE) ? readFileSync(CRASHES_FILE, 'utf8') : '0';
  if (told === 'always') return true;
  if (Number(told) > 0) writeFileSync(CRASHES_FILE, String(Number(told) - 1));
  return Number(told) > 0;
}

const { dlopen } = ffi;
Object.assign(ffi, {
  dlopen(...args: Parameters<typeof dlopen>) {
    const opened = dlopen(...args);
    const { fork, getpid, kill, signal } = opened.functions;
    if (fork === undefined || getpid === undefined || kill === undefined || signal === undefined)
      return opened;
    const forkAndCrash = () => {
      const pid = fork();
      if (pid === 0 && isToCrash()) {
        signal(SIGSEGV, 0n);
        kill(getpid(), SIGSEGV);
      }
      return pid;
    };
    return { ...opened, functions: { ...opened.functions, fork: forkAndCrash } };
  },
});

export async function main(role: ProcessRole): Promise<void> {
  const program = await import('../../services/sandbox/isolate/main.ts');
  await program.main(role);
}
