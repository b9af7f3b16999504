/**
 * Children that wait for a job.
 *
 * R1  `target` of them are kept for the setting of the last job. Those for other settings stay as long as there are
 *     no more of them than that; the oldest goes first. A child gets one job.
 * R2  Whatever ends them, there are as many again without a job that asks: after a short pause, which grows while
 *     that goes on or none can be made.
 * R3  While children cannot be made, one is tried even if none is to be kept: how else would anybody know?
 * R4  A child that is told to end is not among them any more.
 */
import { childLimits } from '../../shared/limits.ts';
import type { Log } from '../../shared/log.ts';
import type { Child, ChildSetting } from './child.ts';
import { type ChildMaker, endChild } from './child-maker.ts';
import type { Alarm } from './handshake.ts';

interface Entry {
  readonly key: string;
  readonly child: Child;
}

export class ReadyChildren {
  readonly #maker: ChildMaker;
  readonly #target: number;
  readonly #log: Log;
  readonly #alarm: Alarm;
  #entries: Entry[] = [];
  #setting: ChildSetting;
  #making = 0;
  #endedEarly = 0;
  /** Ends the pause that is on. */
  #endPause: (() => void) | undefined;
  #pauseMs = 0;
  #pausedAtMs = Number.NEGATIVE_INFINITY;
  #closing = false;

  constructor(maker: ChildMaker, target: number, firstSetting: ChildSetting, log: Log, alarm: Alarm) {
    this.#maker = maker;
    this.#target = target;
    this.#setting = firstSetting;
    this.#log = log;
    this.#alarm = alarm;
  }

  get count(): number {
    return this.#entries.length;
  }

  /** Children that ended before they had a job, and were not told to, so far. */
  get endedEarly(): number {
    return this.#endedEarly;
  }

  /** Makes the first ones. Throws if none can be made. */
  async warm(): Promise<void> {
    this.#keep(await this.#maker.make(this.#setting), this.#setting);
    this.adjust();
  }

  /** One for a job, if there is one. From the next `adjust` on they are kept for its setting. */
  take(setting: ChildSetting): Child | undefined {
    this.#setting = setting;
    const at = this.#entries.findIndex(({ key }) => key === keyOf(setting));
    return at < 0 ? undefined : this.#entries.splice(at, 1)[0]?.child;
  }

  /** Lets go of what is too much, and makes what is missing. */
  adjust(): void {
    if (this.#closing) return;
    const key = keyOf(this.#setting);
    const fitting = this.#entries.filter((entry) => entry.key === key);
    const others = this.#entries.filter((entry) => entry.key !== key);
    const surplus = [...this.#beyondTarget(fitting), ...this.#beyondTarget(others)];
    this.#entries = this.#entries.filter((entry) => !surplus.includes(entry));
    for (const { child } of surplus) endChild(child);
    if (this.#endPause !== undefined) return;
    const wanted = this.#maker.able ? this.#target : Math.max(1, this.#target);
    for (let count = fitting.length + this.#making; count < wanted; count++) void this.#make(this.#setting);
  }

  /** Makes none for a while: the longer, the less time has passed since the last such pause. */
  pause(): void {
    if (this.#closing || this.#endPause !== undefined) return;
    const { pauseMsMin, pauseMsMax } = childLimits;
    const quiet = performance.now() - this.#pausedAtMs > pauseMsMax;
    this.#pauseMs = quiet ? pauseMsMin : Math.min(this.#pauseMs * 2, pauseMsMax);
    const silence = this.#alarm(this.#pauseMs, () => {
      this.#endPause = undefined;
      this.#pausedAtMs = performance.now();
      this.adjust();
    });
    this.#endPause = silence;
  }

  /** Ends them all, and makes no more. */
  close(): void {
    this.#closing = true;
    this.#endPause?.();
    for (const { child } of this.#entries.splice(0)) endChild(child);
  }

  #keep(child: Child, setting: ChildSetting): void {
    const entry = { key: keyOf(setting), child };
    this.#entries.push(entry);
    void child.exited.then(({ signal, code, cpuMs }) => {
      if (!this.#entries.includes(entry)) return; // It has its job, or was told to end.
      this.#entries = this.#entries.filter((other) => other !== entry);
      child.socket.destroy();
      this.#endedEarly++;
      this.#log.warn({ signal, code, cpuMs }, 'a child ended before it had a job');
      this.pause();
    });
  }

  #beyondTarget(entries: readonly Entry[]): readonly Entry[] {
    return entries.slice(0, Math.max(0, entries.length - this.#target));
  }

  async #make(setting: ChildSetting): Promise<void> {
    this.#making++;
    try {
      const child = await this.#maker.make(setting);
      if (this.#closing) endChild(child);
      else this.#keep(child, setting);
    } catch {
      this.pause(); // The maker has told why.
    } finally {
      this.#making--;
    }
    this.adjust();
  }
}

function keyOf(setting: ChildSetting): string {
  return `${setting.memoryMb}/${setting.timeoutMs}`;
}
