/**
 * Leaves a child one descriptor to the outside: its socket. What the engine and the event loop have made for
 * themselves cannot all be closed: both end the process when they miss one.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { closeRange, moveDescriptor, newEventfd } from './linux.ts';

const descriptorMax = 0xffff_ffff;

export interface Descriptors {
  readonly eventfds: readonly number[];
  /** Of the event loops: eventfds, polls, rings and pipes of the process to itself. */
  readonly internal: readonly number[];
}

export function listDescriptors(): Descriptors {
  const links = readdirSync('/proc/self/fd')
    .map(Number)
    .sort((a, b) => a - b)
    .map((fd) => ({ fd, link: linkOf(fd) }));
  const those = (is: (link: string) => boolean) => links.filter(({ link }) => is(link)).map(({ fd }) => fd);
  return {
    eventfds: those((link) => link.includes('[eventfd')),
    internal: those((link) => link.startsWith('anon_inode:') || isOwnPipe(link, links)),
  };
}

/** A pipe with both ends in this process. */
function isOwnPipe(link: string, links: readonly { readonly link: string }[]): boolean {
  return link.startsWith('pipe:') && links.filter((other) => other.link === link).length > 1;
}

/**
 * In a forked child, where one thread is left and never returns to an event loop: moves `socket` to `target` and
 * closes everything else. The engine still pokes the eventfds; a private one takes their place.
 */
export function sealForked(socket: number, target: number, { eventfds }: Descriptors): void {
  moveDescriptor(socket, target);
  const own = newEventfd();
  for (const fd of eventfds) moveDescriptor(own, fd);
  closeAllBut([target, ...eventfds]);
}

/** In a started child, whose other threads sleep in event loops of their own: closes what leads outside. */
export function sealStarted(socket: number, { internal }: Descriptors): void {
  closeAllBut([socket, ...internal]);
}

function closeAllBut(kept: readonly number[]): void {
  let next = 0;
  for (const fd of [...kept].sort((a, b) => a - b)) {
    closeRange(next, fd - 1);
    next = fd + 1;
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
