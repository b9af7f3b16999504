/**
 * The folder of the all-in-one's sockets: in the system's folder for temporary files, for this user alone. Its
 * name carries the process, so that what a killed one left is removed by a later start.
 *
 * D1  Removed is only what is this user's, of a process that is gone, untouched for a minute, and holds nothing
 *     but sockets on which nobody listens. A process of another container may look gone: its socket answers.
 */
import { lstat, mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeStaleSocket } from '../shared/grpc/server.ts';

const untouchedMs = 60_000;

export async function makeSocketFolder(): Promise<string> {
  await removeLeft();
  return await mkdtemp(join(tmpdir(), `code-mode-${process.pid}-`)); // Made with mode 0700.
}

async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^code-mode-(\d+)-\w{6}$/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      await removeUnused(join(tmpdir(), name));
    } catch {
      // It is in use after all, or another start removes it: either way it is not for this one.
    }
  }
}

async function removeUnused(folder: string): Promise<void> {
  const { uid, mtimeMs } = await lstat(folder);
  if (uid !== process.getuid?.() || Date.now() - mtimeMs < untouchedMs) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isSocket()) await removeStaleSocket(join(folder, entry.name));
  }
  await rmdir(folder); // Throws unless it is empty.
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
