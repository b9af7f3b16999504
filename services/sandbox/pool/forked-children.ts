/**
 * Children that are forked from prepared processes. The isolate's memory limit is fixed when it is made, so
 * there is a zygote for each memoryMb in use; timeoutMs is put on by each child.
 *
 * F1  A child connects to a socket of the supervisor in the abstract namespace, which needs no file, and
 *     shows the secret it was made with.
 * F2  At most `zygotesMax` zygotes; the one used longest ago is let go, and ends with its last child.
 * F3  A zygote that ended is made again for the next child.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { childLimits } from '../../shared/limits.ts';
import { secretBytes } from '../isolate/frames.ts';
import type { ZygoteRole } from '../isolate/role.ts';
import type { ChildSetting, ChildSource, ExitFacts, MadeChild } from './child.ts';
import type { ChildProgram } from './child-program.ts';
import { type Alarm, inTime, NotInTime, type ReadyFrame, readReady, systemAlarm } from './handshake.ts';
import { ZygoteProcess } from './zygote-process.ts';

export type ForkedRole = Omit<ZygoteRole, 'is' | 'socketName' | 'memoryMb' | 'lock'>;

const zygotesMax = 3;

interface Arrival {
  readonly socket: Socket;
  readonly ready: ReadyFrame;
}

export class ForkedChildren implements ChildSource {
  readonly #program: ChildProgram;
  readonly #role: ForkedRole;
  readonly #alarm: Alarm;
  readonly #socketName = `openbot-sandbox-${randomBytes(16).toString('hex')}`;
  readonly #server: Server;
  /** By memoryMb; the one used last is last. */
  readonly #zygotes = new Map<number, ZygoteProcess>();
  readonly #all = new Set<ZygoteProcess>();
  readonly #expected = new Map<string, (arrival: Arrival) => void>();

  private constructor(program: ChildProgram, role: ForkedRole, alarm: Alarm) {
    this.#program = program;
    this.#role = role;
    this.#alarm = alarm;
    this.#server = createServer((socket) => void this.#welcome(socket));
  }

  static async listen(
    program: ChildProgram,
    role: ForkedRole,
    alarm: Alarm = systemAlarm,
  ): Promise<ForkedChildren> {
    const children = new ForkedChildren(program, role, alarm);
    await new Promise<void>((resolve, reject) => {
      children.#server.once('error', reject).listen(`\0${children.#socketName}`, resolve);
    });
    return children;
  }

  async make(setting: ChildSetting): Promise<MadeChild> {
    const zygote = this.#zygoteFor(setting.memoryMb);
    const secret = randomBytes(secretBytes);
    const key = secret.toString('hex');
    const arrived = new Promise<Arrival>((resolve) => this.#expected.set(key, resolve));
    zygote.users++;
    try {
      return await this.#fork(zygote, secret, setting.timeoutMs, arrived);
    } catch (error) {
      // A zygote that hangs makes no more children; those that it has go on.
      if (error instanceof NotInTime) this.#retire(zygote);
      throw error;
    } finally {
      zygote.users--;
      this.#expected.delete(key);
      this.#letGoOfIdle();
    }
  }

  async #fork(
    zygote: ZygoteProcess,
    secret: Buffer,
    timeoutMs: number,
    arrived: Promise<Arrival>,
  ): Promise<MadeChild> {
    await inTime(zygote.prepared(), this.#alarm);
    const { pid, exited } = await inTime(zygote.fork(secret, timeoutMs), this.#alarm);
    const forkedMs = performance.now();
    const ended = exited.then((exit): never => {
      throw new Error(notReady(exit, performance.now() - forkedMs));
    });
    ended.catch(() => {});
    void exited.then(() => this.#letGoOfIdle());
    const firstOf = Promise.race([arrived, ended]);
    const { socket, ready } = await inTime(firstOf, this.#alarm).catch((error: unknown) => {
      zygote.killChild(pid);
      throw error;
    });
    return { child: { pid, socket, exited, kill: () => zygote.killChild(pid) }, layers: ready.layers };
  }

  async close(): Promise<void> {
    for (const zygote of this.#all) zygote.kill();
    await Promise.all([...this.#all].map((zygote) => zygote.ended));
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #zygoteFor(memoryMb: number): ZygoteProcess {
    const known = this.#zygotes.get(memoryMb);
    this.#zygotes.delete(memoryMb);
    const zygote = known === undefined || known.gone ? this.#newZygote(memoryMb) : known;
    this.#zygotes.set(memoryMb, zygote);
    for (const oldest of this.#zygotes.keys()) {
      if (this.#zygotes.size <= zygotesMax) break;
      this.#zygotes.delete(oldest);
    }
    this.#letGoOfIdle();
    return zygote;
  }

  #retire(zygote: ZygoteProcess): void {
    for (const [memoryMb, current] of this.#zygotes) {
      if (current === zygote) this.#zygotes.delete(memoryMb);
    }
  }

  #newZygote(memoryMb: number): ZygoteProcess {
    const role: ZygoteRole = {
      ...this.#role,
      is: 'zygote',
      lock: 'linux',
      socketName: this.#socketName,
      memoryMb,
    };
    const zygote = new ZygoteProcess(this.#program.start(role));
    this.#all.add(zygote);
    void zygote.ended.then(() => {
      this.#all.delete(zygote);
      this.#retire(zygote);
    });
    return zygote;
  }

  /** Ends the zygotes that nothing is asked of any more, once they have no child. */
  #letGoOfIdle(): void {
    const current = new Set(this.#zygotes.values());
    for (const zygote of this.#all) if (!current.has(zygote) && !zygote.needed) zygote.kill();
  }

  /** Anyone on this host may connect; who shows no secret in time is shown out. */
  async #welcome(socket: Socket): Promise<void> {
    socket.on('error', () => {}); // Shows as the end of the stream, and in how the process ended.
    const silence = this.#alarm(childLimits.secretMs, () => socket.destroy());
    try {
      const ready = await readReady(socket);
      const expected = this.#expected.get(ready.secret.toString('hex'));
      if (expected === undefined) socket.destroy();
      else expected({ socket, ready });
    } catch {
      socket.destroy();
    } finally {
      silence();
    }
  }
}

/** All that is known of it: one that ends so early leaves nothing else behind. */
function notReady({ signal, code, cpuMs, residentKb }: ExitFacts, afterMs: number): string {
  const how = signal ?? (code === undefined ? 'its zygote' : `code ${code}`);
  const used = cpuMs === undefined ? '' : `, ${cpuMs} ms of processor time and ${residentKb} KiB`;
  return `a child was not ready: it ended with ${how} after ${Math.round(afterMs)} ms${used}`;
}
