/**
 * Types are erased in place. The yardstick is Node.js's own eraser: both must leave the same program, compared as
 * syntax trees, for every sample and for what is made of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { parse } from 'acorn';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { fuzzRuns, fuzzTimeoutMs } from './fuzz.ts';

/** Statements, one line of thought each, that need the eraser. */
const samples: readonly string[] = [
  'const f1 = (x: number): {\n  a: number;\n} => ({ a: x });',
  'const g1 = async <\n  T,\n>(x: T): Promise<T> => x;',
  'const g2 = () => {\n  return <\n  T,\n>(x: T) => x;\n};',
  'function h1<T>(this: Window, a?: number, b: string = "x", ...rest: T[]): asserts a is number {}',
  'function h2(this: Window) {}',
  'function h3(a: string): string;\nfunction h3(a: number): number;\nfunction h3(a: any) { return a }',
  'abstract class A1<T> extends Map<string, T> implements X, Y<T> {\n  private readonly x: number = 1;\n  declare y: string;\n  protected static z?: string;\n  abstract m(): void;\n  [key: string]: any;\n  constructor(a: string);\n  constructor(a: any) { super(); }\n  public get v(): number { return 1 }\n  w!: number;\n  override toString(): string { return "" }\n  async *gen<U>(a: U): AsyncGenerator<U> { yield a; }\n  get: string\n  foo() {}\n  static: number\n  set: any\n  bar?(): void {}\n  a = 1\n  public [b] = 2\n}',
  'const a2 = class<T> { #p: T; static s: number = 1; constructor(p: T) { this.#p = p } };',
  'let b1 = b as string\n(foo)()',
  'let b2 = b satisfies string\n[1].map(f)',
  'let b3 = b! as any\n`x`.trim()',
  'const c1 = y!.z!.w as unknown as Foo<Bar>;',
  'const c2 = (a + b) as number, c3 = ((a)) as number;',
  'const d1 = <T,>(a: T) => a;\nconst d2 = d1<string>("a");',
  'type A3 = { [K in keyof B]?: B[K] };',
  'let e1 = a\ntype E1 = string\n(foo)()',
  'interface C1 extends D<E> { (x: number): string; readonly [i: number]: string }',
  'declare const q1: number;\ndeclare function ff(a: number): void;\ndeclare class Q { a: string }\ndeclare enum R { A }\ndeclare namespace S { const t: number }',
  'const v1 = { a: 1 } satisfies Record<string, number>;',
  'for (const [k, v] of Object.entries(m) as [string, number][]) { n += v! }',
  'try { f() } catch (e: unknown) { g(e as Error) }',
  'const m1 = new Map<string, Array<number>>(), m2 = new Set<A.B>;',
  'const { a: n1, b: n2 }: { a: number, b: string } = c;\nconst [n3]: number[] = e;',
  'const z1 = items.filter((i): i is Foo => !!i).map<string>((i) => i!.name);',
  'const p1 = ((await q()) as { a: string }[])?.[0]!.a;',
  'let u1: typeof import("x") = 1 as any;',
  'const w1 = cond ? (x: number): string => "a" : (y) => "b";',
  'const w2 = cond ? (x) : (y: number) => x;',
  'const w3 = (a ? b : c), w4 = (a?: number) => a;',
  'const fn = function <T extends object = {}>(x: T): keyof T { return null! };',
  'const obj = { m<T>(x: T): T { return x }, async n(a?: string): Promise<void> {}, get k(): string { return "" } };',
  'const all = await Promise.all(ids.map(async (id: number): Promise<string> => (await apps.a.b({ id })).x as string));',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
  'const t1 = `a${x as string}b${y!}`;',
  'const q2 = a < b && c > (d as number);',
  'let best!: City, other: number | undefined;',
  'const r1 = tag<string>`x`;',
  'label: for (const x of y as any) { continue label }',
  'const e2 = (x as any) = 5;\n(x as any).y = 5;',
  'const f2 = (a?: number, { b, c }: P = {}, [d]: number[] = []) => 1;',
  'const type = 2, of = 3, as = 1, declare = 4; let x2: number = as + type + declare;\ntype\n(x2)',
  'const x5: Array<Map<string, Set<number>>> = [], y5 = a >> b >>> c;',
  'const u5 = a ? b as string : c as number;',
  'if (x as boolean) y!; else z as any',
  'const v6 = await (x as Promise<any>)\n;[1, 2].forEach((n: number) => n)',
  'const k7 = <const T extends readonly unknown[]>(x: T) => x;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
  'let x8: unique symbol | (new () => void) | `a${string}` | -1 | [a: string, b?: number, ...c: any[]];',
  'let x9: A.B.C<D>[] = f<A, B>(g<C>(1), h < i, j > (k));',
  'const { data }: { data?: { items: Array<{ id: string; tags?: string[] }> } } = await apps.x.y({});',
  'for (let i: number = 0, l: number = a!; i < l; i++) {}',
  'const y9 = async (x: string): Promise<void> => { await f(x) };',
  'function y8(): { a: 1 } | undefined { return undefined }',
  'const y7 = { ...(a as object), b: c as any, ["d" as string]: 1 };',
  'x7!++;\n--x6!;\ndelete x5!.a;',
  'using y6: Disposable = f() as any;',
  'const aa = x ? (y) : z => w, ab = x ? (y, z) : (w), ac = a ? (b) : c ? (d) : e => f;\nlet ad: number;',
  'const ae = x ? async (y: number) => 1 : async (z) => 2, af = x ? (y = 1) : (z);',
  'const ag = (<T,>(x: T): x is T => true)(1);',
  'f<A>(1).g<B>(2)?.h<C>(3);\nnew Foo<A>;\nnew (bar as any)<B>();\na?.b<C>(1)!;',
  'const ah = a as const, ai = [1, 2] as const;',
  'const aj = <T extends { [k: string]: any }>(x: T): T[keyof T] => x.y;',
  'let ak: (a: number, ...b: string[]) => void, al: { (x: number): string; new (y: string): Date; readonly z?: 1 };',
  'const { x: am = 5 as number, ...an }: any = y;',
  'function ao(a: number, b?: string): void\n{ return }',
  'const ap = (a: any): a is 5 => true;',
  'const aq = async function* <T>(x: AsyncIterable<T>): AsyncGenerator<T, void> { for await (const y of x) yield y as T; };',
  'type B1 = abstract new () => object; type C2 = A extends infer U extends string ? U : never; type E4 = A[number]["x"];',
  'let ar: typeof x.y.z, as_: import("a").B<C>, at: A | undefined | null, au: readonly string[], av: [a: string, b?: number, ...c: any[]];',
  'class G<in out T, const U> { private static async *m<T>(this: G<T, T>, x?: T): AsyncGenerator<T> {} static #n?: string; }',
  'a = b! + c!;\na! += 1;\na![0]!.b!();\nif (!a!) {}',
  'const aw = a!\n  .b!\n  .c as number\n+ 1;',
  'const ax = ((a as any)?.b as string) ?? (c as number);',
  'switch (x as any) { case y!: break; default: z as any }',
  'const ay = [a as any, ...(b as any[]), c!];',
  'const az = { ...a!, b: c!, [d as string]: e, f(): void {}, get g(): number { return 1 }, set g(v: number) {}, async *h<T>(): AsyncGenerator<T> {} };',
  'let ba = a < (b as number) && c > (d as number), bc = (a < b) as any;',
  'const bf = function (this: void, ...args: any[]) { return args as any; };',
  'do { x! } while (y as boolean)\nz!',
  'if (a) b = c as any; else d = e!;',
  'declare let bg: any, bh: string;\ndeclare var bi: number;\ndeclare type BJ = 1;\ndeclare interface BK {}\ndeclare abstract class BL { abstract m(): void }',
  'abstract class BM { abstract a: string; abstract get b(): number; protected abstract c(): void; static d?: string; e() {} }',
  'class BN { private a; public b = 1; readonly c: string = "x"; declare d; static readonly e = 2; constructor(); constructor(x?: any) {} }',
  'const bo = class Foo<T> extends (Bar as any)<T> implements Baz<T>, Qux {};',
  'class BP { m(a: string): void; m(a: any) {} static n(): void\n static n() {} }',
  'const bq = (await f<string>(1)) as unknown as { a: Array<{ b: string }> };\nconst br = async <T>(x: T) => await x;',
  'const bs = (x: number) => (y: string) => <T>(z: T): T => z, bt = async () => { const u = async <T,>(v: T) => v; };',
  'var bu = (a: any): void => void 0, bv = ((a: any) => a)!, bw = typeof (a as any) === "x" satisfies boolean;',
  'class Z1 { static { const a: number = 1 } accessor = 1; readonly = 2; declare = 3; async = 4 }',
];

