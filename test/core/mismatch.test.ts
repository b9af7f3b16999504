import { describe, expect, test } from 'vitest';
import { jsonDifferences } from '../../services/code-run/core/json-diff.ts';
import type { CalledEntry } from '../../services/code-run/core/ledger.ts';
import {
  type Divergence,
  describeMismatch,
  type MismatchContext,
} from '../../services/code-run/core/mismatch.ts';
import { limits } from '../../services/shared/limits.ts';
import { bindings, called, issued } from './parts.ts';

const context: MismatchContext = {
  bindings,
  currentBindings: bindings,
  recordedFingerprint: 'v8 14.6',
  fingerprint: 'v8 14.6',
};
const recorded = called(3, '{"id":"a","to":["x","y"],"n":1}') as CalledEntry;
const source = bindings[0]?.source;

function describeIt(divergence: Divergence, more: Partial<MismatchContext> = {}): readonly string[] {
  return describeMismatch(divergence, { ...context, ...more }).message.split('\n');
}

const unknownCause =
  'Likely cause: the program or the stored run was changed, or the program found a way to depend on ' +
  'something that differs between attempts, such as memory or the depth of the stack.';

describe('a mismatch', () => {
  test('says what was recorded and attempted, where, and field by field how they differ', () => {
    const call = issued(3, '{"id":"b","to":["x"],"m":null}', 'notes.send');
    const divergence = { tag: 'Other', recorded, attempted: { call, source: bindings[1]?.source } } as const;
    expect(describeIt(divergence)).toEqual([
      'The program did not make the same calls as in an earlier attempt: call 3, line 4. Nothing was sent.',
      'Recorded: call 3 to notes.read (tool read of conn-7 "Notes"), line 4',
      'Attempted: call 3 to notes.send (tool send of conn-7 "Notes"), line 4',
      'Differences (recorded → attempted):',
      '  binding: notes.read → notes.send',
      '  source.name: read → send',
      '  arguments.id: "a" → "b"',
      '  arguments.to[1]: "y" → nothing',
      '  arguments.n: 1 → nothing',
      '  arguments.m: nothing → null',
      unknownCause,
    ]);
    expect(describeMismatch(divergence, context)).toMatchObject({ index: 3, line: 4, column: 1 });
  });

  test('says that a recorded call was not made, and how the program ended instead', () => {
    expect(describeIt({ tag: 'Missing', recorded, ended: 'The program returned.' })).toEqual([
      'The program did not make the same calls as in an earlier attempt: call 3, line 4. Nothing was sent.',
      'Recorded: call 3 to notes.read (tool read of conn-7 "Notes"), line 4',
      'Attempted: no call. The program returned.',
      unknownCause,
    ]);
    expect(describeIt({ tag: 'Missing', recorded, ended: undefined })[2]).toBe(
      'Attempted: no call. The program waits for the outcomes of its calls so far.',
    );
  });

  test('says that a call was made where none is recorded', () => {
    const attempted = { call: issued(4), source };
    expect(describeIt({ tag: 'Extra', attempted, before: 2 }).slice(1, 3)).toEqual([
      'Recorded: no call. The program got the outcome of call 2 next.',
      'Attempted: call 4 to notes.read (tool read of conn-7 "Notes"), line 5',
    ]);
    expect(describeIt({ tag: 'Extra', attempted, before: undefined })[1]).toBe(
      'Recorded: no call. The program waited for the outcomes of its calls so far.',
    );
  });

  test('names another sandbox as the likely cause', () => {
    const lines = describeIt({ tag: 'Missing', recorded, ended: undefined }, { fingerprint: 'v8 15.0' });
    expect(lines.at(-1)).toBe(
      'Likely cause: the sandbox was updated between the attempts (from v8 14.6 to v8 15.0).',
    );
  });

  test('names a changed catalog as a likely cause', () => {
    const gone = describeIt({ tag: 'Missing', recorded, ended: undefined }, { currentBindings: [] });
    expect(gone.at(-1)).toBe(
      'Likely cause: the catalog changed since the run started: notes.read is no longer in it. ' +
        'The run keeps the names it started with.',
    );
    const currentBindings = bindings.map((binding) => ({
      ...binding,
      source: { ...binding.source, connectionId: 'conn-8' },
    }));
    const moved = describeIt({ tag: 'Missing', recorded, ended: undefined }, { currentBindings });
    expect(moved.at(-1)).toContain('notes.read would now mean tool read of conn-8 "Notes"');
  });

  test('stays within the limit of messages, whatever the arguments', () => {
    const long = JSON.stringify(
      Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${'k'.repeat(400)}${n}`, n])),
    );
    const call = issued(3, long);
    const { message } = describeMismatch({ tag: 'Other', recorded, attempted: { call, source } }, context);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limits.messageBytesMax);
    expect(message).toContain('call 3, line 4');
  });
});

describe('differences of JSON', () => {
  test('are found by path, with keys that are no identifiers in quotes', () => {
    expect(jsonDifferences('a', '{"x y":[{"k":1}],"ä":2}', '{"x y":[{"k":2}],"ä":2}', 8)).toEqual({
      differences: [{ path: 'a["x y"][0].k', recorded: '1', attempted: '2' }],
      more: 0,
    });
  });

  test('tell an absent key from null, and an object from an array', () => {
    expect(jsonDifferences('a', '{"k":null,"l":{}}', '{"l":[]}', 8).differences).toEqual([
      { path: 'a.k', recorded: 'null', attempted: 'nothing' },
      { path: 'a.l', recorded: '{}', attempted: '[]' },
    ]);
  });

  test('of the order of keys alone show the texts', () => {
    expect(jsonDifferences('a', '{"k":1,"l":2}', '{"l":2,"k":1}', 8).differences).toEqual([
      { path: 'a', recorded: '{"k":1,"l":2}', attempted: '{"l":2,"k":1}' },
    ]);
  });

  test('are cut in number and in length', () => {
    const list = (n: number) => JSON.stringify(Array.from({ length: 20 }, () => n));
    const many = jsonDifferences('a', list(1), list(2), 8);
    expect(many.differences).toHaveLength(8);
    expect(many.more).toBe(12);
    const long = jsonDifferences('a', JSON.stringify('x'.repeat(1000)), '1', 8);
    expect(long.differences[0]?.recorded).toBe(`"${'x'.repeat(79)}… (1002 characters)`);
  });

  test('survive keys that mean something to objects', () => {
    expect(jsonDifferences('a', '{"__proto__":1}', '{"constructor":1}', 8).differences).toEqual([
      { path: 'a.__proto__', recorded: '1', attempted: 'nothing' },
      { path: 'a.constructor', recorded: 'nothing', attempted: '1' },
    ]);
  });
});
