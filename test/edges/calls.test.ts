/** The calls of a run as they are read: what each field is taken from. */
import { describe, expect, test } from 'vitest';
import { callsOf } from '../../services/code-run/api/calls.ts';
import type { RunStatus } from '../../services/code-run/core/model.ts';
import { called, record } from '../agent/records.ts';

describe('a call that waited', () => {
  const journal = [called(0, 'mail.send'), called(1, 'mail.send')];
  const waiting = [
    { index: 0, operationId: 'op-7', after: 0 },
    { index: 1, after: 0 },
  ];
  const read = (status: RunStatus) =>
    callsOf(record({ tag: 'Cancelled', logs: [] }, journal, { status, waiting })).map((call) => [
      call.operationId,
      call.outcome,
    ]);

  test('has the operation that the core named, or its call id', () => {
    expect(read('Waiting')).toEqual([
      ['op-7', { tag: 'Waiting' }],
      ['call-9:1', { tag: 'Waiting' }],
    ]);
  });

  test.for<RunStatus>(['Running', 'Cancelled', 'Failed'])(
    'keeps it in a run that is %s, and waits no more',
    (status) => {
      expect(read(status)).toEqual([
        ['op-7', undefined],
        ['call-9:1', undefined],
      ]);
    },
  );
});
