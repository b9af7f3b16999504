/** `apps`: names, listing, safe names, and help for names that are not there. */
import { describe, expect, it } from 'vitest';
import type { RealmJob } from '../../services/sandbox/realm/contract.ts';
import { useRealm } from './harness/realm.ts';

const { run, value, thrown } = useRealm();

const odd: RealmJob['bindings'] = [
  ['call', 'then', 'Call', 'then'],
  ['call', 'name', 'Call', 'name'],
  ['then', 'then', 'Then', 'then'],
  ['constructor', 'prototype', 'constructor', 'prototype'],
  ['__proto__', '__proto__', '__proto__', '__proto__'],
  ['toString', 'valueOf', 'toString', 'valueOf'],
  ['delete', 'new', 'delete', 'new'],
  ['größe', '日本', 'Größe', '日本'],
];

describe('apps', () => {
  it('lists connections and capabilities', async () => {
    expect(
      await value('return [Object.keys(apps), Object.keys(apps.notes), "notes" in apps, "x" in apps]'),
    ).toEqual([['notes', 'mail'], ['read_note', 'list_notes'], true, false]);
    expect(
      await value('return Object.entries(apps).map(([name, app]) => [name, Object.keys(app).length])'),
    ).toEqual([
      ['notes', 2],
      ['mail', 1],
    ]);
    expect(
      await value('const { notes: { read_note } } = apps; return [typeof read_note, read_note.name]'),
    ).toEqual(['function', 'notes.read_note']);
  });

  it('can be awaited, printed and written as JSON', async () => {
    expect(await value('return [await apps === apps, await apps.notes === apps.notes]')).toEqual([
      true,
      true,
    ]);
    expect(await value('return [String(apps), JSON.stringify(apps)]')).toEqual([
      '[object Object]',
      '{"notes":{},"mail":{}}',
    ]);
  });

  it.each([
    'apps.notes.read_note = 1',
    'delete apps.notes.read_note',
    'Object.defineProperty(apps.notes, "x", {})',
    'Object.defineProperty(apps.notes, "read_note", { value: 1 })',
    'apps.notes = 1',
    'apps.x = 1',
    'delete apps.notes',
    'Object.defineProperty(apps, "x", {})',
  ])('cannot be changed: %s', async (change) => {
    expect(await thrown(change)).toMatchObject({
      message: expect.stringMatching(
        /^apps(\.notes)? cannot be changed: it lists what the program may call\.$/,
      ),
    });
  });

  it('may be frozen, which changes nothing', async () => {
    const program = `Object.freeze(apps.mail); Object.freeze(apps);
      return [Object.isFrozen(apps), Object.isFrozen(apps.mail), Object.keys(apps.mail), (await apps.mail.send({ a: 1 })).a]`;
    expect(await value(program)).toEqual([true, true, ['send'], 1]);
  });

  it('without bindings is empty', async () => {
    expect(await value('return Object.keys(apps)', { job: { bindings: [] } })).toEqual([]);
    expect(await thrown('apps.x', { job: { bindings: [] } })).toMatchObject({
      message: 'apps.x does not exist. This run has no apps.',
    });
  });
});

describe('apps.call', () => {
  it('takes names and raw names', async () => {
    const program = `await apps.call('notes.read_note', { a: 1 });
      await apps.call('Notes/read-note', { a: 2 });
      await apps.call('mail.send');`;
    const { calls } = await run(program);
    expect(calls.map(({ binding, argumentsJson, position }) => [binding, argumentsJson, position])).toEqual([
      ['notes.read_note', '{"a":1}', '1:12'],
      ['notes.read_note', '{"a":2}', '2:18'],
      ['mail.send', '{}', '3:18'],
    ]);
  });

  it('refuses a raw name that several bindings have', async () => {
    const bindings: RealmJob['bindings'] = [
      ['notes', 'read', 'Notes', 'read'],
      ['notes_2', 'read', 'Notes', 'read'],
    ];
    expect(await thrown('await apps.call("Notes/read")', { job: { bindings } })).toMatchObject({
      name: 'TypeError',
      message: 'apps.call: "Notes/read" may mean notes.read or notes_2.read. Use one of these names.',
    });
  });

  it('helps with names that are not there', async () => {
    expect(await thrown('apps.call("notes.read_notes")')).toMatchObject({
      message:
        'apps.call: there is no binding "notes.read_notes". Did you mean notes.read_note or notes.list_notes?',
    });
    expect(await thrown('apps.call(5)')).toMatchObject({
      message: 'apps.call takes the name of a binding first: apps.call("connection.capability", {…})',
    });
  });
});

