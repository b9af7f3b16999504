/** A program that parses as JavaScript is left alone, and whatever is understood is a body that compiles. */
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { fuzzRuns, fuzzTimeoutMs } from './fuzz.ts';

/** Whether the engine takes the text as the body of a strict async function. Compiles, never runs. */
function compiles(body: string): boolean {
  try {
    new Script(`"use strict"; (async () => {${body}\n})`);
    return true;
  } catch {
    return false;
  }
}

const name = fc.constantFrom('a', 'b', 'items', 'apps', 'async', 'of', 'type', 'as', 'get');
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    name,
    fc.constantFrom(
      '1',
      '"x"',
      "'```'",
      '`y`',
      '/r/g',
      'null',
      '1n',
      '-1',
      '() => {}',
      'async () => 1',
      '[]',
      '{}.x',
    ),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom(' + ', ' < ', ' > ', ' && ', ' ?? ', ', ', '\n  + '),
        tie('expression'),
      )
      .map((parts) => `(${parts.join('')})`),
    tie('expression').map((inner) => `(${inner}).b?.(c)`),
    tie('expression').map((inner) => `await apps.x.y({ a: ${inner} })`),
    tie('expression').map((inner) => `[${inner}, ...z]`),
    tie('expression').map((inner) => `(a ? (b) : ${inner})`),
    tie('expression').map((inner) => `\`t\${${inner}}\``),
    tie('expression').map((inner) => `async (x, { y } = {}) => { return ${inner}; }`),
    tie('expression').map((inner) => `function* (x) { yield ${inner}; }`),
  ),
}));

const statement = fc.oneof(
  fc
    .tuple(fc.constantFrom('const', 'let', 'var'), fc.nat(1e6), expression)
    .map(([kind, id, value]) => `${kind} v${id} = (${value});`),
  expression.map((value) => `if (${value}) { f(); }`),
  expression.map((value) => `for (const x of [${value}]) { continue; }`),
  expression.map((value) => `try { f(${value}) } catch { g() }`),
  expression.map((value) => `x.y = ${value};`),
  fc.nat(1e6).map((id) => `class C${id} extends Object { #p = 1; static s() { return new.target; } }`),
  fc.nat(1e6).map((id) => `async function f${id}(a) { return a; }`),
  fc.constantFrom('// ``` js', '/* ```\n*/', '', ';', 'l: { break l; }', 'throw new Error("x");'),
);

const body = fc
  .tuple(fc.array(statement, { maxLength: 6 }), fc.constantFrom('\n', '\r\n', ' \n\n', '\n\t'), expression)
  .map(([statements, separator, value]) => ({
    before: statements.map((text) => `${text}${separator}`).join(''),
    value,
  }));

describe('a plain program', () => {
  test('is left alone, byte for byte', { timeout: fuzzTimeoutMs }, () => {
    fc.assert(
      fc.property(body, ({ before, value }) => {
        const code = `${before}return ${value};`;
        fc.pre(compiles(code));
        expect(normalizeProgram(code)).toEqual({ ok: true, program: { text: code, columnShifts: [] } });
      }),
      { numRuns: fuzzRuns(300) },
    );
  });

  test('gets nothing but return before its last expression', { timeout: fuzzTimeoutMs }, () => {
    fc.assert(
      fc.property(body, ({ before, value }) => {
        const code = `${before}x(${value});`;
        fc.pre(compiles(code));
        expect(normalizeProgram(code)).toMatchObject({
          ok: true,
          program: { text: `${before}return x(${value});` },
        });
      }),
      { numRuns: fuzzRuns(300) },
    );
  });
});

describe("today's ECMAScript", () => {
  test.each([
    'using a = f();\nawait using b = g();',
    'return /(?i:a)(?<y>b)|(?<y>c)/v.test(x);',
    'class A { static #p = 1; static { this.#p++; } static has(o) { return #p in o; } accessor; get; set; static; async }',
    'a ??= 1_000n ** 2n; b &&= c?.[d]?.(e) ?? f; g ||= h; return a;',
    'try { f(); } catch { g(); }',
    'for await (const x of y) { continue; }',
    'const { a, ...rest } = { __proto__: null, async *m() { yield* n(); }, get [k]() { return super.x; } };',
    'label: { break label; }',
    'return new.target;',
    'return await import("x", { with: { type: "json" } });',
    'const let_ = async (async) => await async, of = 1, get = 2;',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
    'return `a${`b${c}`}` + String.raw`\\u`;',
    'const caf\u00e9 = 1, \\u0061b = 2, 变量 = 3;',
    'if (a) { function f() {} }',
  ])('is understood: %s', (code) => {
    expect(normalizeProgram(code)).toEqual({ ok: true, program: { text: code, columnShifts: [] } });
  });
});

const tokens = [
  'a',
  'b',
  'apps',
  'async',
  'await',
  'function',
  '=>',
  '(',
  ')',
  '{',
  '}',
  '[',
  ']',
  ',',
  ';',
  ':',
  '?',
  '!',
  '.',
  '=',
  '+',
  '-',
  '/',
  '<',
  '>',
  '`',
  '```',
  '~~~',
  '"',
  "'",
  '${',
  '//',
  '/*',
  '*/',
  '<!--',
  '#!',
  '@',
  '#p',
  '\\',
  '...',
  '*',
  '**',
  '&&',
  '??',
  '?.',
  '++',
  '1',
  '"s"',
  '/r/',
  '`t`',
  'return',
  'export',
  'default',
  'import',
  'from',
  'class',
  'extends',
  'const',
  'let',
  'var',
  'if',
  'for',
  'of',
  'in',
  'new',
  'type',
  'interface',
  'enum',
  'as',
  'satisfies',
  'declare',
  'namespace',
  'abstract',
  'get',
  'static',
  'yield',
  'using',
  'this',
  'super',
  'meta',
  ': number',
  '<T>',
  '<string>',
  '\n',
  '\r\n',
  '\u2028',
  '\uFEFF',
  '\n```js\n',
  '\n```\n',
  'Here is',
  '😀',
  '\u0000',
  '\ud800',
  'é',
];

describe('any text', () => {
  test('is an error with a place inside it, or becomes a body that compiles and has its lines', {
    timeout: fuzzTimeoutMs,
  }, () => {
    const text = fc.array(fc.constantFrom(...tokens), { maxLength: 25 }).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(text, (code) => {
        const result = normalizeProgram(code);
        const lines = code.split(/\r\n|[\n\r\u2028\u2029]/);
        if (!result.ok) {
          const { line, column, message } = result.error;
          expect(message).toMatch(/^Syntax error: ./);
          expect(column).toBeGreaterThan(0);
          expect(column - 1).toBeLessThanOrEqual(lines[line - 1]?.length ?? -1);
          return;
        }
        expect(result.program.text.split(/\r\n|[\n\r\u2028\u2029]/)).toHaveLength(lines.length);
        expect(compiles(result.program.text) ? '' : result.program.text).toBe('');
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });
});
