/** A program may break the language for itself. The bridge must not notice. */
import { describe, expect, it } from 'vitest';
import { completed, failed, useRealm } from './harness/realm.ts';

const { run, thrown } = useRealm();

/** What every tampered program does afterwards, and what must come of it. */
const work = `
  const first = await notes.read_note({ id: 1, list: [1, { deep: 'x' }] });
  let caught;
  try { await notes.read_note({ id: 2 }); } catch (e) { caught = e.name + ': ' + e.message; }
  const both = [await notes.read_note({ id: 3 }), await mail.send({ id: 4 })];
  log('logged', { a: [1] });
  return { first, caught, both };`;

const prelude = `
  const { notes, mail } = apps;
  const log = console.log;
  const { deleteProperty, ownKeys } = Reflect;`;

async function survives(tamper: string) {
  const result = await run(`${prelude}\n${tamper}\n${work}`, {
    outcomes: [completed({ ok: 1 }), failed('ToolError', 'no'), completed([3]), completed('four')],
  });
  expect(result.ending).toEqual({
    tag: 'returned',
    json: '{"first":{"ok":1},"caught":"AppCallFailed: no","both":[[3],"four"]}',
  });
  expect(result.calls.map(({ index, binding, argumentsJson }) => [index, binding, argumentsJson])).toEqual([
    [0, 'notes.read_note', '{"id":1,"list":[1,{"deep":"x"}]}'],
    [1, 'notes.read_note', '{"id":2}'],
    [2, 'notes.read_note', '{"id":3}'],
    [3, 'mail.send', '{"id":4}'],
  ]);
  expect(result.logs).toEqual(['info logged { a: [ 1 ] }']);
  expect(result.unhandled).toBe(0);
}

const breakAll = (owner: string) => `
  for (const key of Reflect.ownKeys(${owner})) {
    if (key === 'constructor') continue;
    try { Object.defineProperty(${owner}, key, { value() { throw new Error('tampered') } }); } catch {}
  }`;

