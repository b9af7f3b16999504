/** Every way to see something that differs between two attempts, and what it gives instead. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createdAtMs, useRealm } from './harness/realm.ts';

const { run, value, thrown } = useRealm();

/** Paths of everything that can be reached from the global object by name. */
const listMembers = `
  const seen = new Set(), paths = [];
  const visit = (path, owner) => {
    if (Object(owner) !== owner || seen.has(owner)) return;
    seen.add(owner);
    for (const key of Reflect.ownKeys(owner)) {
      const member = path + String(key);
      if (member === 'apps') continue;
      paths.push(member);
      visit(member + '.', Reflect.getOwnPropertyDescriptor(owner, key).value);
    }
  };
  visit('', globalThis);
  for (const [name, unnamed] of Object.entries({
    Async: async () => {}, Generator: function* () {}, AsyncGenerator: async function* () {}, Typed: Uint8Array,
    ArrayIterator: [].values(), MapIterator: new Map().values(), SetIterator: new Set().values(),
    StringIterator: ''[Symbol.iterator](), RegExpIterator: ''.matchAll(/a/g), IteratorHelper: [].values().map(String),
    Wrapped: Iterator.from({ next() {} }), Segments: new Intl.Segmenter().segment('a'),
  })) visit(name + '.', Object.getPrototypeOf(unnamed));
  return paths;`;

/** The same in an isolate that nobody has touched. */
const bareMembers = `
  const ivm = require('isolated-vm');
  const context = new ivm.Isolate().createContextSync();
  const members = context.evalClosureSync(${JSON.stringify(listMembers)}, [], { result: { copy: true } });
  process.stdout.write(JSON.stringify(members));`;

const iso = new Date(createdAtMs).toISOString();

describe('the time is when the run was created', () => {
  for (const [expression, expected] of [
    ['Date.now()', createdAtMs],
    ['new Date().getTime()', createdAtMs],
    ['new Date().toISOString()', iso],
    ['Date()', 'Mon Nov 30 2026 12:34:56 GMT+0000 (Coordinated Universal Time)'],
    ['Date(0)', 'Mon Nov 30 2026 12:34:56 GMT+0000 (Coordinated Universal Time)'],
    ['+new Date.prototype.constructor()', createdAtMs],
    ['Date.prototype.constructor.now()', createdAtMs],
    ['+new (new Date(0).constructor)()', createdAtMs],
    ['+new (class extends Date {})()', createdAtMs],
    ['+new (class extends Date { constructor() { super(); } })()', createdAtMs],
    ['+Reflect.construct(Date, [])', createdAtMs],
    ['+Reflect.construct(Date, [], class extends Date {})', createdAtMs],
    ['+Reflect.apply(Date.prototype.getTime, Reflect.construct(Date, [], Object), [])', createdAtMs],
    ['+new (Date.bind(null))()', createdAtMs],
    ['new Date().toTemporalInstant().epochMilliseconds', createdAtMs],
    ['new Date().toLocaleString()', '11/30/2026, 12:34:56 PM'],
    ['Temporal.Now.instant().epochMilliseconds', createdAtMs],
    ['Temporal.Now.zonedDateTimeISO().toString()', '2026-11-30T12:34:56.789+00:00[UTC]'],
    ['Temporal.Now.zonedDateTimeISO("Asia/Tokyo").hour', 21],
    ['Temporal.Now.plainDateISO().toString()', '2026-11-30'],
    ['Temporal.Now.plainDateISO("Pacific/Kiritimati").toString()', '2026-12-01'],
    ['Temporal.Now.plainTimeISO().toString()', '12:34:56.789'],
    ['Temporal.Now.plainDateTimeISO().toString()', '2026-11-30T12:34:56.789'],
    ['new Intl.DateTimeFormat().format()', '11/30/2026'],
    ['new Intl.DateTimeFormat().format(undefined)', '11/30/2026'],
    ['Intl.DateTimeFormat("de").format()', '30.11.2026'],
    ['new Intl.DateTimeFormat("en", { timeStyle: "medium" }).format()', '12:34:56 PM'],
    ['[undefined].map(new Intl.DateTimeFormat().format)[0]', '11/30/2026'],
    ['Reflect.get(Intl.DateTimeFormat.prototype, "format", new Intl.DateTimeFormat())()', '11/30/2026'],
    ['new Intl.DateTimeFormat().formatToParts().map((p) => p.value).join("")', '11/30/2026'],
    ['new Intl.DateTimeFormat().formatToParts(undefined).at(-1).value', '2026'],
  ] as const) {
    it(`in ${expression}`, async () => {
      expect(await value(`return ${expression}`)).toBe(expected);
    });
  }

  it('and stays so while calls come and go', async () => {
    const program = 'const a = Date.now(); await apps.notes.read_note({}); return Date.now() - a';
    expect(await value(program)).toBe(0);
  });
});

