/** What an attack's head may state beside its end, and how each statement is checked. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { completed, type Ran, type RunOptions } from '../sandbox/kit.ts';
import type { Attack } from './catalogue.ts';

const messageBytesMax = 16 * 1024;

type Check = (ran: Ran, stated: string) => void;

const checks: Readonly<Record<string, Check>> = {
  Value: (ran, stated) => {
    if (ran.reason === 'RETURNED') expect(ran.value).toEqual(JSON.parse(stated));
  },
  ValueHasOwnProto: (ran) => expect(Object.keys(ran.value as object)).toEqual(['__proto__']),
  Message: (ran, stated) => expect(ran.end.message).toMatch(new RegExp(stated, 'i')),
  MessageInValue: (ran, stated) => expect(ran.value).toContain(stated),
  MessageAtMost: (ran, stated) => {
    expect(Buffer.byteLength(ran.end.message)).toBeLessThanOrEqual(Number(stated));
    expect(Buffer.byteLength(ran.end.errorName)).toBeLessThanOrEqual(Number(stated));
  },
  Error: (ran, stated) => expect(ran.end.errorName).toBe(stated),
  Readable: (ran) => {
    expect(ran.end.message).toMatch(/\w/);
    expect(ran.end.errorName).toMatch(/^\w*$/);
  },
  Position: (ran) => expect(ran.end.line).toBeGreaterThan(0),
  Log: (ran, stated) => expect(ran.logs.join('\n')).toMatch(new RegExp(stated, 'i')),
  CallsAtMost: (ran, stated) => expect(ran.calls.length).toBeLessThanOrEqual(Number(stated)),
  CallsExactly: (ran, stated) => expect(ran.calls).toHaveLength(Number(stated)),
  AtOnce: (ran) => expect(ran.end.cpuMs).toBeLessThan(200),
};

/** Statements about how the attack is run. */
const settings: readonly string[] = ['Timeout', 'AnswerAfter', 'ResultMb'];

/** What fills memory needs more time for it than a loop needs to show that it is one, and half of it will do. */
const limitsByGroup: Readonly<Record<string, { timeoutMs: number; memoryMb: number }>> = {
  memory: { timeoutMs: 5000, memoryMb: 32 },
};
const limitsElsewhere = { timeoutMs: 400, memoryMb: 64 };

export function optionsOf({ name, stated }: Attack): RunOptions {
  const initial = limitsByGroup[name.slice(0, name.indexOf('/'))] ?? limitsElsewhere;
  const limits = { ...initial, timeoutMs: Number(stated.get('Timeout') ?? initial.timeoutMs) };
  const resultMb = stated.get('ResultMb');
  const answerAfter = stated.get('AnswerAfter');
  if (resultMb !== undefined) {
    const outcome = completed('x'.repeat(Number(resultMb) * 1024 * 1024));
    return { ...limits, answer: () => outcome };
  }
  if (answerAfter !== undefined) {
    // An app that takes its time is the attack itself.
    return { ...limits, answer: () => delay(Number(answerAfter), completed({})) };
  }
  return limits;
}

export function check(attack: Attack, ran: Ran): void {
  expect(attack.ends, `${ran.end.errorName}: ${ran.end.message.slice(0, 200)}`).toContain(ran.reason);
  for (const [word, stated] of attack.stated) {
    const known = checks[word];
    if (known !== undefined) known(ran, stated);
    else if (!settings.includes(word)) throw new Error(`${attack.name} states ${word}, which nothing checks`);
  }
  expect(Buffer.byteLength(ran.end.message)).toBeLessThanOrEqual(messageBytesMax);
  // Calls are numbered without a gap, whatever the program did.
  expect(ran.calls.map((call) => call.index)).toEqual(ran.calls.map((_, index) => index));
}
