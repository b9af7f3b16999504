/** Every edge of the table, and that every other one throws. */
import { describe, expect, test } from 'vitest';
import type { MachineEvent, Phase } from '../../services/code-run/core/machine-types.ts';
import { transitions } from '../../services/code-run/core/transitions.ts';
import {
  begin,
  called,
  cancel,
  Driven,
  died,
  done,
  ended,
  issued,
  leaseLost,
  lost,
  outcomesEnded,
  report,
  retryDue,
  settled,
  started,
  step,
  stop,
  tags,
  writeFailed,
  written,
} from './parts.ts';

type State = Phase['tag'];
type EventTag = MachineEvent['tag'];

/** A machine in each state: a program with call 0, whose answer is there in Running. */
const inState: Record<State, () => Driven> = {
  New: () => new Driven(),
  Replaying: () => fed([begin], { journal: [called(0), settled(0)] }),
  Running: () => fed([begin, step(0, [issued(0)]), written, report(0), written]),
  Resting: () => fed([begin, step(0, [issued(0)]), written]),
  Writing: () => fed([begin, step(0, [issued(0)])]),
  BackingOff: () => fed([begin, lost]),
  Suspending: () => fed([begin, step(0, [issued(0)]), written, report(0, { tag: 'Waiting' })]),
  Finishing: () => fed([begin, ended('Returned')]),
  Releasing: () => fed([begin, stop]),
  Ended: () => fed([begin, stop, written]),
};

function fed(events: readonly MachineEvent[], more: ConstructorParameters<typeof Driven>[0] = {}): Driven {
  const driven = new Driven(more);
  driven.feed(...events);
  return driven;
}

const anEvent: Record<EventTag, MachineEvent> = {
  Begin: begin,
  SandboxStarted: started,
  SandboxStep: step(0),
  SandboxEnded: ended('Memory'),
  SandboxLost: lost,
  ProcessDied: died,
  RetryDue: retryDue,
  Written: written,
  WriteFailed: writeFailed('LeaseLost'),
  Reported: report(0),
  OutcomesEnded: outcomesEnded,
  Cancel: cancel,
  Stop: stop,
  LeaseLost: leaseLost,
};

