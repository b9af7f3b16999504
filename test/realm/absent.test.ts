/** What is not there says what to do instead, and stays away for those who ask first. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { value, thrown } = useRealm();

const network =
  'fetch is not defined. Programs have no network: call the apps (Object.keys(apps) lists them) instead.';
const timers =
  'setTimeout is not defined. Programs have no timers, and time stands still: await the call itself; to retry, call again.';
const modules =
  'Programs cannot load modules: use the built-ins of the language and the apps (Object.keys(apps) lists them).';

describe('something absent', () => {
  it('that is used fails with help', async () => {
    expect(await thrown('const a = 1;\nawait fetch("https://example.com")')).toEqual({
      tag: 'threw',
      name: 'ReferenceError',
      message: network,
      position: '2:1',
    });
    expect(
      await thrown('const sleep = (ms) => new Promise((r) => setTimeout(r, ms)); await sleep(5)'),
    ).toMatchObject({
      message: timers,
    });
    expect(await thrown('require("fs")')).toMatchObject({ message: `require is not defined. ${modules}` });
  });

  it('gives its help to a program that catches it', async () => {
    expect(
      await value('try { await fetch("/") } catch (e) { return [e instanceof ReferenceError, e.message] }'),
    ).toEqual([true, network]);
  });

  it('is undefined for a program that asks first', async () => {
    expect(await value('return typeof fetch')).toBe('undefined');
    expect(await value('return typeof(setTimeout) === "function" ? setTimeout(1) : "none"')).toBe('none');
    expect(await value("return typeof Buffer !== 'undefined' ? Buffer.from('a') : btoa('a')")).toBe('YQ==');
    expect(await value("return 'fetch' in globalThis || Object.hasOwn(globalThis, 'process')")).toBe(false);
    expect(await value('return [globalThis.fetch, globalThis.process?.env]')).toEqual([null, null]);
    expect(await value('/* fetch the notes */ return globalThis?.fetch ?? "none"')).toBe('none');
  });

  it('still helps a program that asked and uses it all the same', async () => {
    expect(await thrown('typeof fetch; await fetch("/")')).toMatchObject({ message: network });
    expect(await thrown('await globalThis.fetch("/")')).toMatchObject({
      name: 'TypeError',
      message: `globalThis.fetch is not a function. ${network.slice(network.indexOf('Programs'))}`,
    });
  });

  it('is nothing to a program that has its own', async () => {
    expect(await value('const fetch = () => 5; return fetch()')).toBe(5);
    expect(
      await value('const o = { fetch: 1, setTimeout() { return 2 } }; return o.fetch + o.setTimeout()'),
    ).toBe(3);
    expect(await value('globalThis.Buffer = { from: () => 7 }; return Buffer.from()')).toBe(7);
    expect(await value('class Response { ok = 1 } return new Response().ok')).toBe(1);
  });

  for (const name of [
    'XMLHttpRequest',
    'WebSocket',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'performance',
    'process',
    'Buffer',
    'module',
    'window',
    'document',
    'localStorage',
    'Deno',
    'Bun',
    'global',
    '__dirname',
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'Worker',
    'WeakRef',
    'FinalizationRegistry',
    'AbortController',
    'Blob',
    'Event',
    'EventTarget',
    'ReadableStream',
    'DOMException',
    'URLPattern',
    'BroadcastChannel',
    'path',
    'util',
    'tools',
  ]) {
    it(`as ${name} says more than that it is not defined`, async () => {
      const { name: error, message } = await thrown(`return ${name}.x`);
      expect(error).toBe('ReferenceError');
      expect(message).toMatch(new RegExp(`^${name} is not defined\\. [A-Z].{20,}\\.$`));
    });
  }

  it('of crypto says what there is', async () => {
    const help = 'Of crypto there is randomUUID alone: a program has no hashes and no keys.';
    expect(await thrown('crypto.getRandomValues(new Uint8Array(2))')).toMatchObject({
      message: `crypto.getRandomValues is not a function. ${help}`,
    });
    expect(await thrown('await crypto.subtle.digest("SHA-256", new Uint8Array())')).toMatchObject({
      message: `Cannot read properties of undefined (reading 'digest'). ${help}`,
    });
    expect(await thrown('const book = {}; book.page.sign(1)')).toMatchObject({
      message: "Cannot read properties of undefined (reading 'sign')",
    });
  });

  it('is found where it was only looked for without apps', async () => {
    for (const [program, meant] of [
      ['await notes.read_note({ id: 1 })', 'apps.notes'],
      ['await read_note({ id: 1 })', 'apps.notes.read_note'],
    ] as const) {
      const { message } = await thrown(program);
      expect(message).toMatch(new RegExp(`^\\w+ is not defined\\. Did you mean ${meant}\\?$`));
    }
  });

  it('that nobody knows of is just not defined', async () => {
    expect(await thrown('return nonsense.x')).toMatchObject({ message: 'nonsense is not defined' });
  });
});

describe('import()', () => {
  it('fails with help', async () => {
    expect(await thrown('const fs = await import("node:fs")')).toMatchObject({
      message: `Not supported. import() is not available. ${modules}`,
    });
  });

  it('can be caught', async () => {
    expect(await value('try { await import("node:fs") } catch { return "blocked" }')).toBe('blocked');
  });
});

describe('code from strings', () => {
  for (const attempt of [
    'eval("1")',
    '(0, eval)("1")',
    'Function("return 1")',
    'new Function("return 1")',
    '(() => {}).constructor("return 1")',
    '(async () => {}).constructor("return 1")',
    '(function* () {}).constructor("return 1")',
    '(async function* () {}).constructor("return 1")',
    'Reflect.construct(Function, ["return 1"])',
    'new (class extends Function {})("return 1")',
    'Date.constructor("return 1")',
    'Object.getPrototypeOf(Promise).constructor("return 1")',
  ]) {
    it(`is refused in ${attempt}`, async () => {
      expect(await thrown(`return ${attempt}`)).toMatchObject({
        name: 'EvalError',
        message: expect.stringContaining(
          'cannot make code from strings here: write the code in the program itself.',
        ),
      });
    });
  }

  it('takes nothing from functions themselves', async () => {
    expect(
      await value(
        'return [(() => {}) instanceof Function, Function.prototype.call.call(() => 5), typeof Function]',
      ),
    ).toEqual([true, 5, 'function']);
  });
});
