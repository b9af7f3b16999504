/** What stands in clear as JSON in the row of a run, and may have been changed there. */
import type { Attempt, WaitingCall } from '../../core/model.ts';
import { Unauthentic } from '../../crypto/envelope.ts';
import { isCount, isTime } from '../row-shapes.ts';

export function readWaiting(text: string): WaitingCall[] {
  return list(text, 'waiting calls').map(({ index, operationId, after }) => {
    if (!isCount(index) || !isCount(after)) throw changed('waiting calls');
    if (operationId !== undefined && typeof operationId !== 'string') throw changed('waiting calls');
    return { index, ...(operationId !== undefined && { operationId }), after } as WaitingCall;
  });
}

export function readAttempts(text: string): Attempt[] {
  return list(text, 'attempts').map((given) => {
    const { number, startedAtMs, endedAtMs, cpuMs, memoryBytes, replayedCalls, fingerprint } = given;
    const fits =
      [number, replayedCalls].every(isCount) &&
      [startedAtMs, endedAtMs ?? 0, memoryBytes].every(isTime) &&
      typeof cpuMs === 'number' &&
      cpuMs >= 0 &&
      cpuMs <= 2 ** 31 &&
      typeof fingerprint === 'string';
    if (!fits) throw changed('attempts');
    return {
      ...{ number, startedAtMs, ...(endedAtMs !== undefined && { endedAtMs }) },
      ...{ cpuMs, memoryBytes, replayedCalls, fingerprint },
    } as Attempt;
  });
}

function list(text: string, what: string): Record<string, unknown>[] {
  const items: unknown = JSON.parse(text);
  if (!Array.isArray(items) || !items.every((item) => typeof item === 'object' && item !== null)) {
    throw changed(what);
  }
  return items;
}

function changed(what: string): Unauthentic {
  return new Unauthentic(`its ${what} were changed`);
}