describe('dates that a program gives', () => {
  for (const [expression, expected] of [
    ['new Date(0).getTime()', 0],
    ['new Date("2026-01-31").toISOString()', '2026-01-31T00:00:00.000Z'],
    ['new Date(2026, 0, 31, 5).toISOString()', '2026-01-31T05:00:00.000Z'],
    ['String(new Date(undefined))', 'Invalid Date'],
    ['Date.UTC(2026, 0)', 1767225600000],
    ['Date.parse("2026-01-01T00:00Z")', 1767225600000],
    ['new Intl.DateTimeFormat().format(0)', '1/1/1970'],
    ['new Intl.DateTimeFormat().formatToParts(0)[0].value', '1'],
    ['Date.length', 7],
    ['Date.name', 'Date'],
    ['new Date() instanceof Date', true],
    ['Object.keys(Date).length', 0],
    ['Temporal.Instant.fromEpochMilliseconds(5).epochMilliseconds', 5],
  ] as const) {
    it(`keep their meaning in ${expression}`, async () => {
      expect(await value(`return ${expression}`)).toBe(expected);
    });
  }

  it('keep one formatting function for each formatter', async () => {
    expect(await value('const f = new Intl.DateTimeFormat(); return f.format === f.format')).toBe(true);
    expect(await thrown('Reflect.get(Intl.DateTimeFormat.prototype, "format", {})')).toMatchObject({
      name: 'TypeError',
    });
  });
});

describe('the zone is UTC and the locale en-US', () => {
  for (const [expression, expected] of [
    ['Temporal.Now.timeZoneId()', 'UTC'],
    ['Intl.DateTimeFormat().resolvedOptions().timeZone', 'UTC'],
    ['new Date(0).getTimezoneOffset()', 0],
    ['new Date(2026, 6, 1).getTimezoneOffset()', 0],
    ['Intl.DateTimeFormat().resolvedOptions().locale', 'en-US'],
    ['Intl.NumberFormat().resolvedOptions().locale', 'en-US'],
    ['(1234.5).toLocaleString()', '1,234.5'],
    ['new Intl.Collator().resolvedOptions().locale', 'en-US'],
    ['["ä", "z", "a"].sort(new Intl.Collator().compare).join("")', 'aäz'],
    ['"I".toLocaleLowerCase()', 'i'],
  ] as const) {
    it(`in ${expression}`, async () => {
      expect(await value(`return ${expression}`)).toBe(expected);
    });
  }
});

