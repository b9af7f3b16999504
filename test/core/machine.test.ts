import { describe, expect, test } from 'vitest';
import type { Effect, MachineEvent } from '../../services/code-run/core/machine-types.ts';
import { initialCallLimits, limits } from '../../services/shared/limits.ts';
import {
  begin,
  called,
  Driven,
  died,
  done,
  ended,
  issued,
  jobOf,
  lost,
  nowMs,
  outcomesEnded,
  report,
  retryDue,
  settled,
  step,
  tags,
  writeFailed,
  written,
} from './parts.ts';

const waiting = { tag: 'Waiting' } as const;
const calls = (count: number) => Array.from({ length: count }, (_, index) => issued(index));
const sent = (effects: readonly Effect[]) =>
  effects.filter((effect) => effect.tag === 'Send').map(({ call }) => call.index);

/** Three calls, the outcomes of which were written and handed out at once. */
function ahead(): Driven {
  const driven = new Driven();
  driven.feed(begin, step(0, calls(3)), written, lost, report(0), report(1), report(2), retryDue);
  driven.feed(step(0, calls(3)), written);
  return driven;
}

describe('write-ahead', () => {
  test('makes all calls of a step durable in one write, and sends them only then', () => {
    const driven = new Driven();
    const pieces = [
      step(0, [issued(0)], { atRest: false }),
      step(0, [issued(1), issued(2)], { atRest: false }),
    ];
    expect(driven.feed(begin, ...pieces)).toEqual([]);
    const [append, ...rest] = driven.feed(step(0));
    expect(rest).toEqual([]);
    expect(append).toEqual({
      tag: 'Append',
      length: 0,
      entries: [called(0), called(1), called(2)],
      logLines: 0,
    });
    expect(driven.feed(written)).toMatchObject([
      {
        tag: 'Send',
        call: {
          index: 0,
          callId: 'call-9:0',
          binding: 'notes.read',
          argumentsJson: '{}',
          argumentsDigest: 'digest of {}',
          sentBefore: false,
        },
      },
      { tag: 'Send', call: { index: 1 } },
      { tag: 'Send', call: { index: 2 } },
    ]);
  });

  test('writes the next outcome with the calls of the step before it, and delivers it only then', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written, report(0), written);
    // The program runs; the outcome of call 1 comes meanwhile.
    expect(driven.feed(report(1))).toEqual([]);
    expect(driven.feed(step(1, [issued(2)]))).toEqual([
      { tag: 'Append', length: 3, entries: [called(2), settled(1)], logLines: 0 },
    ]);
    expect(tags(driven.feed(written))).toEqual(['Send', 'Deliver']);
  });

  test('hands out outcomes in the order in which they came, all at once that were written at once', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(3)), written);
    driven.feed(report(2));
    driven.feed(report(0), report(1));
    expect(driven.feed(written)).toMatchObject([{ tag: 'Deliver', outcomes: [settled(2)] }]);
    expect(driven.feed(step(1))).toMatchObject([
      { tag: 'Append', length: 4, entries: [settled(0), { ...settled(1), after: 1 }] },
    ]);
    expect(driven.feed(written)).toMatchObject([
      { tag: 'Deliver', outcomes: [settled(0), { ...settled(1), after: 1 }] },
    ]);
    expect(driven.feed(step(2))).toEqual([]);
    expect(driven.feed(step(3))).toEqual([]);
    expect(driven.phase).toBe('Resting');
    expect(driven.machine.journal.map(({ kind, index }) => `${kind} ${index}`)).toEqual([
      'Called 0',
      'Called 1',
      'Called 2',
      'Settled 2',
      'Settled 0',
      'Settled 1',
    ]);
  });

  test('gathers the calls made between outcomes that were handed out at once, and says where they belong', () => {
    const driven = ahead();
    expect(driven.feed(step(1, [issued(3)]), step(2))).toEqual([]);
    expect(driven.feed(report(3))).toMatchObject([{ tag: 'Refuse', code: 'NOT_FOUND' }]);
    expect(driven.feed(step(3, [issued(4)]))).toEqual([
      { tag: 'Append', length: 6, entries: [{ ...called(3), after: 1 }, called(4)], logLines: 0 },
    ]);
    expect(sent(driven.feed(written))).toEqual([3, 4]);
  });

  test('writes outcomes that came meanwhile with those calls, as seen after all of them', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(4)), written, lost, report(0), report(1), retryDue);
    driven.feed(step(0, calls(4)), written, step(1, [issued(4)]));
    expect(driven.feed(report(2))).toEqual([]);
    expect(driven.feed(step(2))).toMatchObject([
      { tag: 'Append', length: 6, entries: [{ ...called(4), after: 1 }, settled(2)] },
    ]);
  });

  test('writes at once what is there as long as it is not too large, and one that is larger alone', () => {
    const half = {
      tag: 'Completed',
      valueJson: JSON.stringify('x'.repeat(limits.outcomesWriteCharsMax / 2 - 2)),
    } as const;
    const indices = (effects: readonly Effect[]) =>
      effects.flatMap((effect) => (effect.tag === 'Append' ? effect.entries.map(({ index }) => index) : []));
    const driven = new Driven();
    driven.feed(
      begin,
      step(0, calls(4)),
      written,
      report(3),
      report(0, half),
      report(1, half),
      report(2),
      written,
    );
    expect(indices(driven.feed(step(1)))).toEqual([0, 1]);
    driven.feed(written, step(2));
    expect(indices(driven.feed(step(3)))).toEqual([2]);
    const failing = new Driven();
    const message = 'x'.repeat(8192);
    const failure = { tag: 'Failed', reason: 'ToolError', message } as const;
    const fitting = limits.outcomesWriteCharsMax / message.length;
    failing.feed(begin, step(0, calls(fitting + 2)), written, report(fitting + 1));
    for (let index = 0; index <= fitting; index++) failing.feed(report(index, failure));
    failing.feed(written);
    expect(indices(failing.feed(step(1)))).toHaveLength(fitting);
    const alone = new Driven();
    const large = {
      tag: 'Completed',
      valueJson: JSON.stringify('x'.repeat(limits.outcomesWriteCharsMax)),
    } as const;
    alone.feed(begin, step(0, calls(3)), written, report(2), report(0, large), report(1), written);
    expect(indices(alone.feed(step(1)))).toEqual([0]);
  });

  test('keeps the operation id of a call, whichever answer named it', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written);
    driven.feed(report(0, waiting, { operationId: 'op-0' }), report(0));
    expect(driven.machine.journal).toHaveLength(2);
    driven.feed(written, step(1), report(1, done(1), { operationId: 'op-1' }), written);
    expect(driven.machine.journal.slice(2)).toEqual([
      { kind: 'Settled', index: 0, outcome: done(0), operationId: 'op-0', atMs: nowMs },
      { kind: 'Settled', index: 1, outcome: done(1), operationId: 'op-1', atMs: nowMs },
    ]);
  });
});

