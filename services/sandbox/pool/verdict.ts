/**
 * How an attempt ended, from facts alone: an end frame, or the way the process went. No message text of a
 * program or an engine has any say.
 */

import { endKind } from '../isolate/frames.ts';
import type { ExitFacts } from './child.ts';
import type { ChildEnd } from './session.ts';

export type VerdictReason =
  | 'Returned'
  | 'Error'
  | 'Timeout'
  | 'Memory'
  | 'OutputTooLarge'
  | 'Lost'
  | 'Violation';

export interface Verdict {
  readonly reason: VerdictReason;
  readonly value?: Buffer;
  readonly message: string;
  readonly errorName: string;
  readonly line: number;
  readonly column: number;
}

/** What a process holds, shared pages included, before its program holds anything. */
const memorySlackMb = 48;

/** Numbers of the run that a message names. */
export interface VerdictLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
}

export function verdictOfEnd(end: ChildEnd, limits: VerdictLimits): Verdict {
  switch (end.kind) {
    case endKind.returned:
      return { ...plain('Returned', ''), value: end.value };
    case endKind.returnedUndefined:
      return plain('Returned', '');
    case endKind.threw:
      return {
        reason: 'Error',
        message: end.message,
        errorName: end.name,
        line: end.line,
        column: end.column,
      };
    case endKind.outputTooLarge:
      return plain(
        'OutputTooLarge',
        `The program returned ${end.message} bytes of JSON, more than the limit of ${limits.outputBytes}. Return less: filter, count or sum up inside the program.`,
      );
    case endKind.memory:
      return memory(limits);
  }
}

/** Something that the supervisor itself did or saw before the process went. */
export type SupervisorFact = 'BackstopFired' | 'BrokeProtocol';

export function verdictOfExit(
  exit: ExitFacts,
  fact: SupervisorFact | undefined,
  limits: VerdictLimits,
): Verdict {
  if (fact === 'BrokeProtocol' || exit.signal === 'SIGSYS') {
    return plain(
      'Violation',
      'The process that ran the program broke the rules of its lock and was stopped.',
    );
  }
  if (fact === 'BackstopFired' || exit.signal === 'SIGPROF') return timeout(limits);
  // The kernel's hard limit: it blocked the signal of its budget, and cannot block this one.
  if (exit.signal === 'SIGKILL' && (exit.cpuMs ?? 0) > limits.timeoutMs) return timeout(limits);
  // How the engine and the C++ runtime give up when they cannot have more memory.
  if (exit.signal === 'SIGABRT' || exit.signal === 'SIGTRAP') return memory(limits);
  // A crash is one of memory only if there was little left; anything else may be a fault of the engine.
  if (exit.signal === 'SIGSEGV' && (exit.residentKb ?? 0) > (limits.memoryMb + memorySlackMb) * 1024) {
    return memory(limits);
  }
  return plain('Lost', 'The process that ran the program was lost.');
}

function timeout(limits: VerdictLimits): Verdict {
  return plain(
    'Timeout',
    `The program used all its processor time, ${limits.timeoutMs} ms. Time spent waiting for app calls does not count. Date.now() stands still in a program, so a loop that waits for it to pass never ends.`,
  );
}

function memory(limits: VerdictLimits): Verdict {
  return plain(
    'Memory',
    `The program used all its memory, ${limits.memoryMb} MB. Keep only what is needed of each result, and work through large data in parts.`,
  );
}

function plain(reason: VerdictReason, message: string): Verdict {
  return { reason, message, errorName: '', line: 0, column: 0 };
}
