/** console: readable lines, within their limits, whatever it is given. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { run, logs } = useRealm();

/** What `console.log` makes of some expressions. */
async function shown(...expressions: string[]): Promise<string> {
  const [line, ...more] = await logs(`console.log(${expressions.join(', ')})`);
  expect(more).toEqual([]);
  return (line ?? '').replace(/^info /, '');
}

describe('console.log shows', () => {
  for (const [expression, text] of [
    ['"text"', 'text'],
    ['""', ''],
    ['1.5', '1.5'],
    ['-0', '-0'],
    ['NaN', 'NaN'],
    ['10n', '10n'],
    ['true', 'true'],
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['Symbol("s")', 'Symbol(s)'],
    ['{}', '{}'],
    ['[]', '[]'],
    ['{ a: 1, b: "x", "odd key": [1, "2"] }', "{ a: 1, b: 'x', 'odd key': [ 1, '2' ] }"],
    ['["it\'s"]', '[ "it\'s" ]'],
    ['["line\\nbreak"]', '[ "line\\nbreak" ]'],
    ['{ [Symbol("k")]: 1 }', '{ [Symbol(k)]: 1 }'],
    ['[1, , 3]', '[ 1, empty, 3 ]'],
    ['Object.assign([1], { extra: 2 })', '[ 1, extra: 2 ]'],
    ['new Map([["a", { b: 1 }]])', "Map(1) { 'a' => { b: 1 } }"],
    ['new Set([1, "x"])', "Set(2) { 1, 'x' }"],
    ['new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['new Date(NaN)', 'Invalid Date'],
    ['/a+/gi', '/a+/gi'],
    ['new Uint8Array([1, 2])', 'Uint8Array(2) [ 1, 2 ]'],
    ['new ArrayBuffer(4)', 'ArrayBuffer { byteLength: 4 }'],
    ['new Number(3)', '[Number: 3]'],
    ['new String("s")', "[String: 's']"],
    ['() => 1', '[Function (anonymous)]'],
    ['function named() {}', '[Function: named]'],
    ['class Thing {}', '[class: Thing]'],
    ['new (class Thing { a = 1 })()', 'Thing { a: 1 }'],
    ['Object.create(null)', '[Object: null prototype] {}'],
    ['Promise.resolve(1)', 'Promise { not awaited }'],
    ['apps.notes.read_note({}).then(() => {}) && 1', '1'],
    ['{ get a() { return 1 }, set b(v) {} }', '{ a: [Getter], b: [Setter] }'],
    ['new WeakMap()', 'WeakMap {}'],
    ['Temporal.Now.instant()', 'Instant 2026-11-30T12:34:56.789Z'],
    [
      '{ d: new Temporal.PlainDate(2026, 1, 2), t: Temporal.Duration.from({ hours: 3 }) }',
      '{ d: PlainDate 2026-01-02, t: Duration PT3H }',
    ],
    ['new URL("http://a/b?c=1")', 'URL http://a/b?c=1'],
    ['[new URLSearchParams("a=1&b=2")]', '[ URLSearchParams a=1&b=2 ]'],
    ['[URL.name, URLSearchParams.name, TextDecoder.name]', "[ 'URL', 'URLSearchParams', 'TextDecoder' ]"],
    ['new (class Y extends Map {})([[1, 2]])', 'Y(1) { 1 => 2 }'],
  ] as const) {
    it(`${expression} as ${text}`, async () => {
      expect(await shown(`(${expression})`)).toBe(text);
    });
  }

  it('several values with blanks between them', async () => {
    expect(await shown('"found"', '1', '"of"', '{ n: 2 }')).toBe('found 1 of { n: 2 }');
    expect(await shown()).toBe('');
  });

  it('format specifiers', async () => {
    expect(await shown('"%s has %d notes"', '"Ada"', '2')).toBe('Ada has 2 notes');
    expect(await shown('"%i %f %d %s %%"', '3.7', '3.7', '"4"', '{ a: 1 }')).toBe('3 3.7 4 { a: 1 } %');
    expect(await shown('"%j|%o|%O"', '{ a: 1 }', '[1]', '"s"')).toBe("{ a: 1 }|[ 1 ]|'s'");
    expect(await shown('"%cred"', '"color: red"')).toBe('red');
    expect(await shown('"100%"', '"sure"')).toBe('100% sure');
    expect(await shown('"%s"')).toBe('%s');
    expect(await shown('"%s"', '1', '"more"')).toBe('1 more');
    expect(await shown('"%x"', '1')).toBe('%x 1');
  });

  it('long objects on several lines', async () => {
    const object =
      '{ title: "A rather long title", list: ["first entry", "second entry"], deep: { er: { a: 1 } } }';
    expect(await shown(object)).toBe(
      "{\n  title: 'A rather long title',\n  list: [ 'first entry', 'second entry' ],\n  deep: { er: { a: 1 } }\n}",
    );
    expect(await shown(`{ outer: ${object} }`)).toBe(
      "{\n  outer: {\n    title: 'A rather long title',\n    list: [ 'first entry', 'second entry' ],\n    deep: { er: { a: 1 } }\n  }\n}",
    );
  });

  it('cycles', async () => {
    const program = 'const a = { list: [] }; a.list.push(a, { a }); console.log(a)';
    expect(await logs(program)).toEqual(['info { list: [ [Circular], { a: [Circular] } ] }']);
  });

  it('only so deep, and only so many', async () => {
    expect(await shown('{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }')).toBe(
      '{ a: { b: { c: { d: { e: { f: [Object] } } } } } }',
    );
    expect(await shown('new Array(150).fill(0)')).toMatch(/0,\n {2}… 50 more items\n\]$/);
    expect(await shown('Object.fromEntries(new Array(150).fill(0).map((_, i) => ["k" + i, i]))')).toMatch(
      /k99: 99,\n {2}… 50 more\n\}$/,
    );
    expect(await shown('new Set(new Array(150).keys())')).toMatch(/99,\n {2}… 50 more items\n\}$/);
  });

  it('errors with their stack, cause and what else they carry', async () => {
    expect(await shown('new TypeError("no")')).toBe('TypeError: no\n    at program:1:13');
    expect(await shown('Object.assign(new Error("no"), { code: 5 })')).toBe(
      'Error: no\n    at program:1:27 { code: 5 }',
    );
    expect(await shown('new Error("outer", { cause: "why" })')).toBe(
      "Error: outer\n    at program:1:13\n  cause: 'why'",
    );
    expect(await logs('try { await apps.mail.send(5) } catch (e) { console.error(e.message) }')).toEqual([
      'error apps.mail.send takes one object of named arguments, not a number',
    ]);
  });
});

