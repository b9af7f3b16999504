/**
 * The program of every process that is not the supervisor: a zygote, or a child that was started where none
 * can be forked. It is bundled to one text (pool/child-program.ts).
 *
 * It prepares everything that no program has touched yet: the isolate, the realm in it, the lock. A forked
 * child goes on from there.
 */
import { limits } from '../../shared/limits.ts';
import { unlocked } from '../jail/layers.ts';
import { exitNow, processorMs, setProcessorBudget } from '../jail/libc.ts';
import { ChildAttempt } from './attempt.ts';
import { Channel } from './channel.ts';
import { FrameWriter, fromChild, toChild } from './frames.ts';
import { createRealmHost, type RealmHost } from './realm-host.ts';
import type { ChildRole, ProcessRole, ZygoteRole } from './role.ts';

/** A zygote's commands come here, and here is the socket of every child. */
const socketFd = 3;

interface Prepared {
  readonly attempt: ChildAttempt;
  readonly realm: RealmHost;
  readonly channel: Channel;
}

export async function main(role: ProcessRole): Promise<void> {
  const attempt = new ChildAttempt(processorMs);
  const realm = createRealmHost(role.realm, role.memoryMb, attempt.emit);
  const prepared = { attempt, realm, channel: new Channel(socketFd, exitNow) };
  if (role.is === 'zygote') await beZygote(role, prepared);
  else await beChild(role, prepared);
}

async function beZygote(role: ZygoteRole, prepared: Prepared): Promise<void> {
  const { prepareLock } = await import('../jail/lock.ts');
  const { abstractAddress, connectAbstract } = await import('../jail/linux.ts');
  const { zygoteLoop } = await import('../jail/zygote.ts');
  const { answerProbe } = await import('../jail/probe.ts');
  const lock = prepareLock({ ...role, forked: true, socketFd });
  const address = abstractAddress(role.socketName);
  zygoteLoop(prepared.channel, socketFd, ({ secret, timeoutMs, parent }) => {
    const socket = connectAbstract(address);
    live(prepared, secret, JSON.stringify(lock.apply({ socket, timeoutMs, parent })), answerProbe);
  });
}

async function beChild(role: ChildRole, prepared: Prepared): Promise<void> {
  const { timeoutMs, parent } = role;
  const secret = Buffer.from(role.secret, 'hex');
  if (role.lock === 'none') {
    setProcessorBudget(timeoutMs);
    live(prepared, secret, JSON.stringify(unlocked('this host has no lock')), exitNow.bind(undefined, 0));
  }
  const { prepareLock } = await import('../jail/lock.ts');
  const { answerProbe } = await import('../jail/probe.ts');
  const lock = prepareLock({ ...role, forked: false, socketFd });
  live(prepared, secret, JSON.stringify(lock.apply({ socket: socketFd, timeoutMs, parent })), answerProbe);
}

/** From ready to the end. Whatever goes wrong, nothing of the process runs after it. */
function live(
  { attempt, realm, channel }: Prepared,
  secret: Buffer,
  layers: string,
  answerProbe: typeof import('../jail/probe.ts').answerProbe,
): never {
  try {
    const ready = new FrameWriter().begin(fromChild.ready).bytes(secret);
    ready.text(layers).end();
    channel.write(ready.take());
    channel.readAhead();
    const { kind, body } = channel.read(limits.jobBytesMax);
    if (kind === toChild.probe) answerProbe(body, channel);
    if (kind === toChild.job) attempt.run(realm, channel, body);
    exitNow(0);
  } catch {
    exitNow(70);
  }
}
