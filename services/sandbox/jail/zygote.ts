/**
 * A prepared process that forks children and never sees a program. A blocking loop: commands on one
 * descriptor, ended children on another.
 *
 * Z1  Nothing may depend on another thread: only the forking one lives on in a child. Of memory all does
 *     (inherit.ts).
 * Z2  When the supervisor is gone the zygote ends, and the kernel ends its children (lock.ts).
 * Z3  A child is killed here alone, where it cannot have been reaped unseen: a process id is never stale.
 */
import type { Channel } from '../isolate/channel.ts';
import { FrameWriter, secretBytes } from '../isolate/frames.ts';
import { controlFrameBytesMax, fromZygote, toZygote } from './control.ts';
import { inheritMemory } from './inherit.ts';
import {
  closeDescriptor,
  endWithParent,
  fork,
  getpid,
  kill,
  openProcess,
  PollSet,
  reap,
  SIGKILL,
} from './linux.ts';

export interface Birth {
  readonly secret: Buffer;
  readonly timeoutMs: number;
  /** Process id of the zygote. */
  readonly parent: number;
}

/** Runs until the supervisor is gone. `child` runs in each fork and must not come back. */
export function zygoteLoop(channel: Channel, commandFd: number, child: (birth: Birth) => never): never {
  const reports = new FrameWriter();
  const waits = new PollSet();
  const pidByDescriptor = new Map<number, number>();
  const alive = new Set<number>();
  const parent = getpid();
  inheritMemory();
  waits.add(commandFd);
  reports.begin(fromZygote.prepared).end();
  channel.write(reports.take());
  for (;;) {
    for (const fd of waits.wait()) {
      if (fd === commandFd) obey();
      else bury(fd);
    }
    channel.write(reports.take());
  }

  function obey(): void {
    const { kind, body } = channel.read(controlFrameBytesMax);
    if (kind === toZygote.kill) {
      const pid = body.u32();
      if (alive.has(pid)) kill(pid, SIGKILL);
    }
    if (kind !== toZygote.fork) return;
    const birth = { secret: Buffer.from(body.bytes(secretBytes)), timeoutMs: body.u32(), parent };
    const pid = fork();
    if (pid === 0) {
      endWithParent(parent); // Before anything that could hang: a child that never gets ready must not stay.
      child(birth);
    }
    const watched = pid > 0 && watch(pid);
    reports
      .begin(fromZygote.forked)
      .bytes(birth.secret)
      .u32(watched ? pid : 0)
      .end();
  }

  /** False: there is no descriptor left to hear of its end by. It is gone then, and the others go on. */
  function watch(pid: number): boolean {
    const fd = openProcess(pid);
    if (fd === undefined) {
      kill(pid, SIGKILL);
      reap(pid);
      return false;
    }
    alive.add(pid);
    pidByDescriptor.set(fd, pid);
    waits.add(fd);
    return true;
  }

  function bury(fd: number): void {
    const pid = pidByDescriptor.get(fd);
    if (pid === undefined) return;
    const { status, cpuMs, residentKb } = reap(pid);
    waits.remove(fd);
    closeDescriptor(fd);
    pidByDescriptor.delete(fd);
    alive.delete(pid);
    reports.begin(fromZygote.ended).u32(pid).u32(status).u32(cpuMs).u32(residentKb).end();
  }
}