describe('console', () => {
  it('has a level for each method', async () => {
    const program = `console.debug('a'); console.log('b'); console.info('c'); console.warn('d'); console.error('e');
      console.dir({ f: 1 }); console.trace('g'); console.assert(true, 'no'); console.assert(false, 'h', 1); console.assert(0);`;
    expect(await logs(program)).toEqual([
      'debug a',
      'info b',
      'info c',
      'warn d',
      'error e',
      'info { f: 1 }',
      'debug Trace: g\n    at program:2:38',
      'error Assertion failed: h 1',
      'error Assertion failed',
    ]);
  });

  it('indents groups', async () => {
    const program = `console.group('outer'); console.log('a\\nb'); console.groupCollapsed(); console.log('c');
      console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('d')`;
    expect(await logs(program)).toEqual(['info outer', 'info   a\n  b', 'info     c', 'info d']);
  });

  it('counts, and takes no time', async () => {
    const program = `console.count(); console.count('x'); console.count(); console.countReset(); console.count();
      console.time('t'); console.timeLog('t', 1); console.timeEnd('t')`;
    expect(await logs(program)).toEqual([
      'info default: 1',
      'info x: 1',
      'info default: 2',
      'info default: 1',
      'info t: 0ms 1',
      'info t: 0ms',
    ]);
  });

  it('draws tables', async () => {
    const program =
      "console.table([{ a: 1, b: 'x' }, { a: 22, c: true }]); console.table([5, [6]]); console.table('no')";
    expect(await logs(program)).toEqual([
      "info (index) | a  | b   | c   \n--------|----|-----|-----\n0       | 1  | 'x' |     \n1       | 22 |     | true",
      'info (index) | 0 | Values\n--------|---|-------\n0       |   | 5     \n1       | 6 |       ',
      'info no',
    ]);
  });

  it('works without its object', async () => {
    expect(await logs('const { log } = console; [1, 2].forEach((n) => log(n))')).toEqual([
      'info 1',
      'info 2',
    ]);
  });
});

