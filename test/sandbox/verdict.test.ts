import { describe, expect, test } from 'vitest';
import { endKind } from '../../services/sandbox/isolate/frames.ts';
import type { ExitFacts } from '../../services/sandbox/pool/child.ts';
import { verdictOfEnd, verdictOfExit } from '../../services/sandbox/pool/verdict.ts';

const limits = { timeoutMs: 30_000, memoryMb: 64, outputBytes: 1024 };
const exit = (facts: Partial<ExitFacts>): ExitFacts => ({
  code: undefined,
  signal: undefined,
  cpuMs: 1,
  residentKb: 30_000,
  ...facts,
});

describe('without an end frame the verdict is', () => {
  test.for<[string, Partial<ExitFacts>]>([
    ['Timeout', { signal: 'SIGPROF' }],
    ['Memory', { signal: 'SIGABRT' }],
    ['Memory', { signal: 'SIGTRAP' }],
    ['Memory', { signal: 'SIGSEGV', residentKb: 200_000 }],
    ['Lost', { signal: 'SIGSEGV' }],
    ['Lost', { signal: 'SIGSEGV', residentKb: undefined }],
    ['Lost', { signal: 'SIGILL' }],
    ['Lost', { signal: 'SIGKILL' }],
    ['Lost', { signal: 'SIGKILL', cpuMs: 30_000 }],
    ['Timeout', { signal: 'SIGKILL', cpuMs: 30_001 }],
    ['Lost', { signal: 'SIGKILL', cpuMs: undefined }],
    ['Lost', { code: 0 }],
    ['Lost', {}],
    ['Violation', { signal: 'SIGSYS' }],
  ])('%s for %o', ([reason, facts]) => {
    expect(verdictOfExit(exit(facts), undefined, limits).reason).toBe(reason);
  });

  test('Timeout once the backstop fired, however the process went', () => {
    expect(verdictOfExit(exit({ signal: 'SIGKILL' }), 'BackstopFired', limits).reason).toBe('Timeout');
  });

  test('Violation once the child broke the protocol, however the process went', () => {
    for (const facts of [{ code: 0 }, { signal: 'SIGPROF' }] as const) {
      expect(verdictOfExit(exit(facts), 'BrokeProtocol', limits).reason).toBe('Violation');
    }
  });
});

test('an end frame says how the program ended, and its words have no say', () => {
  const end = { line: 3, column: 7, name: 'Error', value: Buffer.alloc(0) };
  const message = 'Isolate was disposed during execution due to memory limit';
  expect(verdictOfEnd({ ...end, kind: endKind.threw, message }, limits)).toEqual({
    reason: 'Error',
    message,
    errorName: 'Error',
    line: 3,
    column: 7,
  });
  expect(verdictOfEnd({ ...end, kind: endKind.memory, message: '' }, limits).message).toMatch(/64 MB/);
  expect(verdictOfEnd({ ...end, kind: endKind.outputTooLarge, message: '2048' }, limits).message).toBe(
    'The program returned 2048 bytes of JSON, more than the limit of 1024. Return less: filter, count or sum up inside the program.',
  );
});
