/** Errors that programs end with, and the next step that an agent reads beside each. */
import { describe, expect, test } from 'vitest';
import { finishedText } from '../../services/code-run/agent/run-text.ts';
import type { JournalEntry } from '../../services/code-run/core/model.ts';
import { binding, called, done, record, settled } from './records.ts';

function adviceOf(message: string, code = 'return 1;', journal: readonly JournalEntry[] = []): string {
  const result = { tag: 'Failed', reason: 'Error', message, line: 0, column: 0, logs: [] } as const;
  const [first, ...lines] = finishedText(record(result, journal, { code })).split('\n');
  expect(first).toBe(`Failed (Error): ${message}`);
  const end = lines.findIndex((line) => line === '' || line.startsWith('The calls below'));
  return lines.slice(0, end < 0 ? lines.length : end).join('\n');
}

const oneCall = [called(0, 'notes.read_note'), settled(0, done)];
const look =
  'Look at what notes.read_note gives before you use it: console.log it, or openbot_code_api {"binding": "notes.read_note"}.';

describe('the advice of a failure', () => {
  test.each([
    [
      'a variable that was not declared',
      'ReferenceError: sum is not defined',
      'sum = 1;\nreturn sum;',
      'A variable must be declared: const sum = …',
    ],
    [
      'a comparison with nothing',
      'ReferenceError: sum is not defined',
      'return sum === 1;',
      'A program has the language, console and apps: apps.notes, apps.mail.',
    ],
    [
      'a tool of the agent',
      'ReferenceError: openbot_code_api is not defined',
      'openbot_code_api({});',
      'openbot_code_api is a tool of its own, beside this one. A program calls apps alone.',
    ],
    [
      'anything else',
      'ReferenceError: widgets is not defined',
      'widgets.x();',
      'A program has the language, console and apps: apps.notes, apps.mail.',
    ],
    [
      'apps called as a function',
      'TypeError: apps is not a function',
      'apps("x");',
      'Call a function of a connection: apps.<connection>.<function>({ … }), or apps.call("connection.function", { … }).',
    ],
    [
      'a connection called as a function',
      'TypeError: apps.notes is not a function',
      'apps.notes({});',
      'Call a function of a connection: apps.<connection>.<function>({ … }), or apps.call("connection.function", { … }).',
    ],
  ])('says what was meant by %s', (_what, message, code, advice) => {
    expect(adviceOf(message, code)).toBe(advice);
  });

  test.each([
    "TypeError: Cannot read properties of undefined (reading 'length')",
    "TypeError: Cannot read properties of null (reading 'id')",
    'TypeError: r.content.items is not iterable',
    'TypeError: r.content.filter is not a function',
    "TypeError: Cannot destructure property 'id' of 'r.note' as it is undefined.",
    `SyntaxError: Unexpected token 'N', "No note" is not valid JSON`,
    'SyntaxError: Unexpected end of JSON input',
  ])('says where to look after a call: %s', (message) => {
    expect(adviceOf(message, 'return 1;', oneCall)).toBe(look);
    expect(adviceOf(message)).toBe('');
  });

  test.each([
    // What the message says is enough, or nothing is known.
    'ReferenceError: notes is not defined. Did you mean apps.notes?',
    'ReferenceError: fetch is not defined. Programs have no network: call the apps (Object.keys(apps) lists them) instead.',
    'TypeError: f is not a function',
    'TypeError: r.map is not a function. A call had not settled yet when this happened: a call gives a promise, so await it before using its result.',
    'TypeError: apps.notes.nope does not exist. Did you mean apps.notes.read_note?',
    'RangeError: Invalid array length',
    'Error: there is no note',
  ])('says nothing where the message says it: %s', (message) => {
    expect(adviceOf(message, 'return 1;', oneCall)).toBe('');
  });

  test('names at most ten connections', () => {
    const bindings = Array.from({ length: 12 }, (_, index) => binding(`c${index}.x`));
    const result = {
      tag: 'Failed',
      reason: 'Error',
      message: 'ReferenceError: y is not defined',
      line: 0,
      column: 0,
      logs: [],
    } as const;
    const text = finishedText(record(result, [], { bindings }));
    expect(text).toContain('apps.c8, apps.c9, ….');
    expect(text).not.toContain('c10');
  });
});