/** The tree without positions and empty statements: what a program means. */
function meaning(body: string): string {
  const tree = parse(`async function body() {${body}\n}`, { ecmaVersion: 'latest' });
  return JSON.stringify(tree, (key, value: unknown) => {
    if (key === 'start' || key === 'end' || key === 'raw') return undefined;
    if (typeof value === 'bigint') return `${value}n`;
    return Array.isArray(value) ? value.filter((item) => item?.type !== 'EmptyStatement') : value;
  });
}

function strippedByNode(code: string): string {
  const prefix = 'async function body() {';
  return stripTypeScriptTypes(`${prefix}${code}\n}`).slice(prefix.length, -2);
}

function erased(code: string): string {
  const result = normalizeProgram(code);
  if (!result.ok)
    throw new Error(`${result.error.line}:${result.error.column} ${result.error.message}\n${code}`);
  return result.program.text;
}

describe('types', () => {
  test.each(samples.map((sample) => [sample]))('are erased like Node.js does: %j', (sample) => {
    const code = `${sample}\nreturn 1;`;
    expect(meaning(erased(code))).toBe(meaning(strippedByNode(code)));
  });

  test('are erased in place', () => {
    for (const sample of samples) {
      const code = `${sample}\nreturn 1;`;
      const text = erased(code);
      expect(text).toHaveLength(code.length);
      // Where the texts differ there is a space, or one of the signs that keep the neighbours apart.
      const changed = [...text].filter((character, index) => character !== code[index]);
      expect(new Set(changed).difference(new Set([' ', ';', '(', ')'])).size).toBe(0);
    }
  });

  test('of the services themselves are erased like Node.js does', { timeout: fuzzTimeoutMs }, () => {
    const folder = path.join(import.meta.dirname, '../../services/code-run');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) {
      // A program: without imports, exports, and the address of a module.
      const code = `${readFileSync(path.join(folder, file), 'utf8')
        .replace(/^(?:import\b|export (?:type )?[*{])[^;]*;$/gm, (found) => found.replace(/[^\n]/g, ' '))
        .replace(/^export /gm, '       ')
        .replaceAll('import.meta', 'importMeta ')}\nreturn 1;`;
      if (meaning(erased(code)) !== meaning(strippedByNode(code)))
        throw new Error(`${file} is another program`);
    }
  });

  test('are erased like Node.js does in any order and nesting', { timeout: fuzzTimeoutMs }, () => {
    const statement = fc.constantFrom(...samples.filter((sample) => !/\b(?:as = 1|y6)\b/.test(sample)));
    const wrapped = fc
      .tuple(fc.constantFrom('', 'if (a) {\n', 'const w = async (a: string) => {\n', 'try {\n'), statement)
      .map(([open, inner]) =>
        open === '' ? inner : `${open}${inner}\n}${open.startsWith('try') ? ' finally {}' : ''}`,
      );
    const program = fc.array(wrapped, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(program, fc.constantFrom('\n', '\n\n', '; '), (statements, separator) => {
        const scoped = statements.map((text) => `{${separator}${text}${separator}}`);
        const code = `let s: number = 1;${scoped.join(separator)}${separator}return 1;`;
        expect(meaning(erased(code))).toBe(meaning(strippedByNode(code)));
      }),
      { numRuns: fuzzRuns(150) },
    );
  });

  test('of an import or export go with the statement', () => {
    expect(erased('import type { A } from "./a";\nimport { type B } from "b";\nreturn 1 as A;')).toBe(
      ';                            \n;                          \nreturn 1     ;',
    );
    expect(erased('export type A = 1;\nexport interface B {}\nexport type { A };\nreturn 1;')).toMatch(
      /^; +\n; +\n; +\nreturn 1;$/,
    );
    expect(erased('export default interface A { b: 1 }\nreturn 1 as number;')).toMatch(
      /^; +\nreturn 1 {10};$/,
    );
    expect(erased('export default async function main(): Promise<number> { return 1 }')).toBe(
      '               async function main()                  { return 1 };return main();',
    );
  });

  test('are found in a call where JavaScript would compare', () => {
    expect(erased('return list.reduce<Record<string, number>>((a) => a, {});')).toBe(
      'return list.reduce                        ((a) => a, {});',
    );
    expect(erased('const number = 1;\nreturn [a<number, b>(c)];')).toBe(
      'const number = 1;\nreturn [a<number, b>(c)];',
    );
    expect(erased('return "f<string>(x)";')).toBe('return "f<string>(x)";');
  });

  test('are not looked for in a program that is JavaScript', () => {
    const code = 'const a = f < b > (c);\nconst as = 1, type = 2;\nreturn a ? (as) : (type);';
    expect(erased(code)).toBe(code);
  });
});