describe('random numbers', () => {
  const draw = 'return [Math.random(), Math.random(), crypto.randomUUID(), Math.random()]';
  const seed = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0xdeadbeef] as const;

  it('are the same for the same seed, whatever the release', async () => {
    expect(await value(draw, { job: { seed } })).toEqual(await value(draw, { job: { seed } }));
    expect(await value('return [Math.random(), Math.random()]', { job: { seed } })).toMatchInlineSnapshot(`
      [
        0.5736841634011738,
        0.01728915753698057,
      ]
    `);
    expect(await value('return crypto.randomUUID()', { job: { seed } })).toMatchInlineSnapshot(
      `"92dcf72a-0054-4cb2-846d-0ff37192e3d9"`,
    );
  });

  it('differ for another seed, in every word of it', async () => {
    const seen = new Set<unknown>();
    for (const word of [0, 1, 2, 3]) {
      const other = seed.map((part, at) => (at === word ? part ^ 1 : part));
      seen.add(
        await value('Math.random(); return Math.random()', {
          job: { seed: other as unknown as typeof seed },
        }),
      );
    }
    seen.add(await value('Math.random(); return Math.random()', { job: { seed } }));
    expect(seen.size).toBe(5);
  });

  it('fill the whole range evenly', async () => {
    const program = `const buckets = new Array(10).fill(0);
      for (let i = 0; i < 10_000; i++) buckets[Math.floor(Math.random() * 10)]++;
      return buckets;`;
    const buckets = (await value(program, { job: { seed } })) as number[];
    expect(buckets).toHaveLength(10);
    for (const count of buckets) {
      expect(count).toBeGreaterThan(850);
      expect(count).toBeLessThan(1150);
    }
  });

  it('come even from a seed of nothing but zeros', async () => {
    expect(
      await value('return new Set([1, 2, 3, 4, 5, 6].map(Math.random)).size > 3', {
        job: { seed: [0, 0, 0, 0] },
      }),
    ).toBe(true);
  });

  it('make UUIDs of version 4', async () => {
    const uuids = (await value('return Array.from({ length: 50 }, () => crypto.randomUUID())')) as string[];
    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(new Set(uuids).size).toBe(50);
  });
});

describe('what is not there', () => {
  for (const name of [
    'WeakRef',
    'FinalizationRegistry',
    'Atomics',
    'SharedArrayBuffer',
    'WebAssembly',
    'ShadowRealm',
    'gc',
    'performance',
    'process',
    'require',
    'fetch',
    'setTimeout',
    'Intl.v8BreakIterator',
  ]) {
    it(`is ${name}`, async () => {
      expect(await value(`return typeof ${name}`)).toBe('undefined');
    });
  }

  for (const made of [
    'new ArrayBuffer(8, { maxByteLength: 1e9 })',
    'new ArrayBuffer(8, Object.create({ maxByteLength: 8 }))',
    'new ArrayBuffer(8, Object.assign(() => 1, { maxByteLength: 8 }))',
    'new (class extends ArrayBuffer {})(8, { maxByteLength: 1e9 })',
    'Reflect.construct(ArrayBuffer, [8, { maxByteLength: 1e9 }])',
    'new (new ArrayBuffer(1).constructor)(8, { maxByteLength: 1e9 })',
    'new (new Uint8Array(1).buffer.constructor)(8, { maxByteLength: 1e9 })',
  ]) {
    it(`is a buffer that grows, of ${made}`, async () => {
      expect(await thrown(`return ${made}`)).toMatchObject({
        name: 'TypeError',
        message:
          'An ArrayBuffer cannot be made to grow here: leave out maxByteLength, and get a larger one with transfer(newLength).',
      });
    });
  }

  it('is none of the other buffers', async () => {
    const program = `const moved = new Uint8Array([1, 2]).buffer;
      const buffers = [
        new ArrayBuffer(2), new ArrayBuffer(2, {}), new ArrayBuffer(2, { maxByteLength: undefined }),
        new ArrayBuffer(2, null), new ArrayBuffer(2).slice(), new Uint8Array(2).buffer, moved.transfer(),
      ];
      const fixed = buffers.every((b) => b instanceof ArrayBuffer && b.constructor === ArrayBuffer &&
        b.byteLength === 2 && b.maxByteLength === 2 && !b.resizable && !b.detached);
      const refusals = buffers.map((b) => { try { b.resize(1) } catch (e) { return e.name } });
      const grown = new Uint8Array(buffers[6].transferToFixedLength(4));
      return [fixed, new Set(refusals).size, refusals[0], moved.detached, [...grown]];`;
    expect(await value(program)).toEqual([true, 1, 'TypeError', true, [1, 2, 0, 0]]);
  });

  it('is no member of the language but what stands here', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', bareMembers]);
    const bare = JSON.parse(stdout) as string[];
    const here = new Set((await value(listMembers, { job: { outputBytes: 2 ** 20 } })) as string[]);
    expect(bare.length).toBeGreaterThan(1000);
    // console is the realm's own.
    const parent = (name: string) => name.slice(0, name.lastIndexOf('.'));
    const absent = bare.filter(
      (name) =>
        !here.has(name) && !name.startsWith('console.') && (!name.includes('.') || here.has(parent(name))),
    );
    const removed = [
      'Atomics',
      'FinalizationRegistry',
      'WeakRef',
      'SharedArrayBuffer',
      'WebAssembly',
      'Intl.v8BreakIterator',
    ];
    expect(absent.sort()).toEqual(removed.sort());
  });

  it('is anything that this list does not name', async () => {
    const names = await value('return Object.getOwnPropertyNames(globalThis).sort().join(" ")');
    expect(names).toMatchInlineSnapshot(
      `"AggregateError AppCallDenied AppCallFailed AppInputRequired Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError Temporal TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet apps atob btoa console crypto decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt queueMicrotask structuredClone undefined unescape"`,
    );
  });
});