describe('a name that is not there', () => {
  const message = async (expression: string) => (await thrown(expression)).message;

  it('throws at once, with the nearest names', async () => {
    expect(await thrown('const a = 1;\nconst f = apps.notes.read_not;')).toEqual({
      tag: 'threw',
      name: 'TypeError',
      message: 'apps.notes.read_not does not exist. Did you mean apps.notes.read_note?',
      position: '2:22',
    });
    expect(await message('apps.note.x')).toBe('apps.note does not exist. Did you mean apps.notes?');
    expect(await message('apps.Notes.x')).toBe('apps.Notes does not exist. Did you mean apps.notes?');
  });

  it('finds the binding behind a raw name or another spelling', async () => {
    expect(await message('apps.notes["read-note"]({})')).toBe(
      'apps.notes["read-note"] does not exist. Did you mean apps.notes.read_note?',
    );
    expect(await message('apps.notes.readNote({})')).toBe(
      'apps.notes.readNote does not exist. Did you mean apps.notes.read_note?',
    );
    expect(await message('apps.notes.list({})')).toBe(
      'apps.notes.list does not exist. Did you mean apps.notes.list_notes?',
    );
  });

  it('far from every other is told where to look', async () => {
    expect(await message('apps.mail.archive_everything({})')).toBe(
      'apps.mail.archive_everything does not exist. There is: send.',
    );
  });

  it('of a capability without its connection is told where it is', async () => {
    expect(await message('apps.read_note({})')).toBe(
      'apps.read_note does not exist. Did you mean apps.notes.read_note?',
    );
  });

  it('among many others is told how to list them', async () => {
    const bindings = Array.from(
      { length: 100 },
      (_, at) => ['math', `operation_${at}`, 'Math', `o${at}`] as const,
    );
    expect((await thrown('apps.math.x', { job: { bindings } })).message).toBe(
      'apps.math.x does not exist. Object.keys(apps.math) lists what there is.',
    );
  });

  it('of a million characters is told in few', async () => {
    const { message: told } = await thrown('apps.notes["x".repeat(1e6)]');
    expect(told).toMatch(/^apps\.notes\["x{136}… \[cut: 136 of 1000000 characters\]"\] does not exist\./);
    expect((await thrown('apps.call("x".repeat(1e6))')).message.length).toBeLessThan(500);
  });

  it('names three at most, best first', async () => {
    const bindings = ['get_sum', 'get_sums', 'get_summary', 'get_sun', 'set_sum'].map(
      (name) => ['math', name, 'Math', name] as const,
    );
    expect(await thrown('apps.math.get_summ', { job: { bindings } })).toMatchObject({
      message:
        'apps.math.get_summ does not exist. Did you mean apps.math.get_sum or apps.math.get_sums or apps.math.get_sun?',
    });
  });
});

describe('odd names', () => {
  it('work as every other', async () => {
    const program = `
      await apps.call.name({ n: 1 });
      await apps.then.then({ n: 2 });
      await apps.constructor.prototype({ n: 3 });
      await apps.__proto__.__proto__({ n: 4 });
      await apps.toString.valueOf({ n: 5 });
      await apps.delete.new({ n: 6 });
      await apps.größe.日本({ n: 7 });
      await apps.call('__proto__.__proto__', { n: 8 });
      await apps.call('Größe/日本', { n: 9 });
      await apps.call.then({ n: 10 });
      return Object.keys(apps);`;
    const { calls, ending } = await run(program, { job: { bindings: odd } });
    expect(calls.map(({ binding }) => binding)).toEqual([
      'call.name',
      'then.then',
      'constructor.prototype',
      '__proto__.__proto__',
      'toString.valueOf',
      'delete.new',
      'größe.日本',
      '__proto__.__proto__',
      'größe.日本',
      'call.then',
    ]);
    expect(ending).toEqual({
      tag: 'returned',
      json: '["call","then","constructor","__proto__","toString","delete","größe"]',
    });
  });

  it('do not make an await hang', async () => {
    expect(await value('return await apps === apps', { job: { bindings: odd } })).toBe(true);
    expect(await thrown('await apps.then', { job: { bindings: odd } })).toMatchObject({
      name: 'TypeError',
      message:
        'apps.then is not a promise: do not await it. To call its capability "then", give it an object.',
    });
  });
});

describe('thousands of bindings', () => {
  it('are all there', async () => {
    const bindings = Array.from(
      { length: 5000 },
      (_, at) => [`app_${at % 50}`, `tool_${at}`, `App ${at % 50}`, `tool-${at}`] as const,
    );
    const program = `
      await apps.app_7.tool_4957({});
      await apps.call('App 49/tool-4999', {});
      return [Object.keys(apps).length, Object.keys(apps.app_0).length];`;
    const { calls, ending } = await run(program, { job: { bindings } });
    expect(calls.map(({ binding }) => binding)).toEqual(['app_7.tool_4957', 'app_49.tool_4999']);
    expect(ending).toEqual({ tag: 'returned', json: '[50,100]' });
  });
});
