/** Every form in which models write programs, and what the sandbox gets. */
import { Script } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';

function normalized(code: string): string {
  const result = normalizeProgram(code);
  if (!result.ok) throw new Error(`${result.error.line}:${result.error.column} ${result.error.message}`);
  expect(result.program.text.split(/\r\n|[\r\n]/)).toHaveLength(code.split(/\r\n|[\r\n]/).length);
  return result.program.text;
}

const table: readonly (readonly [form: string, written: string, body: string])[] = [
  // Left alone.
  ['a body with return', 'const a = 1;\nreturn a;', 'const a = 1;\nreturn a;'],
  ['an empty program', '', ''],
  ['comments alone', '// nothing\n', '// nothing\n'],
  ['CRLF', 'const a = 1;\r\nreturn a;\r\n', 'const a = 1;\r\nreturn a;\r\n'],
  ['a BOM', '\uFEFFreturn 1;', '\uFEFFreturn 1;'],
  ['declarations without a call', 'const a = 1;\nlet b;', 'const a = 1;\nlet b;'],
  ['two functions that nobody calls', 'function a() {}\nfunction b() {}', 'function a() {}\nfunction b() {}'],
  ['a last statement that is no expression', 'if (x) { y(); }', 'if (x) { y(); }'],
  ['a block', '{ f(); }', '{ f(); }'],
  ['an empty block', '{}', '{}'],
  ['a fence in a string', 'return "```js\\n```";', 'return "```js\\n```";'],
  ['a fence in a comment', '/*\n```js\nx()\n```\n*/\nreturn 1;', '/*\n```js\nx()\n```\n*/\nreturn 1;'],
  ['an HTML comment', 'let a = 1 <!-- b\nreturn a', 'let a = 1 <!-- b\nreturn a'],

  // The last expression.
  ['a last expression', 'const a = 1;\na + 1', 'const a = 1;\nreturn a + 1'],
  ['a last expression and a comment', 'a.b; // the result\n', 'return a.b; // the result\n'],
  ['a last call', 'async function main() {}\n\nmain();', 'async function main() {}\n\nreturn main();'],
  ['a last await', 'await apps.a.b({});', 'return await apps.a.b({});'],
  ['a call in place', '(async () => { return 1; })();', 'return (async () => { return 1; })();'],
  ['a sequence', 'a, b', 'return a, b'],
  ['an assignment', 'x.y = 1', 'return x.y = 1'],
  ['a string alone', '"done"', 'return "done"'],
  ['a directive and an expression', '"use strict";\n1 + 1', '"use strict";\nreturn 1 + 1'],
  ['a template', '`a`', 'return `a`'],
  ['an object in parentheses', '({ a: 1 })', 'return ({ a: 1 })'],
  ['a return before it', 'if (!a) return 0;\na', 'if (!a) return 0;\nreturn a'],
  ['no semicolon before it', 'const a = 1\na', 'const a = 1\nreturn a'],
  ['several semicolons after it', 'a;;\n;', 'return a;;\n;'],
  ['a regular expression', '/a;/', 'return /a;/'],

  // An object as the whole program.
  ['an object', '{ a: 1, b: [2] }', 'return { a: 1, b: [2] }'],
  ['an object with one member', '{ total: sum }', 'return { total: sum }'],
  ['an object with quoted names', '{ "a": 1 };', 'return { "a": 1 };'],

  // What a function gets.
  ['an arrow that takes both in one', '({ apps }) => 1', 'return (({ apps }) => 1)({ apps, console })'],
  [
    'a function of two',
    'function main(apps, console) {}',
    'function main(apps, console) {};return main(apps, console);',
  ],
  ['a function of other names', 'async (tools, log) => 1', 'return (async (tools, log) => 1)(apps)'],
  ['apps not first', 'async (input, apps) => 1', 'return (async (input, apps) => 1)(undefined, apps)'],
  ['a default beside apps', '(apps, n = 1) => n', 'return ((apps, n = 1) => n)(apps)'],
  ['the console first', '(console) => 1', 'return ((console) => 1)(console)'],
  ['connections taken out of apps', '({ notes, mail }) => 1', 'return (({ notes, mail }) => 1)(apps)'],
  ['everything it gets', '(...all) => all', 'return ((...all) => all)(apps)'],

  ['an object after a comment', '// the result\n{ a: 1, b: 2 }', '// the result\nreturn { a: 1, b: 2 }'],

  // One function as the whole program.
  ['an arrow', 'async () => {\n  return 1;\n}', 'return (async () => {\n  return 1;\n})()'],
  ['an arrow and a semicolon', 'async () => 1;', 'return (async () => 1)();'],
  ['an arrow and a comment', '() => 1 // one', 'return (() => 1)() // one'],
  ['an arrow in parentheses', '(async () => 1)', 'return ((async () => 1))()'],
  ['an arrow that takes apps', 'async (apps) => apps.a.b({})', 'return (async (apps) => apps.a.b({}))(apps)'],
  [
    'a function without a name',
    'async function () { return 1; }',
    'return (async function () { return 1; })()',
  ],
  [
    'a function without a name after a comment',
    '/* run */ function () { return 1; }',
    '/* run */ return (function () { return 1; })()',
  ],
  ['a function expression', '(function () { return 1; });', 'return ((function () { return 1; }))();'],
  [
    'a function declaration',
    'async function main() { return 1; }',
    'async function main() { return 1; };return main();',
  ],
  ['a function that takes apps', 'function run({ mail }) {}', 'function run({ mail }) {};return run(apps);'],
  ['a constant function', 'const main = async () => 1;', 'const main = async () => 1;;return main();'],
  [
    'a function named at the end',
    'async function main() {}\nmain',
    'async function main() {}\nreturn (main)()',
  ],
  ['an arrow after constants', 'const a = 1;\nasync () => a', 'const a = 1;\nreturn (async () => a)()'],

  // export
  [
    'export default of a function',
    'export default async function run() {}',
    '               async function run() {};return run();',
  ],
  [
    'export default of a function without a name',
    'export default async function () {}',
    '               return (async function () {})()',
  ],
  ['export default of an arrow', 'export default async () => 1;', '               return (async () => 1)();'],
  ['export default of parentheses', 'export default (() => 1);', '               return ((() => 1))();'],
  ['export default of a value', 'export default { a: 1 };', '               return { a: 1 };'],
  [
    'export default of a name',
    'const main = () => 1;\nexport default main;',
    'const main = () => 1;\n               return (main)();',
  ],
  [
    'export default before others',
    'export default () => a;\nconst a = 1;',
    '               const $default = (() => a);\nconst a = 1;;return $default();',
  ],
  [
    'export of a function',
    'export async function main() { return 1; }',
    '       async function main() { return 1; };return main();',
  ],
  ['export of a constant', 'export const a = 1;\na', '       const a = 1;\nreturn a'],
  ['export of names', 'const a = 1\nexport { a };\n', 'const a = 1\n;            \n'],
  ['export of nothing', 'f();\nexport {};', 'f();\n;         '],
  [
    'export as default',
    'async function f() {}\nexport { f as default };',
    'async function f() {}\n;                       ;return f();',
  ],

  [
    'export default beside a name that is taken',
    'export default $default$;\nconst $default$ = 1;',
    '               const $default$$ = ($default$);\nconst $default$ = 1;;return $default$$;',
  ],

  // Around the program.
  ['a hashbang', '#!/usr/bin/env node\nreturn 1;', '                   \nreturn 1;'],
  ['a fence', '```js\nreturn 1;\n```', '\nreturn 1;\n'],
  ['a fence without a language', '```\nreturn 1;\n```\n', '\nreturn 1;\n\n'],
  ['a fence after a BOM', '\uFEFF```js\nreturn 1;\n```', '\nreturn 1;\n'],
  ['a fence of tildes after a BOM', '\uFEFF~~~\nreturn 1;\n~~~', '\nreturn 1;\n'],
  ['an indented fence', ' \t```js\n  return 1;\n\u00A0```', '\n  return 1;\n'],
  ['a fence after a hashbang and a BOM', '\uFEFF#!/bin/x\n```js\nreturn 1;\n```', '\n\nreturn 1;\n'],
  ['a fence beside what it puts out', '```\nreturn f();\n```\n\n```\n1\n```', '\nreturn f();\n\n\n\n\n'],
  ['a fence beside a message', '```\nFound 3 (new)\n```\n```\nf();\n```', '\n\n\n\nreturn f();\n'],
  [
    'a fence of types beside data',
    '```\n{"a": [1]}\n```\n```\nlet a: 1 = f();\n```',
    '\n\n\n\nlet a    = f();\n',
  ],
  ['a fence with CRLF', '```js\r\nreturn 1;\r\n```\r\n', '\r\nreturn 1;\r\n\r\n'],
  ['a fence with more than a language', '```js title="x"\nreturn 1;\n```', '\nreturn 1;\n'],
  ['a fence of tildes', '~~~javascript\nreturn 1;\n~~~\nDone', '\nreturn 1;\n\n'],
  ['a fence of four', '````js\nreturn 1;\n````', '\nreturn 1;\n'],
  ['a fence with prose', 'Here it is:\n\n```js\nreturn 1;\n```\n\nIt gives `1`.', '\n\n\nreturn 1;\n\n\n'],
  ['a fence that is not closed', 'Sure!\n```js\nreturn 1;', '\n\nreturn 1;'],
  ['a fence beside other fences', '```json\n{"a":1}\n```\n```js\nreturn 1;\n```', '\n\n\n\nreturn 1;\n'],
  ['a named fence beside one without', '```js\nreturn 1;\n```\nprints\n```\n1\n```', '\nreturn 1;\n\n\n\n\n'],
  [
    'a fence around an arrow',
    '```ts\nasync (): Promise<number> => 1\n```',
    '\nreturn (async ()                  => 1)()\n',
  ],
  [
    'a fence around export default',
    '```js\nexport default () => 1\n```',
    '\n               return (() => 1)()\n',
  ],
];

describe('a program', () => {
  test.each(table)('that is %s becomes a body', (_form, written, body) => {
    expect(normalized(written)).toBe(body);
    // Compiled, never run: the engine has the last word on what a body is.
    expect(() => new Script(`"use strict"; (async () => {${body}\n})`)).not.toThrow();
  });
});