describe('calls in flight', () => {
  test('are at most as many as the limit, in order, and the next goes out when one is settled', () => {
    const driven = new Driven({ limits: { ...jobOf().limits, callsInFlightMax: 2 } });
    driven.feed(begin, step(0, calls(4)));
    expect(sent(driven.feed(written))).toEqual([0, 1]);
    driven.feed(report(1));
    expect(sent(driven.feed(written))).toEqual([2]);
    driven.feed(step(1));
    driven.feed(report(0));
    expect(sent(driven.feed(written))).toEqual([3]);
  });

  test('at the limit all go out, and one past it waits', () => {
    const max = initialCallLimits.callsInFlightMax;
    const driven = new Driven();
    driven.feed(begin, step(0, calls(max + 1)));
    expect(sent(driven.feed(written))).toHaveLength(max);
  });

  test('do not count calls that wait: 300 decisions wait at once', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(300)));
    const open = sent(driven.feed(written)).slice();
    let last: readonly Effect[] = [];
    let waited = 0;
    for (let index = open.shift(); index !== undefined; index = open.shift()) {
      last = driven.feed(report(index, waiting));
      waited += 1;
      // A call goes out only after a write that held the lease, even if there is nothing to write.
      if (last[0]?.tag === 'Append') {
        expect(last).toEqual([{ tag: 'Append', length: 300, entries: [], logLines: 0 }]);
        open.push(...sent(driven.feed(written)));
      }
    }
    expect(waited).toBe(300);
    expect(tags(last)).toEqual(['Kill', 'Suspend']);
    expect(driven.feed(written)).toMatchObject([{ tag: 'Close', ending: { requests: { length: 300 } } }]);
  });

  test('of an earlier attempt count as sent before, whether they were or not', () => {
    const driven = new Driven({ journal: [called(0), called(1), settled(0)] });
    driven.feed(begin, step(0, calls(2)));
    expect(driven.feed(step(1, [issued(2)]))).toEqual([
      { tag: 'Append', length: 3, entries: [called(2)], logLines: 0 },
    ]);
    expect(driven.feed(written)).toMatchObject([
      { tag: 'Send', call: { index: 1, sentBefore: true } },
      { tag: 'Send', call: { index: 2, sentBefore: false } },
    ]);
  });
});

