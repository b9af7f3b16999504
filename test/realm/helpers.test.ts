/** Pure helpers, each against what Node.js itself gives. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { value, thrown, run } = useRealm();

/** Runs an expression here and there: both must agree. */
async function agrees(expression: string): Promise<void> {
  const here: unknown = new Function(`return (${expression})`)();
  expect(await value(`return (${expression})`), expression).toEqual(JSON.parse(JSON.stringify(here)));
}

describe('URL', () => {
  for (const url of [
    'https://user:pw@example.com:8443/a/b/../c?x=1&y=%20#h',
    'HTTP://EXAMPLE.com:80/%7Efoo/./bar',
    'file:///etc/../hosts',
    'mailto:a@b.c?subject=x y',
    'https://exämple.de/ü?q=ß',
    'https://日本語.jp/',
    'https://ＦＵＬＬ．com/',
    'http://[::1]:3000/x',
    'http://0x7f.1/',
    'data:text/plain,hello',
  ]) {
    it(`reads ${url}`, async () => {
      const parts = [
        'href',
        'origin',
        'protocol',
        'username',
        'password',
        'host',
        'port',
        'pathname',
        'search',
        'hash',
      ];
      await agrees(
        `(() => { const u = new URL(${JSON.stringify(url)}); return [${parts.map((p) => `u.${p}`).join()}] })()`,
      );
    });
  }

  it('resolves, changes and refuses', async () => {
    await agrees('new URL("../x?y#z", "https://a.b/c/d/e").href');
    await agrees('[URL.canParse("nope"), URL.canParse("a:b"), URL.parse("nope")]');
    await agrees(
      '(() => { const u = new URL("http://a/"); u.searchParams.set("q", "a b&c"); u.hash = "x"; return String(u) })()',
    );
    await agrees('JSON.stringify({ u: new URL("http://a/b") })');
    expect(await thrown('new URL("nope")')).toMatchObject({
      name: 'TypeError',
      message: 'Invalid URL: nope',
    });
  });
});

describe('URLSearchParams', () => {
  it('reads, writes, lists and sorts', async () => {
    await agrees('[...new URLSearchParams("?a=1&b=2&a=3&c=%20+")]');
    await agrees('new URLSearchParams({ q: "a b", "ü": "&=" }).toString()');
    await agrees('new URLSearchParams([["a", "1"], ["b", 2]]).toString()');
    await agrees(
      '(() => { const p = new URLSearchParams("b=1&a=2"); p.sort(); p.append("c", "3"); p.delete("a"); return [p.get("b"), p.getAll("x"), p.has("c"), p.size, String(p)] })()',
    );
  });
});

describe('TextEncoder and TextDecoder', () => {
  it('agree on text of every kind', async () => {
    for (const text of ['', 'plain', 'é€😀', '\ud800x', '\u0000\ufeff']) {
      await agrees(`[...new TextEncoder().encode(${JSON.stringify(text)})]`);
      await agrees(`new TextDecoder().decode(new TextEncoder().encode(${JSON.stringify(text)}))`);
    }
  });

  it('decode other encodings, and what is broken', async () => {
    await agrees('new TextDecoder("latin1").decode(new Uint8Array([0xe9, 0x80]))');
    await agrees('new TextDecoder("utf-16le").decode(new Uint8Array([0x41, 0, 0xac, 0x20]))');
    await agrees('new TextDecoder().decode(new Uint8Array([0x61, 0xff, 0x62, 0xe2, 0x82]))');
    await agrees(
      'new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))',
    );
    await agrees('new TextDecoder().decode(new Uint8Array([0x61, 0x62]).buffer)');
    await agrees(
      '(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac])) })()',
    );
    await agrees('new TextEncoder().encodeInto("aé", new Uint8Array(2))');
    expect(
      await thrown('new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))'),
    ).toMatchObject({
      name: 'TypeError',
    });
    expect(await thrown('new TextDecoder("nonsense")')).toMatchObject({ name: 'RangeError' });
  });

  it('take a megabyte', async () => {
    const program =
      'const t = "aé€".repeat(200_000); return new TextDecoder().decode(new TextEncoder().encode(t)) === t';
    expect(await value(program)).toBe(true);
  });
});

describe('atob and btoa', () => {
  it('agree with the web', async () => {
    for (const text of ['', 'a', 'ab', 'abc', '\u00ff\u0000']) {
      await agrees(`btoa(${JSON.stringify(text)})`);
      await agrees(`atob(btoa(${JSON.stringify(text)}))`);
    }
    await agrees('[atob("aGk"), atob(" aG k= "), atob("aGl="), atob("\\n")]');
    await agrees('btoa(12)');
  });

  it('refuse what they cannot read or write', async () => {
    for (const text of ['*', 'a', 'ab=c', 'abc==', '-_-_']) {
      expect(await thrown(`atob(${JSON.stringify(text)})`)).toMatchObject({ name: 'InvalidCharacterError' });
    }
    expect(await thrown('btoa("€")')).toMatchObject({
      name: 'InvalidCharacterError',
      message:
        'btoa takes characters up to U+00FF: encode other text with new TextEncoder().encode(text).toBase64()',
    });
  });
});