describe('a run survives a program', () => {
  it('that changes nothing', async () => {
    await survives('');
  });

  it('that replaces Promise.prototype.then', async () => {
    await survives("Promise.prototype.then = () => { throw new Error('tampered') };");
  });

  it('that traps the constructor and the species of promises', async () => {
    await survives(`
      Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('tampered') } });
      globalThis.Promise = undefined;`);
  });

  for (const owner of [
    'Array.prototype',
    'Map.prototype',
    'WeakMap.prototype',
    'JSON',
    'Reflect',
    'Math',
    'Number.prototype',
    'String.prototype',
    'RegExp.prototype',
    'Symbol.prototype',
    'Error.prototype',
    'Error',
    'Proxy',
  ]) {
    it(`that breaks every property of ${owner}`, async () => {
      const keepsMessages = owner === 'Error.prototype' ? "Error.prototype.message = '';" : '';
      await survives(breakAll(owner) + keepsMessages);
    });
  }

  it('that breaks every property of Function.prototype', async () => {
    await survives(breakAll('Function.prototype'));
  });

  it('that breaks everything that it can reach, all at once', async () => {
    await survives(`
      const { defineProperty, getPrototypeOf } = Object;
      const { getOwnPropertyDescriptor } = Reflect;
      const seen = new Set([apps, notes, mail, notes.read_note, mail.send, log, globalThis]);
      const found = [];
      const visit = (object) => {
        if (Object(object) !== object || seen.has(object)) return;
        seen.add(object);
        found.push(object);
        visit(getPrototypeOf(object));
        for (const key of ownKeys(object)) {
          const { value, get, set } = getOwnPropertyDescriptor(object, key);
          visit(value); visit(get); visit(set);
        }
      };
      for (const key of ownKeys(globalThis)) if (key !== 'apps') visit(globalThis[key]);
      if (found.length < 900) throw new Error('found only ' + found.length);
      const broken = { __proto__: null, configurable: true, get() { throw new Error('tampered') }, set() { throw new Error('tampered') } };
      for (let at = 0; at < found.length; at++) {
        const keys = ownKeys(found[at]);
        for (let k = 0; k < keys.length; k++) {
          if (keys[k] === 'constructor' || keys[k] === 'name' || keys[k] === 'message') continue;
          try { defineProperty(found[at], keys[k], broken); } catch {}
        }
      }
      let works = true;
      try { [].map; } catch { works = false; }
      if (works) throw 'nothing is broken';`);
  });

  it('that breaks the methods of Object', async () => {
    await survives(`
      const { defineProperty } = Object;
      for (const key of Reflect.ownKeys(Object)) {
        try { defineProperty(Object, key, { value() { throw new Error('tampered') } }); } catch {}
      }`);
  });

  it('that deletes every global', async () => {
    await survives('const all = globalThis; for (const key of ownKeys(all)) deleteProperty(all, key);');
  });

  for (const key of [
    '0',
    '1',
    'get',
    'set',
    'value',
    'writable',
    'enumerable',
    'configurable',
    'length',
    'index',
    'name',
    'binding',
    'reason',
    'resolve',
    'reject',
    'position',
    'line',
    'kind',
    'apply',
    'ownKeys',
    'lastIndex',
    'groups',
    'cause',
    'errors',
    'stack',
  ]) {
    it(`that traps ${key} on Object.prototype`, async () => {
      await survives(
        `
        Object.defineProperty(Object.prototype, '${key}', {
          get() { throw new Error('tampered') },
          set() { throw new Error('tampered') },
          configurable: true,
        });`.replace('get() {', `__proto__: null, get() {`),
      );
    });
  }

  it('that takes the iterators away', async () => {
    await survives(`
      delete Array.prototype[Symbol.iterator];
      delete String.prototype[Symbol.iterator];
      delete Map.prototype[Symbol.iterator];
      delete Object.getPrototypeOf([][Symbol.iterator]?.() ?? {}).next;`);
  });

  it('that changes what its classes of errors do', async () => {
    await survives(`
      Object.setPrototypeOf(AppCallFailed, function () { throw new Error('tampered') });
      globalThis.AppCallFailed = undefined;`);
  });

  it('that freezes everything', async () => {
    await survives(
      'for (const key of Reflect.ownKeys(globalThis)) { const v = globalThis[key]; if (Object(v) === v) { Object.freeze(v); if (typeof v === "function" && v.prototype) Object.freeze(v.prototype); } }',
    );
  });

  it('that takes stack traces away', async () => {
    await survives(
      'Error.stackTraceLimit = 0; Error.captureStackTrace = () => { throw new Error("tampered") };',
    );
    await survives('delete Error.stackTraceLimit;');
    await survives(
      'Object.defineProperty(Error, "stackTraceLimit", { get() { throw new Error("tampered") } });',
    );
  });
});

describe('a program', () => {
  it('cannot format stacks itself', async () => {
    expect(await thrown('Error.prepareStackTrace = (_, frames) => frames;')).toMatchObject({
      name: 'TypeError',
      message:
        "Cannot assign to read only property 'prepareStackTrace' of function 'function Error() { [native code] }'",
    });
  });

  it('finds no way from a function of the realm to its caller', async () => {
    expect(await thrown('return apps.call.caller')).toMatchObject({ name: 'TypeError' });
    expect(await thrown('return console.log.arguments')).toMatchObject({ name: 'TypeError' });
  });

  it('finds no process by way of constructors', async () => {
    expect(await thrown('return this.constructor.constructor("return process")()')).toMatchObject({
      name: 'TypeError',
    });
    for (const start of [
      'apps.call',
      'console.log',
      'apps.notes.read_note',
      '(async () => {})',
      '(function* () {})',
    ]) {
      expect(await thrown(`return ${start}.constructor('return process')()`)).toMatchObject({
        name: 'EvalError',
      });
    }
  });

  it('cannot change the bindings', async () => {
    for (const attempt of [
      'apps.notes = 1',
      'apps.notes.read_note = 1',
      'delete apps.notes',
      'delete apps.notes.read_note',
      'Object.defineProperty(apps, "x", { value: 1 })',
      'Object.defineProperty(apps.notes, "x", { value: 1 })',
      'apps.other = 1',
    ]) {
      expect(await thrown(attempt)).toMatchObject({ name: 'TypeError' });
    }
  });
});
