import { describe, expect, test } from 'vitest';
import { hintPolicy, parsePolicy, ruleFor } from '../../services/reference-core/operations/policy.ts';
import type { Source } from '../../services/reference-core/words.ts';

const tool = (name: string, connectionName = 'files'): Source => ({
  connectionId: connectionName,
  connectionName,
  kind: 'tool',
  name,
});

const policy = parsePolicy(
  JSON.stringify({
    connections: {
      files: { 'read_*': 'allow', read_secret: 'deny', '*': 'ask', '*_file': 'deny', 'read_*_file': 'ask' },
      'a.b': { '*': 'deny' },
    },
  }),
  'policy.json',
);

describe('a policy', () => {
  test.each([
    ['read_text', 'allow'],
    ['read_secret', 'deny'],
    ['move', 'ask'],
    ['write_file', 'deny'],
    ['read_text_file', 'ask'],
    ['xread_', 'ask'],
  ])('says of %s: %s', (name, expected) => {
    expect(ruleFor(policy, tool(name), true)).toBe(expected);
  });

  test('takes patterns literally but for the star', () => {
    expect(ruleFor(policy, tool('x', 'a.b'), true)).toBe('deny');
    expect(ruleFor(policy, tool('x', 'acb'), true)).toBe('allow');
    const dotted = parsePolicy('{"connections":{"c":{"a.b":"deny","a+(*":"deny"}}}', 'p');
    expect(ruleFor(dotted, tool('axb', 'c'), true)).toBe('allow');
    expect(ruleFor(dotted, tool('a+(\nz', 'c'), true)).toBe('deny');
  });

  test('without a rule follows the hints, or its default', () => {
    expect([true, false].map((readOnly) => ruleFor(hintPolicy, tool('x'), readOnly))).toEqual([
      'allow',
      'ask',
    ]);
    for (const rule of ['allow', 'ask', 'deny'] as const) {
      const fixed = parsePolicy(JSON.stringify({ default: rule }), 'p');
      expect([true, false].map((readOnly) => ruleFor(fixed, tool('x'), readOnly))).toEqual([rule, rule]);
    }
  });

  test.each([
    ['{x', 'policy.json is not JSON: it cannot be read at line 1, column 2'],
    ['{"default":"maybe"}', 'policy.json: default: must be "readOnly", "allow", "ask" or "deny"'],
    [
      '{"connections":{"files":{"write":"never"}}}',
      'policy.json: connections.files.write: must be "allow", "ask" or "deny"',
    ],
    ['{"rules":[]}', 'policy.json: knows no "rules"'],
  ])('that is wrong is refused with the field: %s', (json, message) => {
    expect(() => parsePolicy(json, 'policy.json')).toThrow(message);
  });
});
