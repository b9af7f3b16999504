/**
 * Children that are started, one Node.js each, where a prepared one cannot be forked. Slower, and as safe:
 * the same program locks itself the same way.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { secretBytes } from '../isolate/frames.ts';
import type { ChildRole } from '../isolate/role.ts';
import type { Child, ChildSetting, ChildSource, ExitFacts, MadeChild } from './child.ts';
import type { ChildProgram } from './child-program.ts';
import { type Alarm, inTime, NotInTime, readReady, systemAlarm } from './handshake.ts';

export type StartedRole = Omit<ChildRole, 'is' | 'secret' | 'timeoutMs' | 'memoryMb' | 'parent'>;

export class StartedChildren implements ChildSource {
  readonly #program: ChildProgram;
  readonly #role: StartedRole;
  readonly #alarm: Alarm;
  readonly #children = new Set<Child>();

  constructor(program: ChildProgram, role: StartedRole, alarm: Alarm = systemAlarm) {
    this.#program = program;
    this.#role = role;
    this.#alarm = alarm;
  }

  async make(setting: ChildSetting): Promise<MadeChild> {
    const secret = randomBytes(secretBytes);
    const { process: started, complaint } = this.#program.start({
      ...this.#role,
      ...setting,
      is: 'child',
      secret: secret.toString('hex'),
      parent: process.pid,
    });
    const exited = exitOf(started);
    const socket = started.stdio[3];
    if (!(socket instanceof Duplex) || started.pid === undefined) {
      throw new Error('a child could not be started', { cause: await exited });
    }
    socket.on('error', () => {}); // Shows as the end of the stream, and in how the process ended.
    const child: Child = { pid: started.pid, socket, exited, kill: () => void started.kill('SIGKILL') };
    this.#children.add(child);
    void exited.then(() => this.#children.delete(child));
    try {
      const ready = await inTime(readReady(socket, secret), this.#alarm);
      return { child, layers: ready.layers };
    } catch (cause) {
      child.kill();
      await exited;
      if (cause instanceof NotInTime) throw cause;
      throw new Error(`a child was not ready: ${complaint() || 'it said nothing'}`, { cause });
    }
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill();
    await Promise.all([...this.#children].map((child) => child.exited));
  }
}

function exitOf(started: ChildProcess): Promise<ExitFacts> {
  return new Promise((resolve) => {
    started.on('exit', (code, signal) =>
      resolve({
        code: code ?? undefined,
        signal: signal ?? undefined,
        cpuMs: undefined,
        residentKb: undefined,
      }),
    );
    started.on('error', () =>
      resolve({ code: undefined, signal: undefined, cpuMs: undefined, residentKb: undefined }),
    );
  });
}
