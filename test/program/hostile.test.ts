/**
 * Programs that attack the reader: nesting, ambiguity, masses of names. Each gets an answer in bounded time (the
 * timeout of a test is the bound; before the limits single ones of these took half a minute, or for ever), and
 * the next program is not affected.
 */
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { limits } from '../../services/shared/limits.ts';

const repeated = [
  // Nesting.
  ...[
    '[',
    '(',
    '{',
    '!',
    '-',
    '...',
    'a=>',
    '(a)=>',
    '()=>{',
    'async()=>',
    'if(1)',
    'for(;;)',
    'do ',
    'try{',
    'l:',
  ],
  ...[
    'new ',
    'await ',
    'a**',
    'x=',
    'a?a:',
    'a?(b):',
    '({a:',
    'let [',
    'class extends ',
    'function f(){',
    'switch(a){case 1:',
  ],
  ...['`${', 'class A{#b;c(){this.#b;', 'export default ', '/(?<a>', 'x?.[', 'a+', 'a.b'],
  // Types, and what could be types.
  ...[
    'a<',
    'f<T<',
    'x<(',
    '<T>(x:',
    'async<T>(',
    'async(',
    '(a:',
    'a?(b=>',
    '(a?(',
    'let x:A<',
    'let x:()=>',
    'let x:[',
    'let x:{a:',
  ],
  ...[
    'let x: A extends ',
    'let x:A|',
    'a as ',
    'a satisfies ',
    'x!',
    'type A=',
    'enum A{',
    'namespace A{',
    'abstract class A{',
    'declare ',
    '@(a',
  ],
  // Masses.
  ...[
    'a;',
    '{a}',
    'let a;',
    'var a;',
    'a:',
    '/(?<a>b)/;',
    'function f(a){}',
    'export {a as b};',
    '\\u0061',
    '😀',
    '\n',
    '\r',
    '\u2028',
  ],
  // Fences, comments, strings.
  ...['```\n', '```js\n', '`', '`\n```\n', '/*\n```\n', '/*', '//\n', '"', '<!--', '#!', '<number>('],
];

const numbered: Record<string, (index: number) => string> = {
  declarations: (index) => `let a${index};`,
  functions: (index) => `function a${index}(){}`,
  exports: (index) => `export const a${index}=1;`,
  labels: (index) => `a${index}:`,
};

function fill(piece: (index: number) => string, size: number, before = '', after = ''): string {
  let text = before;
  for (let index = 0; text.length < size; index += 1) text += piece(index);
  return text + after;
}

/** Far more than any of it takes, also on a machine that is busy with other things. */
const timeoutMs = 120_000;

describe('a hostile program', () => {
  test.each([
    ['JavaScript', ''],
    ['TypeScript', 'let first: number;'],
  ])('gets an answer, read as %s', { timeout: timeoutMs }, (_language, before) => {
    for (const piece of repeated) {
      for (const size of [1000, limits.typedProgramBytesMax / 4]) {
        const result = normalizeProgram(fill(() => piece, size, before));
        expect(result.ok || result.error.message).toBeTruthy();
      }
    }
  });

  test.each(Object.entries(numbered))('with masses of %s gets an answer', (_what, piece) => {
    const result = normalizeProgram(fill(piece, limits.codeBytesMax - 100));
    expect(result.ok || result.error.message).toMatch(/more than 250000 words and signs|nested too deeply/);
  });

  test('with masses of names in one place gets an answer', () => {
    const size = limits.codeBytesMax / 2;
    expect(normalizeProgram(fill((index) => `#a${index};`, size, 'class A {', '}')).ok).toBe(true);
    expect(normalizeProgram(fill((index) => `(?<a${index}>x)`, size, '/', '/')).ok).toBe(true);
  });

  test('of comments alone, and one object after them, gets an answer', () => {
    const comments = '/**/ '.repeat(100_000);
    expect(normalizeProgram(`${comments}{ a: 1, b: 2 }`)).toMatchObject({ ok: true });
    expect(normalizeProgram(`${'\n'.repeat(500_000)}{ a: 1, b: 2 }`)).toMatchObject({ ok: true });
    expect(normalizeProgram(`export ${comments} default 1;`)).toMatchObject({ ok: true });
  });

  test('that takes the names which are made up gets an answer', () => {
    const taken = `export default 1;\nconst a = ${'$default'.padEnd(limits.codeBytesMax - 100, '$')};`;
    expect(normalizeProgram(taken)).toMatchObject({ ok: true });
  });

  test('that nests too deeply says so', () => {
    const nested = `return ${'['.repeat(50_000)}${']'.repeat(50_000)};`;
    const result = normalizeProgram(nested);
    expect(result).toMatchObject({
      ok: false,
      error: { message: 'Syntax error: nested too deeply', line: 1 },
    });
  });

  test('leaves the next program alone', () => {
    normalizeProgram(`let a: number = ${'['.repeat(30_000)}`);
    normalizeProgram(`let a: ${'A<'.repeat(30_000)}`);
    expect(normalizeProgram('const a: number = 1;\nreturn a;')).toMatchObject({ ok: true });
  });

  test('of ordinary nesting is understood', () => {
    const nested = `return ${'['.repeat(200)}${']'.repeat(200)};`;
    expect(normalizeProgram(nested)).toMatchObject({ ok: true, program: { text: nested } });
    expect(normalizeProgram(`let a: number;\n${nested}`)).toMatchObject({ ok: true });
  });

  test('is refused one byte past the limit', () => {
    const fits = `return 1;${' '.repeat(limits.codeBytesMax - 9)}`;
    expect(normalizeProgram(fits)).toMatchObject({ ok: true });
    expect(normalizeProgram(`${fits} `)).toMatchObject({
      ok: false,
      error: { message: 'Syntax error: the program is larger than 1048576 bytes', line: 1, column: 1 },
    });
  });

  test('with types is refused one byte past its limit', () => {
    const typed = 'let a: number = 1;';
    const fits = typed + ' '.repeat(limits.typedProgramBytesMax - typed.length);
    expect(normalizeProgram(fits)).toMatchObject({ ok: true });
    expect(normalizeProgram(`${fits} `)).toMatchObject({
      ok: false,
      error: {
        message: 'Syntax error: not JavaScript, and a program with types may have at most 65536 bytes',
        line: 1,
        column: 6,
      },
    });
  });

  test('is refused one token past the limit', () => {
    // Each `;` is one token, and the end is read twice.
    const fits = ';'.repeat(limits.programTokensMax - 2);
    expect(normalizeProgram(fits)).toMatchObject({ ok: true });
    expect(normalizeProgram(`${fits};`)).toMatchObject({
      ok: false,
      error: { message: 'Syntax error: more than 250000 words and signs' },
    });
  });
});