describe('structuredClone', () => {
  it('copies values of every kind', async () => {
    await agrees('structuredClone({ a: [1, "x", null, undefined, { b: true }], d: new Date(5) })');
    await agrees('[...structuredClone(new Map([[{ k: 1 }, new Set([1])]]))].map(([k, v]) => [k, [...v]])');
    await agrees('(() => { const r = structuredClone(/a/gi); return [r.source, r.flags, r.lastIndex] })()');
    await agrees(
      '(() => { const u = structuredClone(new Uint16Array([1, 2, 3]).subarray(1)); return [u.constructor.name, [...u], u.buffer.byteLength] })()',
    );
    await agrees(
      '(() => { const v = structuredClone(new DataView(new ArrayBuffer(4), 1, 2)); return [v.byteOffset, v.byteLength] })()',
    );
    await agrees(
      '(() => { const e = structuredClone(new RangeError("m", { cause: 1 })); return [e instanceof RangeError, e.message, e.cause, e.name] })()',
    );
    await agrees(
      '(() => { class A { x = 1 } const c = structuredClone(new A()); return [c instanceof A, c.x] })()',
    );
    await agrees(
      '(() => { const a = [1]; a[3] = 4; const c = structuredClone(a); return [c.length, 2 in c] })()',
    );
    await agrees('Object.getPrototypeOf(structuredClone(Object.create(null))) === Object.prototype');
    await agrees('typeof structuredClone(Object(5))');
    await agrees('structuredClone(5)');
  });

  it('keeps cycles and what is shared', async () => {
    await agrees(
      '(() => { const s = {}; const a = { x: s, y: s }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.x === c.y, c.x !== s] })()',
    );
    await agrees(
      '(() => { const b = new ArrayBuffer(2); const [x, y] = structuredClone([new Uint8Array(b), new Uint8Array(b)]); return x.buffer === y.buffer })()',
    );
  });

  it('refuses what cannot be copied', async () => {
    for (const expression of [
      '() => 1',
      'Symbol()',
      '{ f() {} }',
      'Promise.resolve()',
      'new WeakMap()',
      '[Object(Symbol())]',
    ]) {
      expect(await thrown(`structuredClone(${expression})`)).toMatchObject({ name: 'DataCloneError' });
    }
    const detached = 'const b = new ArrayBuffer(1); b.transfer();';
    for (const [program, message] of [
      ['structuredClone(1, { transfer: [{}] })', 'only an ArrayBuffer can be transferred'],
      ['structuredClone(1, { transfer: [new Uint8Array(1)] })', 'only an ArrayBuffer can be transferred'],
      [
        'const b = new ArrayBuffer(1); structuredClone(1, { transfer: [b, b] })',
        'a buffer twice cannot be transferred',
      ],
      [
        `${detached} structuredClone(1, { transfer: [b] })`,
        'a buffer that is detached cannot be transferred',
      ],
      [`${detached} structuredClone({ b })`, 'a detached ArrayBuffer cannot be copied'],
    ] as const) {
      expect(await thrown(program)).toMatchObject({
        name: 'DataCloneError',
        message: `structuredClone: ${message}`,
      });
    }
  });

  it('detaches what is transferred, unless the copy fails', async () => {
    await agrees(`(() => {
      const bytes = new Uint8Array([1, 2, 3]);
      const other = new ArrayBuffer(2);
      const copy = structuredClone({ bytes, part: bytes.subarray(1) }, { transfer: [bytes.buffer, other] });
      return [[...copy.bytes], [...copy.part], copy.part.buffer === copy.bytes.buffer, bytes.length,
        bytes.buffer.detached, other.detached];
    })()`);
    await agrees(`(() => {
      const kept = new ArrayBuffer(2);
      try { structuredClone({ kept, f() {} }, { transfer: [kept] }); } catch { return kept.detached; }
    })()`);
  });
});

describe('queueMicrotask', () => {
  it('runs a task after what runs now', async () => {
    const program = 'const o = []; queueMicrotask(() => o.push(2)); o.push(1); await null; return o';
    expect(await value(program)).toEqual([1, 2]);
  });

  it('warns of a task that throws', async () => {
    const { logs, ending } = await run('queueMicrotask(() => { throw new Error("task") }); return 1');
    expect(logs).toEqual([
      'warn A promise was rejected while nothing handled it: Error: task (program:1:30). Await it, or catch its error.',
    ]);
    expect(ending).toEqual({ tag: 'returned', json: '1' });
  });

  it('takes functions alone', async () => {
    expect(await thrown('queueMicrotask(5)')).toMatchObject({ name: 'TypeError' });
  });
});
