/**
 * The realm's contract in process: runs a program as a real async function, one outcome per rest. Real
 * promises, no lock: for programs of our own making.
 */

import type { ProgramEnd } from '../../services/code-run/core/end.ts';
import type { Binding, IssuedCall, LogLevel, LogLine, Outcome } from '../../services/code-run/core/model.ts';

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...texts: string[]
) => (...values: unknown[]) => Promise<unknown>;

/** Resolves when every microtask is drained. */
export function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export interface RealmStep {
  readonly calls: readonly IssuedCall[];
  readonly logs: readonly LogLine[];
  readonly end: ProgramEnd | undefined;
}

interface Open {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class SimRealm {
  readonly #open = new Map<number, Open>();
  #calls: IssuedCall[] = [];
  #logs: LogLine[] = [];
  #nextCall = 0;
  #nextLog = 0;
  #outcome: ProgramEnd | undefined;
  #ended = false;

  /** Runs the program to its first rest. */
  async start(text: string, bindings: readonly Binding[]): Promise<RealmStep> {
    let program: () => Promise<unknown>;
    try {
      const compiled = new AsyncFunction('apps', 'console', text);
      program = () => compiled(this.#apps(bindings), this.#console());
    } catch (error) {
      program = () => Promise.reject(error);
    }
    program().then(
      (value) => {
        const valueJson = JSON.stringify(value);
        this.#outcome = { ...nowhere('Returned'), ...(valueJson === undefined ? {} : { valueJson }) };
      },
      (error: unknown) => {
        const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
        this.#outcome = { ...nowhere('Error'), errorName: name, message };
      },
    );
    return this.#rest();
  }

  /** Delivers one outcome and runs to the next rest. */
  async settle(index: number, outcome: Outcome): Promise<RealmStep> {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open !== undefined) settleWith(open, outcome);
    return this.#rest();
  }

  async #rest(): Promise<RealmStep> {
    await drained();
    const [calls, logs] = [this.#calls, this.#logs];
    this.#calls = [];
    this.#logs = [];
    return { calls, logs, end: this.#takeEnd() };
  }

  #takeEnd(): ProgramEnd | undefined {
    if (this.#ended || this.#open.size > 0) return undefined;
    this.#ended = true;
    return this.#outcome ?? { ...nowhere('Error'), message: 'The program can never go on.' };
  }

  #call(binding: string, args: unknown): Promise<unknown> {
    const index = this.#nextCall;
    this.#nextCall += 1;
    this.#calls.push({
      index,
      binding,
      argumentsJson: JSON.stringify(args ?? {}),
      line: 1,
      column: index + 1,
    });
    const promise = new Promise((resolve, reject) => this.#open.set(index, { resolve, reject }));
    promise.catch(() => {}); // A rejection that nobody handles is not the host's.
    return promise;
  }

  #apps(bindings: readonly Binding[]): object {
    const apps: Record<string, Record<string, unknown>> = {};
    for (const { connection, capability } of bindings) {
      apps[connection] ??= {};
      Object.assign(apps[connection], {
        [capability]: (args: unknown) => this.#call(`${connection}.${capability}`, args),
      });
    }
    return apps;
  }

  #console(): object {
    const log = (level: LogLevel) => (text: unknown) => {
      this.#logs.push({ index: this.#nextLog, level, text: String(text) });
      this.#nextLog += 1;
    };
    return { log: log('info'), warn: log('warn') };
  }
}

function settleWith(open: Open, outcome: Outcome): void {
  switch (outcome.tag) {
    case 'Completed':
      open.resolve(JSON.parse(outcome.valueJson));
      break;
    case 'Failed':
      open.reject(named('AppCallFailed', `${outcome.reason}: ${outcome.message}`));
      break;
    case 'Denied':
      open.reject(named('AppCallDenied', outcome.message));
      break;
    case 'InputRequired':
      open.reject(named('AppInputRequired', outcome.operationId));
      break;
  }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function nowhere(reason: ProgramEnd['reason']): ProgramEnd {
  return { reason, message: '', errorName: '', line: 0, column: 0 };
}
