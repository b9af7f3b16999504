/**
 * The one table of transitions: for each state of an attempt, what each event does. A pair that is not
 * listed is impossible and throws.
 */
import type { MachineEvent, Phase } from './machine-types.ts';

export type Action =
  /** Start the first sandbox. */
  | 'begin'
  | 'started'
  /** Check what the program did, and at rest go on from there. */
  | 'step'
  /** A step of a program that is at rest: the sandbox broke its protocol. */
  | 'stepAtRest'
  /** The program ended. */
  | 'end'
  /** Try again later, on a fresh sandbox, a few times. */
  | 'lost'
  /** Try again once on a fresh process. */
  | 'died'
  | 'retry'
  /** Entries are durable: send, deliver, go on. */
  | 'committed'
  | 'appendFailed'
  /** The last write is durable. */
  | 'closed'
  | 'lastWriteFailed'
  /** Check an outcome and keep it until it can be journaled. */
  | 'report'
  | 'refuseLate'
  | 'outcomesEnded'
  | 'cancel'
  | 'stop'
  | 'leaseLost'
  /** It crossed with something that made it void. */
  | 'ignore';

type Row = { readonly [Event in MachineEvent['tag']]?: Action };

/** While a program is there or is to come. */
const alive = {
  Reported: 'report',
  OutcomesEnded: 'outcomesEnded',
  Cancel: 'cancel',
  Stop: 'stop',
  LeaseLost: 'leaseLost',
} as const satisfies Row;

/** While the last write is under way: it decides, whatever else comes (M6). */
const closing = {
  Begin: 'ignore',
  Written: 'closed',
  WriteFailed: 'lastWriteFailed',
  Reported: 'refuseLate',
  OutcomesEnded: 'ignore',
  Cancel: 'ignore',
  Stop: 'ignore',
  LeaseLost: 'ignore',
} as const satisfies Row;

export const transitions: { readonly [State in Phase['tag']]: Row } = {
  // A cancel or a stop may come first.
  New: { Begin: 'begin', Cancel: 'cancel', Stop: 'stop' },
  Replaying: {
    ...alive,
    SandboxStarted: 'started',
    SandboxStep: 'step',
    SandboxEnded: 'end',
    SandboxLost: 'lost',
    ProcessDied: 'died',
  },
  Running: { ...alive, SandboxStep: 'step', SandboxEnded: 'end', SandboxLost: 'lost', ProcessDied: 'died' },
  Resting: {
    ...alive,
    SandboxStep: 'stepAtRest',
    SandboxEnded: 'end',
    SandboxLost: 'lost',
    ProcessDied: 'died',
  },
  Writing: {
    ...alive,
    SandboxStep: 'stepAtRest',
    SandboxEnded: 'end',
    SandboxLost: 'lost',
    ProcessDied: 'died',
    Written: 'committed',
    WriteFailed: 'appendFailed',
  },
  BackingOff: { ...alive, RetryDue: 'retry' },
  Suspending: closing,
  Finishing: closing,
  Releasing: closing,
  Ended: {
    Begin: 'ignore',
    // A write that was under way when the lease was lost answers later.
    Written: 'ignore',
    WriteFailed: 'ignore',
    Reported: 'refuseLate',
    OutcomesEnded: 'ignore',
    Cancel: 'ignore',
    Stop: 'ignore',
    LeaseLost: 'ignore',
  },
};

export function lookUp(state: Phase['tag'], event: MachineEvent['tag']): Action {
  const action = transitions[state][event];
  if (action === undefined) throw new Error(`impossible: ${event} while ${state}`);
  return action;
}