/** From, event, to, effects. */
const edges: readonly (readonly [State, EventTag, State, readonly string[]])[] = [
  ['New', 'Begin', 'Replaying', ['Execute']],
  ['New', 'Cancel', 'Finishing', ['Kill', 'Finish']],
  ['New', 'Stop', 'Releasing', ['Kill', 'Release']],

  ['Replaying', 'SandboxStarted', 'Replaying', []],
  ['Replaying', 'SandboxStep', 'Finishing', ['Kill', 'Finish']],
  ['Replaying', 'SandboxEnded', 'Finishing', ['Kill', 'Finish']],
  ['Replaying', 'SandboxLost', 'BackingOff', ['Kill', 'RetryLater']],
  ['Replaying', 'ProcessDied', 'BackingOff', ['Kill', 'RetryLater']],
  ['Replaying', 'Reported', 'Replaying', ['Refuse']],
  ['Replaying', 'OutcomesEnded', 'Replaying', []],
  ['Replaying', 'Cancel', 'Finishing', ['Kill', 'Finish']],
  ['Replaying', 'Stop', 'Releasing', ['Kill', 'Release']],
  ['Replaying', 'LeaseLost', 'Ended', ['Kill', 'Close']],

  ['Running', 'SandboxStep', 'Finishing', ['Kill', 'Finish']],
  ['Running', 'SandboxEnded', 'Finishing', ['Kill', 'Finish']],
  ['Running', 'SandboxLost', 'BackingOff', ['Kill', 'RetryLater']],
  ['Running', 'ProcessDied', 'BackingOff', ['Kill', 'RetryLater']],
  ['Running', 'Reported', 'Running', ['Refuse']],
  ['Running', 'OutcomesEnded', 'Running', []],
  ['Running', 'Cancel', 'Finishing', ['Kill', 'Finish']],
  ['Running', 'Stop', 'Releasing', ['Kill', 'Release']],
  ['Running', 'LeaseLost', 'Ended', ['Kill', 'Close']],

  ['Resting', 'SandboxStep', 'Finishing', ['Kill', 'Finish']],
  ['Resting', 'SandboxEnded', 'Finishing', ['Kill', 'Finish']],
  ['Resting', 'SandboxLost', 'BackingOff', ['Kill', 'RetryLater']],
  ['Resting', 'ProcessDied', 'BackingOff', ['Kill', 'RetryLater']],
  ['Resting', 'Reported', 'Writing', ['Append']],
  ['Resting', 'OutcomesEnded', 'Releasing', ['Kill', 'Release']],
  ['Resting', 'Cancel', 'Finishing', ['Kill', 'Finish']],
  ['Resting', 'Stop', 'Releasing', ['Kill', 'Release']],
  ['Resting', 'LeaseLost', 'Ended', ['Kill', 'Close']],

  ['Writing', 'SandboxStep', 'Writing', ['Kill']],
  ['Writing', 'SandboxEnded', 'Writing', ['Kill']],
  ['Writing', 'SandboxLost', 'Writing', []],
  ['Writing', 'ProcessDied', 'Writing', []],
  ['Writing', 'Written', 'Resting', ['Send']],
  ['Writing', 'WriteFailed', 'Ended', ['Kill', 'Close']],
  ['Writing', 'Reported', 'Writing', ['Refuse']],
  ['Writing', 'OutcomesEnded', 'Writing', []],
  ['Writing', 'Cancel', 'Writing', ['Kill']],
  ['Writing', 'Stop', 'Writing', ['Kill']],
  ['Writing', 'LeaseLost', 'Ended', ['Kill', 'Close']],

  ['BackingOff', 'RetryDue', 'Replaying', ['Execute']],
  ['BackingOff', 'Reported', 'BackingOff', ['Refuse']],
  ['BackingOff', 'OutcomesEnded', 'BackingOff', []],
  ['BackingOff', 'Cancel', 'Finishing', ['Kill', 'Finish']],
  ['BackingOff', 'Stop', 'Releasing', ['Kill', 'Release']],
  ['BackingOff', 'LeaseLost', 'Ended', ['Kill', 'Close']],

  ...(['Suspending', 'Finishing', 'Releasing'] as const).flatMap((state) => [
    [state, 'Begin', state, []] as const,
    [state, 'Written', 'Ended', ['Close']] as const,
    [state, 'WriteFailed', 'Ended', ['Close']] as const,
    [state, 'Reported', state, ['Refuse']] as const,
    [state, 'OutcomesEnded', state, []] as const,
    [state, 'Cancel', state, []] as const,
    [state, 'Stop', state, []] as const,
    [state, 'LeaseLost', state, []] as const,
  ]),

  ['Ended', 'Begin', 'Ended', []],
  ['Ended', 'Written', 'Ended', []],
  ['Ended', 'WriteFailed', 'Ended', []],
  ['Ended', 'Reported', 'Ended', ['Refuse']],
  ['Ended', 'OutcomesEnded', 'Ended', []],
  ['Ended', 'Cancel', 'Ended', []],
  ['Ended', 'Stop', 'Ended', []],
  ['Ended', 'LeaseLost', 'Ended', []],
];

const states = Object.keys(inState) as State[];
const events = Object.keys(anEvent) as EventTag[];
const known = new Set(edges.map(([from, event]) => `${from} ${event}`));

describe('the table of transitions', () => {
  test('has exactly the edges that are tested here', () => {
    const inTable = states.flatMap((state) =>
      Object.keys(transitions[state]).map((event) => `${state} ${event}`),
    );
    expect(inTable.toSorted()).toEqual([...known].toSorted());
  });

  test.each(states)('begins its test of %s in that state', (state) => {
    expect(inState[state]().phase).toBe(state);
  });

  test.each(edges)('%s takes %s to %s with %j', (from, event, to, effects) => {
    const driven = inState[from]();
    // In Writing the outcome of call 0 is refused: it was not sent yet.
    expect(tags(driven.feed(anEvent[event]))).toEqual(effects);
    expect(driven.phase).toBe(to);
  });

  test.each(
    states.flatMap((state) =>
      events.filter((event) => !known.has(`${state} ${event}`)).map((event) => [state, event] as const),
    ),
  )('%s throws on %s', (state, event) => {
    expect(() => inState[state]().feed(anEvent[event])).toThrow(`impossible: ${event} while ${state}`);
  });
});