describe('waiting', () => {
  test('begins when nothing else is left, with every request at once', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, [issued(0), issued(1, '{"to":"you"}', 'notes.send')]), written);
    driven.feed(report(1, waiting, { operationId: 'op-1' }));
    expect(driven.phase).toBe('Resting');
    expect(driven.feed(report(0, waiting))).toEqual([
      { tag: 'Kill' },
      {
        tag: 'Suspend',
        waiting: [
          { index: 0, after: 0 },
          { index: 1, operationId: 'op-1', after: 0 },
        ],
        logLines: 0,
      },
    ]);
    expect(driven.feed(written)).toMatchObject([
      {
        ending: {
          tag: 'Waiting',
          requests: [
            { index: 0, callId: 'call-9:0', operationId: 'call-9:0' },
            {
              index: 1,
              callId: 'call-9:1',
              operationId: 'op-1',
              source: { connectionId: 'conn-7', name: 'send' },
              argumentsJson: '{"to":"you"}',
              argumentsDigest: 'digest of {"to":"you"}',
            },
          ],
        },
      },
    ]);
  });

  test('lets the program go on with what it can do', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written, report(0, waiting), report(1));
    expect(tags(driven.feed(written))).toEqual(['Deliver']);
    driven.feed(step(1, [issued(2)]));
    expect(sent(driven.feed(written))).toEqual([2]);
    driven.feed(report(2), written);
    expect(tags(driven.feed(step(2)))).toEqual(['Kill', 'Suspend']);
  });

  test('ends for a call that is decided while the program runs', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written, report(0, waiting));
    expect(tags(driven.feed(report(0, { tag: 'Denied', message: 'no' })))).toEqual(['Append']);
    expect(driven.feed(written)).toEqual([
      { tag: 'Deliver', outcomes: [settled(0, { tag: 'Denied', message: 'no' })] },
    ]);
  });

  test('needs no call to be sent that the core already says is waiting', () => {
    const driven = new Driven({ journal: [called(0)] });
    driven.feed(begin);
    driven.feed(report(0, waiting, { callId: 'call-9:0', argumentsDigest: 'digest of {}' }));
    expect(tags(driven.feed(step(0, calls(1))))).toEqual(['Kill', 'Suspend']);
  });
});

