/** What cannot be understood is an error with the place in the text as written, before anything runs. */
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';

function errorOf(code: string): string {
  const result = normalizeProgram(code);
  if (result.ok) throw new Error(`understood: ${result.program.text}`);
  const { line, column, message } = result.error;
  return `${line}:${column} ${message}`;
}

const table: readonly (readonly [what: string, code: string, error: string])[] = [
  [
    'a parenthesis that is not closed',
    'const g = await f();\nconst names = g.map((e) => e.name;\nreturn names;',
    '2:34 Syntax error: unexpected ";". "(" of line 2, column 20 is not closed',
  ],
  [
    'a brace that is not closed',
    'for (const a of b) {\n  f(a);\n',
    '3:1 Syntax error: unexpected end of the program. "{" of line 1, column 20 is not closed',
  ],
  [
    'a condition that is not closed',
    'if (r.isError {\n  f();\n}',
    '1:15 Syntax error: unexpected "{". "(" of line 1, column 4 is not closed',
  ],
  [
    'a comma that is missing',
    'f({ a: 1 b: 2 });',
    '1:10 Syntax error: unexpected "b". A comma, an operator or a quote is missing before it',
  ],
  [
    'a quote inside quotes',
    "return 'it's';",
    '1:12 Syntax error: unexpected "s". A comma, an operator or a quote is missing before it',
  ],
  [
    'an arrow of another language',
    'list.map(x -> x + 1);',
    '1:13 Syntax error: unexpected ">". An arrow function is written with =>',
  ],
  ['one brace too many', 'f();\n}', '2:1 Syntax error: unexpected "}"'],
  [
    'an end of the surrounding function',
    'return 1; }); evil(); (() => {',
    '1:11 Syntax error: unexpected "}"',
  ],
  ['a comment that is not closed', 'return ] /*', '1:8 Syntax error: unexpected "]"'],
  [
    'a string that is not closed',
    'const a = "x;\nreturn a;',
    '1:11 Syntax error: Unterminated string constant',
  ],
  ['typographic quotes', 'return “done”;', "1:8 Syntax error: Unexpected character '“'. Use straight quotes"],
  [
    'a name that is declared twice',
    'const a = 1;\nconst a = 2;',
    "2:7 Syntax error: Identifier 'a' has already been declared",
  ],
  [
    'await in a function that is not async',
    'const a = ids.map((id) => {\n  return await apps.x.y({ id });\n});',
    '2:16 Syntax error: unexpected "apps". await is only possible in an async function: write async before it',
  ],
  [
    'an object as the last statement',
    'const a = 1;\n{ a: a, b: 2 }',
    '2:10 Syntax error: unexpected ":". To give back an object write: return { … }',
  ],
  [
    'import of a module',
    '\nimport fs from "node:fs";\nreturn fs;',
    '2:1 Syntax error: import of "node:fs" is not possible, there are no modules. ' +
      'Apps are there without import: await apps.<connection>.<tool>({ … })',
  ],
  [
    'export from a module',
    'export * from "apps";',
    '1:1 Syntax error: import of "apps" is not possible, there are no modules. ' +
      'Apps are there without import: await apps.<connection>.<tool>({ … })',
  ],
  ['export inside', 'if (a) {\n  export const b = 1;\n}', '2:3 Syntax error: export is not possible here'],
  [
    'import.meta',
    'return import.meta.url;',
    '1:8 Syntax error: import.meta does not exist: a program is not a module',
  ],
  [
    'a class as the program',
    'export default class {}',
    '1:1 Syntax error: export default of a class: there is nothing to run',
  ],
  [
    'a generator as the program',
    'async function* main() {}',
    '1:1 Syntax error: the program is a generator function, and nobody would ask it for values: write an async function',
  ],
  [
    'two fenced programs',
    'First:\n```js\na()\n```\nThen:\n```js\nb()\n```',
    '6:1 Syntax error: there are 2 fenced programs, and it is not clear which to run: send one',
  ],
  [
    'two fenced programs without a language',
    '```\na()\n```\n```\nlet b: 1 = c()\n```',
    '4:1 Syntax error: there are 2 fenced programs, and it is not clear which to run: send one',
  ],
  [
    'two fences without a language and without a program',
    '```\na\n```\n```\n1\n```',
    '4:1 Syntax error: there are 2 fenced programs, and it is not clear which to run: send one',
  ],
  [
    'a fence of another language',
    '```python\nprint(1)\n```',
    '1:1 Syntax error: the fenced text is python, not JavaScript',
  ],
  [
    'a fence inside a line',
    '```js return 1```',
    '1:1 Syntax error: Markdown fences must stand on lines of their own, or be left out',
  ],
  [
    'an error in a fence',
    'Here:\n```js\nreturn (;\n```',
    '3:9 Syntax error: unexpected ";". "(" of line 3, column 8 is not closed',
  ],
  ['an error after CRLF', 'f();\r\nreturn );\r\n', '2:8 Syntax error: unexpected ")"'],
  ['an error in an object', '{\n  a: 1,\n  b: ,\n}', '3:6 Syntax error: unexpected ","'],
  [
    'an error in a function without a name',
    'async function () {\n  return );\n}',
    '2:10 Syntax error: unexpected ")"',
  ],
  [
    'an error in TypeScript',
    'const a: number = 1;\nconst b: string = ;',
    '2:19 Syntax error: unexpected ";"',
  ],
  [
    'a comment of another language',
    '# the notes\nreturn 1;',
    "1:2 Syntax error: Unexpected character ' '. A comment starts with //",
  ],
  [
    'JSX',
    'return <b>x</b>;',
    '1:14 Syntax error: Unterminated regular expression. There is no JSX: write text',
  ],
  [
    'a decorator',
    '@sealed class A {}\nreturn 1;',
    '1:1 Syntax error: decorators are not possible here. Call the function instead',
  ],
  [
    'enum',
    'const a: number = 1;\nenum Color { Red }',
    '2:1 Syntax error: enum is not possible here. Write an object: const Color = { Red: "red" }',
  ],
  [
    'const enum',
    'const enum Color { Red }',
    '1:1 Syntax error: enum is not possible here. Write an object: const Color = { Red: "red" }',
  ],
  [
    'namespace',
    'namespace A { export const b = 1; }',
    '1:1 Syntax error: namespace is not possible here. Write an object or plain functions',
  ],
  [
    'a parameter property',
    'class A {\n  constructor(private a: string) {}\n}',
    '2:15 Syntax error: parameter properties are not possible here. ' +
      'Declare the field in the class and assign it in the constructor',
  ],
  [
    'an assertion in angle brackets',
    'const a = <any>b;',
    '1:11 Syntax error: type assertions in angle brackets are not possible here. Write: value as Type',
  ],
];

describe('a program that cannot be understood', () => {
  test.each(table)('says so: %s', (_what, code, error) => {
    expect(errorOf(code)).toBe(error);
  });

  test('never repeats much of the program', () => {
    const name = 'x'.repeat(100_000);
    expect(errorOf(`let ${name}; let ${name};`).length).toBeLessThan(400);
    expect(errorOf(`return /(${name}/;`).length).toBeLessThan(400);
    expect(errorOf(`f() "${name}";`).length).toBeLessThan(400);
  });
});