describe('stacks', () => {
  it('show the lines of the program alone', async () => {
    const program = `const inner = () => {
  throw new Error('x');
};
function outer() {
  [1].forEach(inner);
}
try { outer(); } catch (e) { return e.stack; }`;
    expect(await value(program)).toBe(
      'Error: x\n    at inner (program:2:9)\n    at outer (program:5:7)\n    at program:7:7',
    );
  });

  it('go through awaits', async () => {
    const program = `async function a() { await null; throw new Error('deep'); }
async function b() { await a(); }
try { await b(); } catch (e) { return e.stack; }`;
    expect(await value(program)).toBe(
      'Error: deep\n    at a (program:1:40)\n    at b (program:2:22)\n    at program:3:7',
    );
  });

  it('of errors of the realm begin in the program', async () => {
    expect(await value('try { await apps.notes.read_note(1) } catch (e) { return e.stack }')).toBe(
      'TypeError: apps.notes.read_note takes one object of named arguments, not a number\n    at program:1:24',
    );
  });

  it('leave out what normalization inserted', async () => {
    const columnShifts = [[1, 1, 7]] as const;
    expect(await value('return new Error("x").stack', { job: { columnShifts } })).toBe(
      'Error: x\n    at program:1:1',
    );
  });

  it('are as deep in every process', async () => {
    const program = 'let depth = 0; const f = () => { depth++; f(); }; try { f(); } catch { return depth }';
    const depths = new Set<unknown>();
    for (let round = 0; round < 5; round += 1) {
      depths.add(await value(program));
    }
    expect(depths.size).toBe(1);
  });
});

describe('the same program', () => {
  it('gives the same transcript with the same inputs', async () => {
    const program = `
      console.log(new Date(), Math.random(), crypto.randomUUID(), new Error('e').stack);
      const results = await Promise.all([1, 2, 3].map(async (id) => {
        const r = await apps.notes.read_note({ id, at: Date.now(), pick: Math.random() });
        if (r.id > 1) await apps.mail.send({ to: r.id });
        return r;
      }));
      console.log(results);
      return results;`;
    const options = { order: [1, 0, 3, 2, 4] };
    expect(await run(program, options)).toEqual(await run(program, options));
  });
});