describe('resume', () => {
  test('replays all outcomes at once and sends nothing that has one', () => {
    const journal = [called(0), settled(0), called(1), settled(1)];
    const driven = new Driven({ journal });
    expect(driven.feed(begin)).toEqual([{ tag: 'Execute', outcomes: [settled(0), settled(1)] }]);
    expect(driven.feed(step(0, [issued(0)]), step(1, [issued(1)]))).toEqual([]);
    expect(driven.phase).toBe('Replaying');
    driven.feed(step(2, [issued(2)]));
    expect(sent(driven.feed(written))).toEqual([2]);
    expect(driven.machine.replayedCalls).toBe(2);
  });

  test('does not need to hear of every rest', () => {
    const driven = new Driven({ journal: [called(0), called(1), settled(0), settled(1)] });
    driven.feed(begin, step(0, calls(2)), step(2, [issued(2)]));
    expect(sent(driven.feed(written))).toEqual([2]);
  });

  test('hands out what was written ahead as well, and takes the calls made there for new', () => {
    const ahead = { ...settled(1), after: 0 };
    const driven = new Driven({ journal: [called(0), called(1), settled(0), ahead] });
    expect(driven.feed(begin)).toEqual([{ tag: 'Execute', outcomes: [settled(0), ahead] }]);
    expect(driven.feed(step(0, calls(2)), step(1, [issued(2)]))).toEqual([]);
    expect(driven.feed(step(2, [issued(3)]))).toMatchObject([
      { tag: 'Append', entries: [{ ...called(2), after: 1 }, called(3)] },
    ]);
    expect(sent(driven.feed(written))).toEqual([2, 3]);
  });

  test('knows the place of calls that were written behind a later outcome', () => {
    const journal = [
      called(0),
      called(1),
      settled(0),
      { ...settled(1), after: 0 },
      { ...called(2), after: 1 },
    ];
    const replay = new Driven({ journal });
    expect(replay.feed(begin)).toEqual([
      { tag: 'Execute', outcomes: [settled(0), { ...settled(1), after: 0 }] },
    ]);
    replay.feed(step(0, calls(2)), step(1, [issued(2)]));
    replay.feed(step(2));
    expect(sent(replay.feed(written))).toEqual([2]);
    const other = new Driven({ journal });
    other.feed(begin, step(0, calls(2)));
    expect(other.feed(step(1))).toMatchObject([
      { tag: 'Kill' },
      { tag: 'Finish', result: { reason: 'ReplayMismatch' } },
    ]);
    const extra = new Driven({ journal });
    extra.feed(begin, step(0, calls(2)));
    expect(extra.feed(step(1, [issued(2), issued(3)]))).toMatchObject([
      {},
      { result: { reason: 'ReplayMismatch' } },
    ]);
  });

  test('takes outcomes that the core already has, and journals them after the replay', () => {
    const driven = new Driven({ journal: [called(0), called(1), settled(1)] });
    driven.feed(begin);
    expect(driven.feed(report(0, done(0), { callId: 'call-9:0', argumentsDigest: 'digest of {}' }))).toEqual(
      [],
    );
    driven.feed(step(0, calls(2)));
    expect(driven.feed(step(1))).toEqual([{ tag: 'Append', length: 3, entries: [settled(0)], logLines: 0 }]);
    expect(driven.feed(written)).toEqual([{ tag: 'Deliver', outcomes: [settled(0)] }]);
  });

  test('fails at the first call that differs, and sends nothing', () => {
    const driven = new Driven({ journal: [called(0), settled(0), called(1)] });
    driven.feed(begin, step(0, [issued(0)]));
    expect(driven.feed(step(1, [issued(1, '{"other":1}')]))).toMatchObject([
      { tag: 'Kill' },
      { tag: 'Finish', result: { tag: 'Failed', reason: 'ReplayMismatch', line: 2 } },
    ]);
  });

  test('fails if the program ends before the journal does', () => {
    for (const end of [ended('Returned'), ended('Error'), ended('OutputTooLarge')]) {
      const driven = new Driven({ journal: [called(0), settled(0), called(1)] });
      driven.feed(begin, step(0, [issued(0)]));
      expect(driven.feed(end)).toMatchObject([{}, { result: { reason: 'ReplayMismatch' } }]);
    }
  });

  test('does not call it a divergence when time or memory runs out in the replay', () => {
    for (const reason of ['Timeout', 'Memory'] as const) {
      const driven = new Driven({ journal: [called(0), settled(0)] });
      expect(driven.feed(begin, ended(reason))).toMatchObject([{}, { result: { reason } }]);
    }
  });

  test('keeps operation ids of calls that waited', () => {
    const driven = new Driven({
      journal: [called(0)],
      waiting: [{ index: 0, operationId: 'op-0', after: 0 }],
    });
    driven.feed(begin, step(0, calls(1)), written);
    expect(driven.feed(report(0))).toMatchObject([{ entries: [{ operationId: 'op-0' }] }]);
  });
});

