/** Programs against the declarations of real catalogs, with the real compiler. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { ProgramChecker } from '../../services/code-run/program/check.ts';
import { folderPrefix } from '../../services/code-run/program/compiler.ts';
import { limits } from '../../services/shared/limits.ts';
import { catalogOf } from '../bindings/catalogs.ts';

const everything = compileCatalog(catalogOf('everything.json.gz'));
const checker = new ProgramChecker();

async function found(code: string, against = everything): Promise<string[]> {
  const findings = await checker.check(code, against);
  return findings.map(({ line, column, message }) => `${line}:${column} ${message.split('\n')[0]}`);
}

/** What is said of everything that would load a module. */
function notLoaded(of: string): string {
  return `${of}. Programs cannot load modules: use the built-ins of the language and the apps (Object.keys(apps) lists them).`;
}

const checkFolders = () =>
  [os.tmpdir(), '/dev/shm']
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith(folderPrefix));

describe('a check', () => {
  test.each([
    'const r = await apps.everything.get_sum({ a: 1, b: 2 });\nreturn r.content[0].text;',
    'async () => (await apps.everything.echo({ message: "x" })).content',
    '```ts\nconst xs: number[] = [1];\nreturn xs.map((x: number) => x + 1);\n```',
    'export default async function main(): Promise<string> { return "x" }',
    'import type { A } from "./a";\nexport interface B { c: number }\nexport type { A };\nconst b: B = { c: 1 };\nreturn b;',
    'declare const apps: any;\nexport declare function f(): void;\ndeclare interface A { b: 1 }\nexport declare type C = A;\nconst c: C = { b: 1 };\nreturn c;',
    'export default interface A { b: number }\nconst a: number = 1;\nreturn a;',
    // JavaScript as models write it: nothing of this is wrong.
    'const out = {};\nout.a = 1;\nconst list = [];\nlist.push({ b: 2 });\nlet last = null;\nlast = list[0];\nreturn { out, last };',
    'function f(a, b) { return a.x ?? b; }\nreturn f({ x: "y".match(/y/)[0] });',
    'const r = await apps.everything.echo({ message: "x" });\nreturn r.structuredContent.items.length;',
    'try { await apps.everything.echo({ message: "x" }); } catch (error) { return error.reason; }',
    'console.log("%s", 1, { a: 1 });\nreturn [crypto.randomUUID(), new URL("https://x.y").host, structuredClone({ a: 1 })];',
    'const names = Object.keys(apps);\nreturn [...new Set(names)].toSorted();',
  ])('passes %j', async (code) => {
    expect(await found(code)).toEqual([]);
  });

  test.each<[string, string[]]>([
    [
      'const r = await apps.everything.get_sum({ a: 1, b: "2" });',
      ["1:49 Type 'string' is not assignable to type 'number'."],
    ],
    [
      'return await apps.everything.get_summ({ a: 1, b: 2 });',
      ['1:30 apps.everything.get_summ does not exist. Did you mean apps.everything.get_sum?'],
    ],
    [
      '/* 😀 */ return await apps.everything.get_sum({ a: 1 });',
      [
        "1:47 Property 'b' is missing in type '{ a: number; }' but required in type '{ a: number; b: number; }'.",
      ],
    ],
    // Behind an insertion in the same line, and after prose.
    [
      'Here:\n```js\nasync () => apps.everything.nope({})\n```',
      ['3:29 apps.everything.nope does not exist. Object.keys(apps.everything) lists what there is.'],
    ],
    [
      '  "a".nope()',
      [expect.stringMatching(/^1:7 Property 'nope' does not exist on type '"a"'\.$/) as string],
    ],
    [
      'const a: number = "b";\r\nconst c: string = 1;',
      [
        "1:7 Type 'string' is not assignable to type 'number'.",
        "2:7 Type 'number' is not assignable to type 'string'.",
      ],
    ],
    // Of what is not there it says what a run says: see words.test.ts.
    [
      'await fetch("https://x.y");',
      [
        '1:7 fetch is not defined. Programs have no network: call the apps (Object.keys(apps) lists them) instead.',
      ],
    ],
    [
      'const s = require("fs").x;\nreturn s + nowhere;',
      [notLoaded('1:11 require is not defined'), "2:12 Cannot find name 'nowhere'."],
    ],
    ['return await import("./program.js");', [notLoaded('1:14 import() is not available')]],
    [
      'return [describe, $, jQuery];',
      ['1:9', '1:19', '1:22'].map(
        (at, index) => `${at} Cannot find name '${['describe', '$', 'jQuery'][index]}'.`,
      ),
    ],
    [
      'return Atomics.add(new Int32Array(1), 0, 1);',
      [
        '1:8 Atomics is not defined. Programs have no threads and no shared memory: Promise.all makes calls at once.',
      ],
    ],
    // Where the program asks first, it may be absent; and a name of its own is its own.
    ['return typeof fetch === "function" ? await fetch("/") : globalThis.process?.env;', []],
    [
      'return globalThis.apps.everything.nope ?? globalThis.URL;',
      ['1:35 apps.everything.nope does not exist. Object.keys(apps.everything) lists what there is.'],
    ],
    ['class Response { ok = 1; }\nconst fetch = () => new Response();\nreturn fetch().ok;', []],
    ['const o = { fetch: 1, process() {} };\no.setTimeout = 2;\nreturn o.fetch + o.window;', []],
    [
      'const r = apps.everything.echo({ message: "x" });\nreturn r.content;',
      [
        "2:10 Property 'content' does not exist on type 'Promise<ToolResult<unknown>>'. Did you forget await?",
      ],
    ],
    ['return new Date("2026-01-02") - new Date("2026-01-01");', []],
    ['return (;', ['1:9 Syntax error: unexpected ";". "(" of line 1, column 8 is not closed']],
  ])('finds what is wrong in %j', async (code, findings) => {
    expect(await found(code)).toEqual(findings);
  });

  test.each([
    ['// @ts-ignore', 'return "a".nope();'],
    ['//@ts-expect-error: no', 'return "a".nope();'],
    ['/// @ts-ignore', 'const a: string = "a".nope();'],
    ['/* @ts-expect-error */', 'const a: string = "a".nope();'],
    ['// @ts-nocheck', 'return "a".nope();'],
  ])('is not silenced by %j', async (comment, line) => {
    const place = `2:${line.indexOf('nope') + 1}`;
    expect(await found(`${comment}\n${line}`)).toEqual([expect.stringContaining(`${place} Property 'nope'`)]);
  });

  test('does not miss an error where a comment expects one', async () => {
    expect(await found('// @ts-expect-error\nconst a: number = 1;\nreturn a;')).toEqual([]);
  });

  test('gives the lines that explain a finding', async () => {
    const code = 'let f: (n: number) => void = (s: string) => 1;\nreturn f;';
    expect(await checker.check(code, everything)).toEqual([
      {
        line: 1,
        column: 5,
        message: [
          "Type '(s: string) => number' is not assignable to type '(n: number) => void'.",
          "  Types of parameters 's' and 'n' are incompatible.",
          "    Type 'number' is not assignable to type 'string'.",
        ].join('\n'),
      },
    ]);
  });

  test('reads no file of the host, whatever a type names', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'secret-'));
    try {
      writeFileSync(path.join(folder, 'secret.ts'), 'export const key = "hunter2" as const;');
      writeFileSync(path.join(folder, 'secret.json'), '{"hunter2": 1}');
      const at = path.join(folder, 'secret');
      const codes = [
        `let a: typeof import("${at}"); const b: 1 = a.key;`,
        `let a: typeof import("${at}.ts"); const b: 1 = a.key;`,
        `let a: typeof import("${at}.json"); const b: 1 = a;`,
        `/// <reference path="${at}.ts" />\nlet a: number = 1;`,
        `const a = require("${at}.json"); a.x.y;`,
        `const a = await import("${at}.ts"); const b = a.key.nope;`,
      ];
      for (const code of codes) expect((await found(code)).join()).not.toContain('hunter2');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('tells at most so much', async () => {
    const code = Array.from({ length: 50 }, (_, index) => `const a${index} = "x".nope${index}();`).join('\n');
    expect(await found(code)).toHaveLength(limits.checkFindingsMax);
    const name = 'n'.repeat(10_000);
    const [finding] = await checker.check(`"x".${name}();`, everything);
    expect(Buffer.byteLength(finding?.message ?? '')).toBe(limits.checkMessageBytesMax);
  });

  test('of many at once runs a few at a time, and refuses what is too much', async () => {
    const codes = Array.from(
      { length: limits.checksAtOnce + limits.checksQueuedMax },
      (_, index) => `return "x".n${index};`,
    );
    const own = new ProgramChecker();
    // The compiler is told to stop before it starts, so that only the queue is at work.
    const aborted = AbortSignal.abort(new Error('stopped'));
    const checks = codes.map((code) => own.check(code, everything, aborted));
    await expect(own.check('return 1;', everything)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const ends = await Promise.allSettled(checks);
    expect(ends.every((end) => end.status === 'rejected' && end.reason.message === 'stopped')).toBe(true);
    expect(await own.check('return 1;', everything)).toEqual([]);
  });

  test('ends when it is aborted', async () => {
    const stop = new AbortController();
    const check = checker.check(endless, everything, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(check).rejects.toThrow('stopped');
  });

  test('leaves no file behind', async () => {
    const earlier = checkFolders();
    await found('return 1;');
    await found('return (await apps.x.y);');
    await checker
      .check('return 1;', everything, AbortSignal.abort(new Error('stopped')))
      .catch(() => undefined);
    expect(checkFolders().filter((name) => !earlier.includes(name))).toEqual([]);
  });

  test('of every program that models wrote finds nothing but what is wrong with them', async () => {
    const files = ['everything.json.gz', 'filesystem.json.gz', 'memory.json.gz'];
    const present = files.filter((file) =>
      readdirSync(path.join(import.meta.dirname, '../fixtures/catalogs')).includes(file),
    );
    const catalog = catalogOf(present[0] ?? '');
    for (const file of present.slice(1)) catalog.connections.push(...catalogOf(file).connections);
    const all = compileCatalog(catalog);
    const folder = path.join(import.meta.dirname, '../fixtures/programs');
    const programs = readdirSync(folder).filter((name) => name.endsWith('.js'));
    const checks = programs.map(async (file) => {
      const findings = await found(readFileSync(path.join(folder, file), 'utf8'), all);
      return [file, findings] as const;
    });
    const report = Object.fromEntries(
      (await Promise.all(checks)).filter(([, findings]) => findings.length > 0),
    );
    expect(report).toMatchInlineSnapshot(`
      {
        "13-iserror-check.js": [
          "1:45 Type 'string' is not assignable to type 'number'.",
        ],
        "20-retry-backoff.js": [
          "1:48 setTimeout is not defined. Programs have no timers, and time stands still: await the call itself; to retry, call again.",
        ],
        "22-fetch-attempt.js": [
          "3:21 fetch is not defined. Programs have no network: call the apps (Object.keys(apps) lists them) instead.",
          "9:21 fetch is not defined. Programs have no network: call the apps (Object.keys(apps) lists them) instead.",
        ],
        "23-require-and-dynamic-import.js": [
          "2:30 require is not defined. Programs cannot load modules: use the built-ins of the language and the apps (Object.keys(apps) lists them).",
          "3:37 import() is not available. Programs cannot load modules: use the built-ins of the language and the apps (Object.keys(apps) lists them).",
          "4:30 process is not defined. This is not Node.js: return ends the program, console.log writes, and there is no environment.",
        ],
        "24-static-import.js": [
          "1:1 Syntax error: import of "node:fs" is not possible, there are no modules. Apps are there without import: await apps.<connection>.<tool>({ … })",
        ],
        "30-unknown-binding.js": [
          "1:33 apps.everything.get_summ does not exist. Did you mean apps.everything.get_sum?",
        ],
        "31-original-name-brackets.js": [
          "2:33 apps.everything["get-sum"] does not exist. Did you mean apps.everything.get_sum?",
        ],
        "36-forgot-await-on-call.js": [
          "2:10 Property 'content' does not exist on type 'Promise<ToolResult<unknown>>'. Did you forget await?",
        ],
        "48-syntax-error.js": [
          "2:65 Syntax error: unexpected ";". "(" of line 2, column 51 is not closed",
        ],
      }
    `);
  });
});

/** Types that grow with every step. */
const endless = `type Grow<T extends unknown[]> = [...T, ...T];
type A = Grow<Grow<Grow<Grow<Grow<Grow<Grow<Grow<[1, 2]>>>>>>>>;
type B<T> = T extends [infer H, ...infer R] ? B<[...R, ...A]> : never;
let b: B<A> = 1;
return b;`;

describe('a function that is the program', () => {
  const call = 'return await apps.everything.get_sum({ a: 1, b: "2" });';

  test.each([
    `async (apps) => { ${call} }`,
    `(apps) => apps.everything.get_sum({ a: 1, b: "2" })`,
    `apps => apps.everything.get_sum({ a: 1, b: "2" })`,
    `async apps => { ${call} }`,
    `async ({ apps }) => { ${call} }`,
    `async ({ apps, console }) => { console.log(1); ${call} }`,
    `async function (apps) { ${call} }`,
    `async function main(apps, console) { ${call} }`,
    `async function main(console, apps) { ${call} }`,
    `async function main({ apps }) { ${call} }`,
    `const main = async (apps) => { ${call} };`,
    `const main = async apps => { ${call} };`,
    `const main = async apps => { ${call} };\nmain`,
    `async function main(apps) { ${call} }\nmain(apps);`,
    `async function helper(id, apps) { ${call} }\nconst all = await Promise.all([1].map((id) => helper(id, apps)));\nreturn all;`,
    `export default async function run(apps) { ${call} }`,
    `export default async (apps) => { ${call} }`,
    `export default async function ({ apps }) { ${call} }`,
    `async function run(apps) { ${call} }\nexport { run as default };`,
    `/**\n * @param {object} apps The apps.\n */\nasync function run(apps) { ${call} }`,
    `async (apps) => { const n: number = 1; ${call} }`,
    `async apps => { const n: number = 1; ${call} }`,
    `async function run({ apps }): Promise<unknown> { ${call} }`,
    `export default async function run(apps, n?: number) { ${call} }`,
  ])('is checked with the types of what it gets: %s', async (code) => {
    const lines = code.slice(0, code.indexOf('b: "2"')).split('\n');
    const at = `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
    expect(await found(code)).toEqual([`${at} Type 'string' is not assignable to type 'number'.`]);
  });

  test.each([
    // Types that the program gives itself stay.
    'async (apps: any) => apps.nope.nope({})',
    // Lists that happen to be called like the apps.
    'const lists = [[{ id: 1 }]];\nreturn lists.map((apps) => apps[0].id);',
    'function first(apps) { return apps[0].id; }\nreturn first([{ id: 1 }]);',
    'async (apps = globalThis.apps) => (await apps.everything.echo({ message: "x" })).content',
    'async ({ everything }) => (await everything.echo({ message: "x" })).content',
    'async (...rest) => rest.length',
  ])('is taken as it is: %s', async (code) => {
    expect(await found(code)).toEqual([]);
  });

  test('finds what is wrong with the console it gets', async () => {
    expect(await found('async (apps, console) => { console.lgo(1); }')).toEqual([
      "1:36 Property 'lgo' does not exist on type 'Console'.",
    ]);
  });
});

describe('the names that declarations use for themselves', () => {
  const catalog = create(CatalogSchema, {
    connections: [
      {
        id: '1',
        name: '阿里 Notes',
        tools: [
          {
            name: 'save-tree',
            inputSchemaJson: JSON.stringify({
              type: 'object',
              properties: { root: { $ref: '#/$defs/Node' } },
              required: ['root'],
              $defs: {
                Node: {
                  type: 'object',
                  properties: { label: { type: 'string' }, next: { $ref: '#/$defs/Node' } },
                  required: ['label'],
                },
              },
            }),
          },
        ],
      },
      { id: '2', name: 'Mail', tools: [{ name: 'send' }] },
    ],
  });
  const apps = compileCatalog(catalog);

  test.each([
    'const n: number = apps.阿里_notes;\nreturn n;',
    'return await apps.阿里_notes.save_tree({ root: 5 });',
    'return await apps.阿里_notes.save_tree({ root: { label: 1, next: { label: 2 } } });',
    'return await apps.阿里_notes.save_tree({ root: [] });',
    'return await apps.阿里_notes();',
    'return apps.阿里_notes + apps.阿里_note;',
    'const n: number = apps.mail;\nreturn n;',
    'const { call } = apps;\nreturn await call("mail.sned", {});',
    'const name = "mail.sned";\nreturn await apps.call(name, {});',
    'const name: number = 5;\nreturn await apps.call(name, {});',
    'let m: typeof import("./program.ts");\nconst n: number = m;\nreturn n;',
    'return programm;',
  ])('are in no message: %s', async (code) => {
    const findings = await found(code, apps);
    expect(findings).not.toEqual([]);
    for (const one of findings) expect(one).not.toMatch(/\$|AppCalls|OtherApp|openbot-check|'program'/);
  });

  test('stand for names that the program can read', async () => {
    expect(await found('const n: number = apps.阿里_notes;\nreturn n;', apps)).toEqual([
      "1:7 Type 'typeof apps.阿里_notes' is not assignable to type 'number'.",
    ]);
    expect(await found('return await apps.阿里_notes.save_tree({ root: 5 });', apps)).toEqual([
      "1:40 Type 'number' is not assignable to type 'Node'.",
    ]);
    expect(await found('const name = "mail.sned";\nreturn await apps.call(name, {});', apps)).toEqual([
      '2:24 apps.call: there is no binding "mail.sned". Did you mean mail.send?',
    ]);
  });
});

describe('a hostile program', () => {
  test('gets an answer, whatever its types are', async () => {
    const types =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
      'let a: { [K in `${1|2|3|4|5|6|7|8|9|0}${1|2|3|4|5|6|7|8|9|0}${1|2|3|4|5|6|7|8|9|0}${1|2|3|4|5|6|7|8|9|0}`]: K } = 1; let b: keyof typeof a = 2;';
    for (const code of [endless, types]) expect((await found(code)).length).toBeGreaterThan(0);
  });

  test('is told when the check takes too long or too much', async () => {
    const memoryBytes = limits.checkMemoryBytes;
    const late = new ProgramChecker({ timeoutMs: 1, memoryBytes });
    expect(await late.check('return 1;', everything)).toEqual([
      { line: 1, column: 1, message: 'The check took too long. Simplify the types' },
    ]);
    const small = new ProgramChecker({ timeoutMs: limits.checkTimeoutMs, memoryBytes: 32 * 1024 * 1024 });
    expect(await small.check('return 1;', everything)).toEqual([
      {
        line: 1,
        column: 1,
        message: 'The compiler gave up, most likely for want of memory. Simplify the types',
      },
    ]);
  });

  test('that makes the compiler say more than a mebibyte gets the first of it', async () => {
    const code = '"x".nope;\n'.repeat(20_000);
    expect(await found(code)).toHaveLength(limits.checkFindingsMax);
  });
});
