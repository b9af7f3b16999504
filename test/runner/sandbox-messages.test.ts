import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { ExecuteResponseSchema } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { inBatches, toEvents, toJob, toRequest } from '../../services/code-run/runner/sandbox-messages.ts';
import { initialCallLimits } from '../../services/shared/limits.ts';
import { bindings } from './parts.ts';

function events(message: MessageInitShape<typeof ExecuteResponseSchema>['message']) {
  return toEvents(create(ExecuteResponseSchema, { message: message ?? { case: undefined } }));
}

const done = (index: number, chars: number) => ({
  index,
  outcome: { tag: 'Completed', valueJson: 'x'.repeat(chars) } as const,
});

describe('messages of the sandbox', () => {
  test('say all of a job, with the names as the apps have them', () => {
    const job = toJob({
      program: { text: 'return "ä"', columnShifts: [{ line: 1, column: 2, length: 3 }] },
      createdAtMs: 5,
      seed: new Uint8Array(16),
      limits: { timeoutMs: 1, memoryMb: 2, outputBytes: 3, ...initialCallLimits },
      bindings: bindings.slice(0, 1),
    });
    expect(job).toMatchObject({
      program: Buffer.from('return "ä"'),
      createdAtMs: 5n,
      columnShifts: [{ line: 1, column: 2, length: 3 }],
      bindings: [{ connection: 'notes', capability: 'read', connectionRaw: 'Notes', capabilityRaw: 'read' }],
    });
  });

  test('take one outcome as it is and several together', () => {
    expect(toRequest([done(3, 1)]).message).toMatchObject({ case: 'outcome', value: { index: 3 } });
    expect(toRequest([done(3, 1), done(4, 1)]).message).toMatchObject({
      case: 'outcomes',
      value: { outcomes: [{ index: 3 }, { index: 4 }] },
    });
  });

  test('stay small: what is large goes alone, and nothing is lost or moved', () => {
    const outcomes = [done(0, 10), done(1, 1_000_000), done(2, 10), done(3, 200_000), done(4, 200_000)];
    const batches = [...inBatches(outcomes)].map((batch) => batch.map(({ index }) => index));
    expect(batches).toEqual([[0], [1], [2, 3], [4]]);
    expect([...inBatches([])]).toEqual([]);
  });

  test('give steps in order, with what they cost', () => {
    const steps = [
      { delivered: 0, calls: [], logs: [], atRest: true, cpuMs: 7, memoryBytes: 8n },
      { delivered: 1, calls: [{ index: 0, argumentsJson: Buffer.from('"ä"') }], atRest: false },
    ];
    expect(events({ case: 'steps', value: { steps } })).toMatchObject([
      { tag: 'Step', delivered: 0, atRest: true, cost: { cpuMs: 7, memoryBytes: 8 } },
      { tag: 'Step', delivered: 1, atRest: false, calls: [{ argumentsJson: '"ä"' }] },
    ]);
  });

  test('that cannot be are a violation', () => {
    const violation = [{ tag: 'End', end: { reason: 'Violation' } }];
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(events({ case: 'step', value: { calls: [{ argumentsJson: bytes }] } })).toMatchObject(violation);
    expect(events({ case: 'end', value: { reason: 1, valueJson: bytes } })).toMatchObject(violation);
    expect(events({ case: 'end', value: { reason: 0 } })).toMatchObject(violation);
    expect(events(undefined)).toMatchObject(violation);
  });
});
