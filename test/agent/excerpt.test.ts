import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerpt } from '../../services/code-run/agent/excerpt.ts';

describe('an excerpt', () => {
  test.each<[string, string, number, number, string[]]>([
    ['of the first line', 'abc\ndef', 1, 1, ['1 | abc', '    ^']],
    ['of the last line', 'abc\r\ndef', 2, 3, ['2 | def', '      ^']],
    ['behind the last character', 'abc', 1, 4, ['1 | abc', '       ^']],
    ['of an empty line', 'a\n\nb', 2, 1, ['2 | ', '    ^']],
    ['of no line', 'abc', 2, 1, []],
    ['of no column', 'abc', 1, 9, []],
    ['of an unknown place', 'abc', 0, 0, []],
    ['with tabs', '\t\tab', 1, 4, ['1 | \t\tab', '    \t\t ^']],
  ])('%s', (_what, code, line, column, lines) => {
    expect(excerpt(code, line, column)).toEqual(lines);
  });

  test('of a long line is cut around the place', () => {
    const [line, mark] = excerpt(`${'a'.repeat(500)}X${'b'.repeat(500)}`, 1, 501);
    expect(line).toBe(`1 | …${'a'.repeat(60)}X${'b'.repeat(59)}…`);
    expect(line?.[mark?.indexOf('^') ?? -1]).toBe('X');
  });

  test('never cuts a character in two, and marks the place in any text', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '😀', '\t', '\n', '\u2028'), maxLength: 300 });
    fc.assert(
      fc.property(text, fc.nat(300), (code, offset) => {
        const at = Math.min(offset, code.length);
        const lines = code.slice(0, at).split(/[\n\u2028]/);
        const [line = '', mark = ''] = excerpt(code, lines.length, (lines.at(-1)?.length ?? 0) + 1);
        expect(line.isWellFormed()).toBe(true);
        const character = code[at] === '\n' || code[at] === '\u2028' ? '' : (code[at] ?? '');
        expect(line.slice(mark.length - 1).startsWith(character)).toBe(true);
      }),
    );
  });
});
