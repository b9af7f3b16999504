/** Lines never move, and every column of the normalized program can be undone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insert } from '../../services/code-run/program/edits.ts';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { positionAsWritten, positionOf } from '../../services/code-run/program/position.ts';

describe('a position', () => {
  test('in what was written is found again in spite of every insertion', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\n', '\r', '\r\n', '\u2028', '😀'),
      maxLength: 60,
    });
    const pieces = fc.array(fc.tuple(fc.nat(60), fc.constantFrom('x', 'return ', ')()')), { maxLength: 6 });
    fc.assert(
      fc.property(text, pieces, (written, inserted) => {
        // Not between CR and LF: no token ends there.
        const insertions = inserted
          .map(([at, piece]) => ({ at: Math.min(at, written.length), text: piece }))
          .filter(({ at }) => !(written[at - 1] === '\r' && written[at] === '\n'))
          .sort((a, b) => a.at - b.at);
        const { text: normalized, columnShifts } = insert(written, insertions);
        for (let offset = 0; offset <= written.length; offset += 1) {
          const moved = insertions
            .filter(({ at }) => at <= offset)
            .reduce((sum, { text: piece }) => sum + piece.length, 0);
          const found = positionAsWritten(columnShifts, positionOf(normalized, offset + moved));
          expect(found).toEqual(positionOf(written, offset));
        }
      }),
    );
  });

  test('inside an insertion is the place of the insertion', () => {
    const { columnShifts } = insert('a b', [{ at: 2, text: 'return ' }]);
    expect(columnShifts).toEqual([{ line: 1, column: 3, length: 7 }]);
    expect(positionAsWritten(columnShifts, { line: 1, column: 6 })).toEqual({ line: 1, column: 3 });
  });

  test('of two insertions in one line is undone one after the other', () => {
    const result = normalizeProgram('  async () => boom()  // why');
    if (!result.ok) throw new Error(result.error.message);
    expect(result.program).toEqual({
      text: '  return (async () => boom())()  // why',
      columnShifts: [
        { line: 1, column: 3, length: 8 },
        { line: 1, column: 29, length: 3 },
      ],
    });
    const at = (column: number) => positionAsWritten(result.program.columnShifts, { line: 1, column }).column;
    expect([1, 3, 10, 11, 23, 28, 29, 32, 34]).toEqual([1, 3, 10, 11, 23, 28, 29, 32, 34]);
    expect([1, 3, 10, 11, 23, 29, 31, 32, 34].map(at)).toEqual([1, 3, 3, 3, 15, 21, 21, 21, 23]);
  });
});