describe('a lost sandbox', () => {
  test('is replaced unseen: the core is not asked again, the program gets what it had', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written, report(0), written);
    expect(driven.feed(lost)).toEqual([{ tag: 'Kill' }, { tag: 'RetryLater', tries: 1 }]);
    expect(driven.feed(report(1))).toEqual([]);
    expect(driven.feed(retryDue)).toEqual([{ tag: 'Execute', outcomes: [settled(0)] }]);
    driven.feed(step(0, calls(2)));
    expect(driven.feed(step(1))).toMatchObject([{ tag: 'Append', entries: [settled(1)] }]);
    expect(tags(driven.feed(written))).toEqual(['Deliver']);
  });

  test('is replaced a bounded number of times in a row, then the run is Unavailable', () => {
    const driven = new Driven({ sandboxTriesMax: 3 });
    driven.feed(begin, lost, retryDue, lost, retryDue);
    expect(driven.feed(lost)).toMatchObject([
      { tag: 'Kill' },
      {
        tag: 'Finish',
        result: {
          tag: 'Failed',
          reason: 'Unavailable',
          message: 'The sandbox was lost, 3 times in a row. Run the program again later.',
        },
      },
    ]);
  });

  test('that was never reached says so', () => {
    const unreached = { tag: 'SandboxLost', how: 'Unreached' } as const;
    const driven = new Driven({ sandboxTriesMax: 2 });
    driven.feed(begin, lost, retryDue);
    expect(driven.feed(unreached)).toMatchObject([
      {},
      {
        result: {
          reason: 'Unavailable',
          message: 'The sandbox could not be reached, 2 times in a row. Run the program again later.',
        },
      },
    ]);
  });

  test('counts anew after a write', () => {
    const driven = new Driven({ sandboxTriesMax: 2 });
    driven.feed(begin, lost, retryDue, step(0, calls(1)), written);
    expect(driven.feed(lost)).toEqual([{ tag: 'Kill' }, { tag: 'RetryLater', tries: 1 }]);
    driven.feed(retryDue);
    expect(driven.feed(lost)).toMatchObject([{}, { tag: 'Finish' }]);
  });

  test('that has no room leaves the run resumable', () => {
    const busy = { tag: 'SandboxLost', how: 'Busy' } as const;
    const driven = new Driven({ sandboxTriesMax: 2 });
    driven.feed(begin, busy, retryDue);
    expect(tags(driven.feed(busy))).toEqual(['Kill', 'Release']);
    expect(driven.feed(writeFailed('StoreUnavailable'))).toMatchObject([
      { ending: { tag: 'Stopped', why: 'SandboxBusy' } },
    ]);
  });
});

