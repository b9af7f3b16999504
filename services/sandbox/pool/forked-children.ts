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
import { secretBytes } from '../isolate/frames.ts';
import type { ZygoteRole } from '../isolate/role.ts';
import type { Child, ChildSetting, ChildSource, MadeChild } from './child.ts';
import type { ChildProgram } from './child-program.ts';
import { type ReadyFrame, readReady } from './handshake.ts';
import { ZygoteProcess } from './zygote-process.ts';

export type ForkedRole = Omit<ZygoteRole, 'is' | 'socketName' | 'memoryMb' | 'lock'>;

const zygotesMax = 3;
const handshakeMs = 20_000;

interface Arrival {
  readonly socket: Socket;
  readonly ready: ReadyFrame;
}

export class ForkedChildren implements ChildSource {
  readonly #program: ChildProgram;
  readonly #role: ForkedRole;
  readonly #socketName = `openbot-sandbox-${randomBytes(16).toString('hex')}`;
  readonly #server: Server;
  /** By memoryMb; the one used last is last. */
  readonly #zygotes = new Map<number, ZygoteProcess>();
  readonly #all = new Set<ZygoteProcess>();
  readonly #expected = new Map<string, (arrival: Arrival) => void>();

  private constructor(program: ChildProgram, role: ForkedRole) {
    this.#program = program;
    this.#role = role;
    this.#server = createServer((socket) => void this.#welcome(socket));
  }

  static async listen(program: ChildProgram, role: ForkedRole): Promise<ForkedChildren> {
    const children = new ForkedChildren(program, role);
    await new Promise<void>((resolve, reject) => {
      children.#server.once('error', reject).listen(`\0${children.#socketName}`, resolve);
    });
    return children;
  }

  async make(setting: ChildSetting): Promise<MadeChild> {
    const zygote = this.#zygoteFor(setting.memoryMb);
    zygote.users++;
    const secret = randomBytes(secretBytes);
    const key = secret.toString('hex');
    const arrived = new Promise<Arrival>((resolve) => this.#expected.set(key, resolve));
    try {
      await zygote.prepared();
      const forked = await zygote.fork(secret, setting.timeoutMs);
      const ended = forked.exited.then((exit) => {
        throw new Error(`a child was not ready: it ended with ${exit.signal ?? exit.code}`);
      });
      const { socket, ready } = await Promise.race([arrived, ended]);
      ended.catch(() => {});
      void forked.exited.then(() => this.#letGoOfIdle());
      const { pid, exited } = forked;
      const child: Child = { pid, socket, exited, kill: () => zygote.killChild(pid) };
      return { child, layers: ready.layers };
    } finally {
      zygote.users--;
      this.#expected.delete(key);
    }
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
      if (this.#zygotes.get(memoryMb) === zygote) this.#zygotes.delete(memoryMb);
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
    const timer = setTimeout(() => socket.destroy(), handshakeMs);
    try {
      const ready = await readReady(socket);
      const expected = this.#expected.get(ready.secret.toString('hex'));
      if (expected === undefined) socket.destroy();
      else expected({ socket, ready });
    } catch {
      socket.destroy();
    } finally {
      clearTimeout(timer);
    }
  }
}
