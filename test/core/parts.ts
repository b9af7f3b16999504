/** A machine driven by hand: events in, effects out, with what most tests need around it. */

import type { ProgramEnd } from '../../services/code-run/core/end.ts';
import { Machine } from '../../services/code-run/core/machine.ts';
import type { Effect, MachineEvent, MachineJob } from '../../services/code-run/core/machine-types.ts';
import type {
  Binding,
  IssuedCall,
  JournalEntry,
  LogLine,
  Outcome,
} from '../../services/code-run/core/model.ts';
import type { ReportedOutcome } from '../../services/code-run/core/outcome.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';

export const bindings: readonly Binding[] = ['read', 'send'].map((name) => ({
  connection: 'notes',
  capability: name,
  rawName: name,
  source: { connectionId: 'conn-7', connectionName: 'Notes', kind: 'tool', name },
}));

export const nowMs = 1_800_000_000_000;

export function jobOf(more: Partial<MachineJob> = {}): MachineJob {
  return {
    callId: 'call-9',
    bindings,
    limits: { timeoutMs: 1000, memoryMb: 64, outputBytes: 65_536, ...initialCallLimits },
    journal: [],
    waiting: [],
    logLinesStreamed: 0,
    recordedFingerprint: '',
    currentBindings: undefined,
    sandboxTriesMax: 3,
    digestOf: (text) => `digest of ${text}`,
    ...more,
  };
}

export function issued(index: number, argumentsJson = '{}', binding = 'notes.read'): IssuedCall {
  return { index, binding, argumentsJson, line: index + 1, column: 1 };
}

export function called(index: number, argumentsJson = '{}', binding = 'notes.read'): JournalEntry {
  const source = bindings.find(({ capability }) => binding === `notes.${capability}`)?.source;
  if (source === undefined) throw new Error(`no binding ${binding}`);
  return { kind: 'Called', ...issued(index, argumentsJson, binding), source, atMs: nowMs };
}

export function settled(index: number, outcome: Outcome = done(index)): JournalEntry {
  return { kind: 'Settled', index, outcome, atMs: nowMs };
}

export function done(value: unknown): Outcome {
  return { tag: 'Completed', valueJson: JSON.stringify(value) };
}

export function step(
  delivered: number,
  calls: readonly IssuedCall[] = [],
  more: { readonly logs?: readonly LogLine[]; readonly atRest?: boolean } = {},
): MachineEvent {
  return { tag: 'SandboxStep', delivered, calls, logs: more.logs ?? [], atRest: more.atRest ?? true };
}

export function ended(reason: ProgramEnd['reason'], more: Partial<ProgramEnd> = {}): MachineEvent {
  return { tag: 'SandboxEnded', end: { reason, message: '', errorName: '', line: 0, column: 0, ...more } };
}

export function report(
  index: number,
  outcome: ReportedOutcome['outcome'] = done(index),
  more: Partial<ReportedOutcome> = {},
): MachineEvent {
  const reported = { index, callId: '', argumentsDigest: '', operationId: '', outcome, ...more };
  return { tag: 'Reported', reported };
}

export class Driven {
  readonly machine: Machine;

  constructor(more: Partial<MachineJob> = {}) {
    this.machine = new Machine(jobOf(more));
  }

  /** Feeds events; gives the effects of the last one. */
  feed(...events: readonly MachineEvent[]): readonly Effect[] {
    let effects: readonly Effect[] = [];
    for (const event of events) effects = this.machine.handle(event, nowMs);
    return effects;
  }

  get phase(): string {
    return this.machine.phase;
  }
}

export const begin: MachineEvent = { tag: 'Begin' };
export const written: MachineEvent = { tag: 'Written' };
export const cancel: MachineEvent = { tag: 'Cancel' };
export const lost: MachineEvent = { tag: 'SandboxLost', how: 'Lost' };
export const died: MachineEvent = { tag: 'ProcessDied' };
export const leaseLost: MachineEvent = { tag: 'LeaseLost' };
export const stop: MachineEvent = { tag: 'Stop', why: 'CoreLost' };
export const outcomesEnded: MachineEvent = { tag: 'OutcomesEnded' };
export const retryDue: MachineEvent = { tag: 'RetryDue' };
export const started: MachineEvent = { tag: 'SandboxStarted', fingerprint: 'sim' };

export function writeFailed(cause: 'LeaseLost' | 'StoreUnavailable'): MachineEvent {
  return { tag: 'WriteFailed', cause };
}

export function tags(effects: readonly Effect[]): readonly string[] {
  return effects.map(({ tag }) => tag);
}