describe('console survives', () => {
  for (const [what, expression] of [
    ['a toString that throws', '{ toString() { throw 1 } }'],
    [
      'a proxy whose traps throw',
      'new Proxy({}, { ownKeys() { throw 1 }, get() { throw 2 }, getPrototypeOf() { throw 3 } })',
    ],
    [
      'a revoked proxy',
      '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()',
    ],
    [
      'a revoked proxy of a function',
      '(() => { const { proxy, revoke } = Proxy.revocable(() => {}, {}); revoke(); return proxy })()',
    ],
    ['a proxy that lies about its keys', 'new Proxy({}, { ownKeys: () => ["a", "a"] })'],
    ['a class whose name is a getter', 'new (class { static get name() { throw 1 } })()'],
    [
      'an error whose stack is a getter',
      'Object.defineProperty(new Error("x"), "stack", { get() { throw 1 } })',
    ],
    ['an error whose message is a symbol', 'Object.assign(new Error(), { message: Symbol() })'],
    ['a date with another toISOString', 'Object.assign(new Date(0), { toISOString() { throw 1 } })'],
    ['a regular expression with odd flags', 'Object.defineProperty(/a/, "flags", { get() { throw 1 } })'],
    ['prototypes in a long chain', 'Array.from({ length: 5000 }).reduce((a) => Object.create(a), {})'],
    ['depth', '(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a })()'],
  ] as const) {
    it(what, async () => {
      const { ending, logs: lines } = await run(
        `console.log(${expression}); console.table([${expression}]); return 1`,
      );
      expect(ending).toEqual({ tag: 'returned', json: '1' });
      expect(lines).toHaveLength(2);
    });
  }

  it('a proxy that makes more of itself', async () => {
    const program = `const deep = () => new Proxy({}, {
        ownKeys: () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
        getOwnPropertyDescriptor: () => ({ value: deep(), enumerable: true, configurable: true }),
      });
      console.log(deep()); return 1`;
    const { ending, logs: lines } = await run(program, { job: { logLineBytesMax: 2000 } });
    expect(ending).toEqual({ tag: 'returned', json: '1' });
    expect(lines[0]?.length).toBeLessThan(20_000);
  });
});

describe('the log', () => {
  it('cuts a line past its limit, and says how much there was', async () => {
    const job = { logLineBytesMax: 200 };
    expect(await logs('console.log("é".repeat(100))', { job })).toEqual([`info ${'é'.repeat(100)}`]);
    expect(await logs('console.log("é".repeat(100) + "x")', { job })).toEqual([
      `info ${'é'.repeat(68)}… [cut: 68 of 101 characters]`,
    ]);
  });

  it('never has a line longer than the limit, whatever cut it', async () => {
    const job = { logLineBytesMax: 1000, outputBytes: 1024 };
    for (const length of [900, 960, 990, 1000, 1001, 5000]) {
      const lines = await logs(
        `console.log("x"); console.log("y".repeat(${length})); console.log("z".repeat(100))`,
        { job },
      );
      const longest = Math.max(...lines.map((line) => Buffer.byteLength(line.replace(/^\w+ /, ''))));
      expect(longest).toBeLessThanOrEqual(1000);
    }
  });

  it('never cuts a character in two', async () => {
    const job = { logLineBytesMax: 74 };
    expect(await logs('console.log("😀".repeat(20))', { job })).toEqual([
      'info 😀😀… [cut: 4 of 40 characters]',
    ]);
  });

  it('keeps as much text as fits in all, and counts the rest', async () => {
    const job = { outputBytes: 1024 };
    const program = 'for (let i = 0; i < 5; i++) console.log(String(i).repeat(300)); return 1';
    const { logs: lines, ending } = await run(program, { job });
    expect(lines).toEqual([
      `info ${'0'.repeat(300)}`,
      `info ${'1'.repeat(300)}`,
      `info ${'2'.repeat(300)}`,
      `info ${'3'.repeat(124)}… [cut: the log is full]`,
      'warn The log is full: 2 lines were cut or left out, 476 characters in all.',
    ]);
    expect(ending).toEqual({ tag: 'returned', json: '1' });
  });

  it('of exactly the limit is whole', async () => {
    const job = { outputBytes: 1024 };
    expect(await logs('console.log("x".repeat(1000)); console.log("y".repeat(24))', { job })).toHaveLength(2);
    const more = await logs('console.log("x".repeat(1000)); console.log("y".repeat(25))', { job });
    expect(more.at(-1)).toBe('warn The log is full: 1 line was cut or left out, 1 characters in all.');
  });

  it('of empty lines is full as well', async () => {
    const lines = await logs('for (let i = 0; i < 2000; i++) console.log(""); return 1', {
      job: { outputBytes: 1024 },
    });
    expect(lines).toHaveLength(1025);
    expect(lines.at(-1)).toBe('warn The log is full: 976 lines were cut or left out, 0 characters in all.');
  });

  it('does not grow with what a program prints', async () => {
    const program = 'for (let i = 0; i < 20_000; i++) console.log("line", i); return 1';
    const { logs: lines, ending } = await run(program, { job: { outputBytes: 2048 } });
    expect(ending).toEqual({ tag: 'returned', json: '1' });
    expect(lines.join('').length).toBeLessThan(4096);
  });

  it('shows only the start of huge values', async () => {
    const job = { logLineBytesMax: 1000 };
    const [line] = await logs('console.log({ big: "x".repeat(1e7), more: [new Array(1e6).fill("y")] })', {
      job,
    });
    expect(line?.length).toBeLessThan(1300);
    expect(line).toContain('more characters');
  });
});