describe('a process that died', () => {
  const twice = {
    tag: 'Finish',
    result: { tag: 'Failed', reason: 'Error', message: expect.stringContaining('died twice') },
  };

  test.each<[string, readonly MachineEvent[]]>([
    ['while it replays', []],
    ['while it runs', [step(0, calls(1)), written, report(0), written]],
    ['at rest', [step(0, calls(1)), written]],
  ])('%s is replaced once; the second time the run fails', (_, until) => {
    const driven = new Driven({ sandboxTriesMax: 6 });
    driven.feed(begin, ...until);
    expect(driven.feed(died)).toEqual([{ tag: 'Kill' }, { tag: 'RetryLater', tries: 1 }]);
    driven.feed(retryDue);
    expect(driven.feed(died)).toMatchObject([{ tag: 'Kill' }, twice]);
  });

  test('in a write for the second time ends the run when the write is done, and sends nothing', () => {
    const driven = new Driven({ sandboxTriesMax: 6 });
    driven.feed(begin, died, retryDue, step(0, calls(1)));
    expect(driven.phase).toBe('Writing');
    expect(driven.feed(died)).toEqual([{ tag: 'Kill' }]);
    expect(driven.feed(written)).toMatchObject([twice]);
  });

  test('counts through writes, and apart from sandboxes that were lost', () => {
    const driven = new Driven({ sandboxTriesMax: 6 });
    driven.feed(begin, lost, retryDue, lost, retryDue, died, retryDue);
    driven.feed(step(0, calls(1)), written, lost, retryDue, step(0, calls(1)));
    expect(driven.feed(died)).toMatchObject([{ tag: 'Kill' }, twice]);
  });
});

describe('a sandbox that breaks its protocol', () => {
  const breaches: readonly (readonly [string, readonly MachineEvent[]])[] = [
    ['a call out of order', [step(0, [issued(1)])]],
    ['a name that the run does not have', [step(0, [issued(0, '{}', 'notes.erase')])]],
    ['arguments that are not JSON', [step(0, [issued(0, '{')])]],
    [
      'arguments over their limit',
      [step(0, [issued(0, JSON.stringify('x'.repeat(initialCallLimits.argumentsBytesMax)))])],
    ],
    ['an outcome that was not delivered', [step(1)]],
    ['a step at rest', [step(0, [issued(0)]), written, step(0, [issued(1)])]],
    [
      'a step at a rest that it left for no outcome',
      [step(0, calls(3)), written, lost, report(0), report(1), retryDue, step(0, calls(3)), written].concat(
        step(1),
        step(1, [issued(3)]),
      ),
    ],
    ['a return with calls outstanding', [step(0, [issued(0)]), written, ended('Returned')]],
    ['a log line out of order', [step(0, [], { logs: [{ index: 1, level: 'info', text: '' }] })]],
    [
      'more log text than its budget',
      [
        step(0, [], {
          logs: [0, 1, 2, 3].map((index) => ({ index, level: 'info', text: 'x'.repeat(65_536) })),
        }),
      ],
    ],
  ];

  test.each(breaches)('%s ends the run as an error, and is not tried again', (_, events) => {
    const driven = new Driven();
    const effects = driven.feed(begin, ...events);
    expect(effects.slice(-2)).toMatchObject([
      { tag: 'Kill' },
      { tag: 'Finish', result: { tag: 'Failed', reason: 'Error' } },
    ]);
  });

  test('lets arguments at their limit and the last call of all pass', () => {
    const text = JSON.stringify('x'.repeat(initialCallLimits.argumentsBytesMax - 2));
    expect(tags(new Driven().feed(begin, step(0, [issued(0, text)])))).toEqual(['Append']);
    expect(tags(new Driven().feed(begin, step(0, calls(initialCallLimits.callsMax))))).toEqual(['Append']);
    expect(tags(new Driven().feed(begin, step(0, calls(initialCallLimits.callsMax + 1))))).toEqual([
      'Kill',
      'Finish',
    ]);
  });
});

