/**
 * Leaves a child one descriptor: its socket. The engine pokes the event loop's eventfds for tasks of its own
 * and ends the process when one is closed, so one private eventfd takes the place of all of them.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { closeRange, moveDescriptor, newEventfd } from './linux.ts';

const descriptorMax = 0xffff_ffff;

/** Numbers of the process's eventfds. */
export function listEventfds(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => linkOf(fd).includes('[eventfd'))
    .sort((a, b) => a - b);
}

/** Moves `socket` to `target` and closes everything else. */
export function sealDescriptors(socket: number, target: number, eventfds: readonly number[]): void {
  if (socket !== target) moveDescriptor(socket, target);
  const own = newEventfd();
  for (const fd of eventfds) moveDescriptor(own, fd);
  let next = 0;
  for (const kept of [target, ...eventfds].sort((a, b) => a - b)) {
    closeRange(next, kept - 1);
    next = kept + 1;
  }
  closeRange(next, descriptorMax);
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // The descriptor of the listing itself.
  }
}