describe('what follows a journal write', () => {
  const writing = inState.Writing;

  test('is the outcome, if one was written', () => {
    const driven = inState.Resting();
    expect(driven.feed(report(0, done('a')))).toMatchObject([
      { tag: 'Append', length: 1, entries: [{ kind: 'Settled', index: 0 }] },
    ]);
    expect(driven.feed(written)).toEqual([{ tag: 'Deliver', outcomes: [settled(0, done('a'))] }]);
    expect(driven.phase).toBe('Running');
  });

  test('is a new try, if the sandbox was lost meanwhile; the calls go out', () => {
    const driven = writing();
    expect(tags(driven.feed(lost, written))).toEqual(['Send', 'Kill', 'RetryLater']);
    expect(driven.phase).toBe('BackingOff');
  });

  test('is a cancel that came meanwhile; no call goes out', () => {
    const driven = writing();
    expect(driven.feed(cancel, written)).toEqual([{ tag: 'Finish', result: { tag: 'Cancelled', logs: [] } }]);
  });

  test('is a stop that came meanwhile; no call goes out', () => {
    const driven = writing();
    expect(tags(driven.feed(stop, written))).toEqual(['Release']);
  });

  test('is an end that came meanwhile, but for a later cancel', () => {
    expect(writing().feed(ended('Memory'), stop, written)).toMatchObject([
      { tag: 'Finish', result: { tag: 'Failed', reason: 'Memory' } },
    ]);
    expect(writing().feed(ended('Memory'), cancel, written)).toMatchObject([
      { tag: 'Finish', result: { tag: 'Cancelled' } },
    ]);
  });

  test('is a release, if the core ended its side and has calls to answer', () => {
    const driven = writing();
    expect(tags(driven.feed(outcomesEnded, written))).toEqual(['Send', 'Kill', 'Release']);
    expect(driven.feed(written)).toEqual([{ tag: 'Close', ending: { tag: 'Stopped', why: 'CoreClosed' } }]);
  });

  test('is a release, if the store was not there', () => {
    const driven = writing();
    expect(tags(driven.feed(writeFailed('StoreUnavailable')))).toEqual(['Kill', 'Release']);
    expect(driven.feed(writeFailed('StoreUnavailable'))).toEqual([
      { tag: 'Close', ending: { tag: 'Stopped', why: 'StoreUnavailable' } },
    ]);
  });
});

describe('a last write', () => {
  test('that fails for the lease says so, but for a release', () => {
    for (const state of ['Suspending', 'Finishing'] as const) {
      expect(inState[state]().feed(writeFailed('LeaseLost'))).toEqual([
        { tag: 'Close', ending: { tag: 'LeaseLost' } },
      ]);
      expect(inState[state]().feed(writeFailed('StoreUnavailable'))).toEqual([
        { tag: 'Close', ending: { tag: 'Stopped', why: 'StoreUnavailable' } },
      ]);
    }
    expect(inState.Releasing().feed(writeFailed('LeaseLost'))).toEqual([
      { tag: 'Close', ending: { tag: 'Stopped', why: 'CoreLost' } },
    ]);
  });

  test('closes the stream with what it was', () => {
    expect(inState.Finishing().feed(written)).toEqual([{ tag: 'Close', ending: { tag: 'Finished' } }]);
    expect(inState.Suspending().feed(written)).toMatchObject([
      { tag: 'Close', ending: { tag: 'Waiting', requests: [{ index: 0, callId: 'call-9:0' }] } },
    ]);
    expect(inState.Releasing().feed(written)).toEqual([
      { tag: 'Close', ending: { tag: 'Stopped', why: 'CoreLost' } },
    ]);
  });
});