describe('what a run holds', () => {
  const text = JSON.stringify('x'.repeat(initialCallLimits.argumentsBytesMax - 2));
  const fitting = limits.runBytesMax / initialCallLimits.argumentsBytesMax;
  const large = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => issued(from + at, text));

  test('may be as much as its limit, and one byte more ends it', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, large(0, fitting), { atRest: false }));
    expect(driven.phase).toBe('Replaying');
    expect(driven.feed(step(0, [issued(fitting, '1')], { atRest: false }))).toMatchObject([
      { tag: 'Kill' },
      { tag: 'Finish', result: { reason: 'Error', message: expect.stringContaining('268435456 bytes') } },
    ]);
  });

  test('counts results, those that are not journaled yet too', () => {
    const driven = new Driven({
      journal: [called(0), called(1), settled(1, { tag: 'Completed', valueJson: text })],
    });
    driven.feed(begin, step(0, [issued(0), issued(1)]), step(1, large(2, fitting - 2)), written);
    const room = initialCallLimits.argumentsBytesMax - 4;
    driven.feed(report(0, { tag: 'Completed', valueJson: JSON.stringify('x'.repeat(room - 2)) }));
    expect(driven.feed(report(2, done(1)))).toEqual([]);
    driven.feed(written);
    expect(driven.feed(step(2))).toMatchObject([
      { entries: [{ index: 2, outcome: { tag: 'Failed', reason: 'ResultTooLarge' } }] },
    ]);
  });
});

describe('log lines', () => {
  const lines = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, at) => ({ index: from + at, level: 'info', text: `l${from + at}` }) as const,
    );

  test('are streamed at once, and how many is noted with the next write', () => {
    const driven = new Driven();
    expect(tags(driven.feed(begin, step(0, [], { logs: lines(0, 2), atRest: false })))).toEqual([
      'Log',
      'Log',
    ]);
    expect(driven.feed(step(0, calls(1)))).toMatchObject([{ tag: 'Append', logLines: 2 }]);
  });

  test('are not streamed again by a later attempt or a new sandbox', () => {
    const driven = new Driven({ logLinesStreamed: 2 });
    expect(driven.feed(begin, step(0, [], { logs: lines(0, 3), atRest: false }))).toEqual([
      { tag: 'Log', line: lines(2, 3)[0] },
    ]);
    driven.feed(lost, retryDue);
    expect(tags(driven.feed(step(0, [], { logs: lines(0, 4), atRest: false })))).toEqual(['Log']);
  });

  test('may be as many empty ones as the realm lets through, and not without end', () => {
    const empty = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ index, level: 'info', text: '' }) as const);
    const fits = new Driven();
    fits.feed(begin, step(0, [], { logs: empty(65_536 + 1), atRest: false }));
    expect(fits.phase).toBe('Replaying');
    const endless = new Driven();
    endless.feed(begin, step(0, [], { logs: empty(300_000), atRest: false }));
    expect(endless.phase).toBe('Finishing');
  });

  test('of the last attempt are in the result', () => {
    const driven = new Driven({ logLinesStreamed: 9 });
    driven.feed(begin, step(0, [], { logs: lines(0, 2), atRest: false }));
    expect(driven.feed(ended('Returned', { valueJson: '1' }))).toEqual([
      { tag: 'Kill' },
      { tag: 'Finish', result: { tag: 'Completed', valueJson: '1', logs: lines(0, 2) } },
    ]);
  });
});

describe('a core that ends its side', () => {
  test('may hear the end of a program that needs no more outcomes', () => {
    const driven = new Driven();
    expect(driven.feed(begin, outcomesEnded)).toEqual([]);
    expect(tags(driven.feed(step(0), ended('Returned')))).toEqual(['Kill', 'Finish']);
  });

  test('leaves the run resumable when calls have no outcome', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(1)), written);
    expect(tags(driven.feed(outcomesEnded))).toEqual(['Kill', 'Release']);
  });

  test('still gets the run to wait if the calls wait', () => {
    const driven = new Driven();
    driven.feed(begin, step(0, calls(2)), written, report(0, waiting), report(1), outcomesEnded, written);
    expect(tags(driven.feed(step(1)))).toEqual(['Kill', 'Suspend']);
  });
});
