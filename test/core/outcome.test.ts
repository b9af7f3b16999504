import { describe, expect, test } from 'vitest';
import {
  checkOutcome,
  type OutcomeTarget,
  type ReportedOutcome,
} from '../../services/code-run/core/outcome.ts';
import { initialCallLimits, limits } from '../../services/shared/limits.ts';

const target: OutcomeTarget = {
  callId: 'call-9:3',
  argumentsDigest: 'd3',
  sentHere: true,
  hasOutcome: false,
  waits: false,
  resultBytesMax: initialCallLimits.resultBytesMax,
  roomBytes: limits.runBytesMax,
};
const completed = (valueJson = '1') => ({ tag: 'Completed', valueJson }) as const;

function check(
  outcome: ReportedOutcome['outcome'] = completed(),
  more: Partial<ReportedOutcome> = {},
  of: Partial<OutcomeTarget> | undefined = {},
) {
  const reported = { index: 3, callId: '', argumentsDigest: '', operationId: '', outcome, ...more };
  return checkOutcome(reported, of === undefined ? undefined : { ...target, ...of });
}

const bound = { callId: 'call-9:3', argumentsDigest: 'd3' };
const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

describe('an outcome', () => {
  test('counts when it names its call by index alone, on the stream that sent it', () => {
    expect(check()).toEqual({ tag: 'Counts', outcome: completed() });
    expect(check(completed(), bound)).toEqual({ tag: 'Counts', outcome: completed() });
  });

  test('must name call id and arguments where the call was not sent', () => {
    for (const more of [{}, { callId: 'call-9:3' }, { argumentsDigest: 'd3' }]) {
      expect(check(completed(), more, { sentHere: false })).toEqual({
        tag: 'Refused',
        code: 'INVALID_ARGUMENT',
        message: 'Call 3 was not sent on this stream: name its call_id and arguments_digest.',
      });
    }
    expect(check(completed(), bound, { sentHere: false }).tag).toBe('Counts');
  });

  test('of no call is refused', () => {
    expect(checkOutcome({ index: 3, ...bound, operationId: '', outcome: completed() }, undefined)).toEqual({
      tag: 'Refused',
      code: 'NOT_FOUND',
      message: 'No call 3 was sent.',
    });
  });

  test('of another call or for other arguments is refused', () => {
    expect(check(completed(), { callId: 'call-8:3' })).toEqual({
      tag: 'Refused',
      code: 'FAILED_PRECONDITION',
      message: 'Call 3 has the call id call-9:3.',
    });
    expect(check(completed(), { argumentsDigest: 'd4' })).toEqual({
      tag: 'Refused',
      code: 'FAILED_PRECONDITION',
      message: 'Call 3 was made with other arguments.',
    });
  });

  test('that comes a second time is refused, whatever it says', () => {
    const refused = { tag: 'Refused', code: 'ALREADY_EXISTS', message: 'Call 3 has an outcome.' };
    expect(check(completed(), {}, { hasOutcome: true })).toEqual(refused);
    expect(check({ tag: 'Waiting' }, {}, { hasOutcome: true })).toEqual(refused);
  });

  test('may follow waiting, but waiting does not follow waiting', () => {
    expect(check(completed(), {}, { waits: true }).tag).toBe('Counts');
    expect(check({ tag: 'Waiting' })).toEqual({ tag: 'Waits' });
    expect(check({ tag: 'Waiting' }, {}, { waits: true })).toMatchObject({ code: 'ALREADY_EXISTS' });
  });

  test('that is not JSON is refused', () => {
    for (const bad of ['', '{', 'undefined', '{"a":1}x', "{'a':1}", 'NaN']) {
      expect(check(completed(bad))).toEqual({
        tag: 'Refused',
        code: 'INVALID_ARGUMENT',
        message: 'completed.value_json is not JSON.',
      });
    }
  });

  test('that the edge could not read is refused with its words', () => {
    expect(check({ tag: 'Malformed', message: 'no outcome is set' })).toEqual({
      tag: 'Refused',
      code: 'INVALID_ARGUMENT',
      message: 'no outcome is set',
    });
  });

  test('at the limit of results counts, and one byte past it is ResultTooLarge', () => {
    expect(check(completed(text(target.resultBytesMax)))).toMatchObject({ outcome: { tag: 'Completed' } });
    expect(check(completed(text(target.resultBytesMax + 1)))).toMatchObject({
      tag: 'Counts',
      outcome: { tag: 'Failed', reason: 'ResultTooLarge' },
    });
  });

  test('that the run has no room for is ResultTooLarge', () => {
    expect(check(completed('123'), {}, { roomBytes: 3 })).toMatchObject({ outcome: { tag: 'Completed' } });
    expect(check(completed('1234'), {}, { roomBytes: 3 })).toMatchObject({
      outcome: {
        tag: 'Failed',
        reason: 'ResultTooLarge',
        message: expect.stringContaining('the run would hold'),
      },
    });
  });

  test('at the limit of messages and ids counts, and one byte past it is refused', () => {
    const message = 'm'.repeat(limits.messageBytesMax);
    for (const outcome of [
      { tag: 'Failed', reason: 'ToolError', message } as const,
      { tag: 'Denied', message } as const,
    ]) {
      expect(check(outcome)).toEqual({ tag: 'Counts', outcome });
      expect(check({ ...outcome, message: `${message}m` })).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    const operationId = 'o'.repeat(limits.idBytesMax);
    expect(check(completed(), { operationId }).tag).toBe('Counts');
    expect(check(completed(), { operationId: `${operationId}o` })).toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    expect(check({ tag: 'InputRequired', operationId }).tag).toBe('Counts');
    expect(check({ tag: 'InputRequired', operationId: `${operationId}o` })).toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  test('that is unknown fails as OutcomeUnknown and says what to do', () => {
    expect(check({ tag: 'Unknown', message: 'The core restarted.' })).toEqual({
      tag: 'Counts',
      outcome: {
        tag: 'Failed',
        reason: 'OutcomeUnknown',
        message:
          'The core restarted. The call was sent before, and nobody knows whether it was performed. ' +
          'Look whether it took effect before calling again.',
      },
    });
  });

  test('that needs input names an operation: its own, the one reported, or the call', () => {
    const input = (operationId: string) => ({ tag: 'InputRequired', operationId }) as const;
    expect(check(input('op-1'), { operationId: 'op-2' })).toMatchObject({ outcome: { operationId: 'op-1' } });
    expect(check(input(''), { operationId: 'op-2' })).toMatchObject({ outcome: { operationId: 'op-2' } });
    expect(check(input(''))).toMatchObject({ outcome: { operationId: 'call-9:3' } });
  });
});
