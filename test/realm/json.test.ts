/** What goes out of a program: arguments and its value, as JSON. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { run, value, thrown } = useRealm();

describe('arguments', () => {
  const sent = async (expression: string) => {
    const { calls, ending } = await run(`await apps.notes.read_note(${expression})`);
    expect(ending).toEqual({ tag: 'returnedUndefined' });
    return calls.map((call) => call.argumentsJson);
  };
  const refused = async (expression: string) => {
    const { calls, ending } = await run(`await apps.notes.read_note(${expression})`);
    expect(calls).toEqual([]);
    return ending;
  };
  const typeError = (message: string) => ({ tag: 'threw', name: 'TypeError', message, position: '1:18' });

  it('are an empty object if there are none', async () => {
    expect(await sent('')).toEqual(['{}']);
    expect(await sent('undefined')).toEqual(['{}']);
  });

  it('are JSON as the language writes it', async () => {
    expect(
      await sent('{ a: undefined, b: [undefined], d: new Date(0), n: NaN, z: -0, s: "\\ud800" }'),
    ).toEqual(['{"b":[null],"d":"1970-01-01T00:00:00.000Z","n":null,"z":0,"s":"\\ud800"}']);
    expect(await sent('JSON.parse(\'{"__proto__":{"a":1}}\')')).toEqual(['{"__proto__":{"a":1}}']);
    expect(await sent('{ toJSON() { return { b: 1 } } }')).toEqual(['{"b":1}']);
  });

  for (const [expression, what] of [
    ['"text"', 'a string'],
    ['5', 'a number'],
    ['null', 'null'],
    ['[1]', 'an array'],
    ['() => 1', 'a function'],
    ['Symbol()', 'a symbol'],
  ] as const) {
    it(`that are ${what} are refused`, async () => {
      expect(await refused(expression)).toEqual(
        typeError(`apps.notes.read_note takes one object of named arguments, not ${what}`),
      );
    });
  }

  it('that become something else as JSON are refused', async () => {
    expect(await refused('new Date()')).toEqual(
      typeError('apps.notes.read_note takes one object of named arguments, not what its toJSON gives'),
    );
  });

  it('with something that is not JSON name its place', async () => {
    expect(await refused('{ a: { b: [1, 2, () => 1] } }')).toEqual(
      typeError('args.a.b[2] is a function, which JSON does not have'),
    );
    expect(await refused('{ "odd key": { x: Symbol("s") } }')).toEqual(
      typeError('args["odd key"].x is a symbol, which JSON does not have'),
    );
    expect(await refused('{ n: 5n }')).toEqual(
      typeError('args.n is a BigInt, which JSON does not have: use Number() or String()'),
    );
    expect(await refused('{ a: [Promise.resolve(1)] }')).toEqual(
      typeError('args.a[0] is a promise: await it first'),
    );
  });

  it('with a call that was not awaited name its place', async () => {
    const { ending } = await run('await apps.mail.send({ body: apps.notes.read_note({}) })');
    expect(ending).toMatchObject({ message: 'args.body is a promise: await it first' });
  });

  it('with a cycle name both its ends', async () => {
    const program = 'const a = { list: [{}] }; a.list[0].back = a.list; await apps.notes.read_note(a)';
    expect(await thrown(program)).toMatchObject({
      name: 'TypeError',
      message: 'args.list[0].back refers back to args.list: JSON cannot have a circular structure',
    });
  });

  it('may hold the same object twice', async () => {
    const { calls } = await run('const s = { x: 1 }; await apps.notes.read_note({ a: s, b: s, c: [s, s] })');
    expect(calls[0]?.argumentsJson).toBe('{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}');
  });

  it('whose own conversion throws give that error', async () => {
    expect(await refused('{ a: { toJSON() { throw new RangeError("mine") } } }')).toMatchObject({
      name: 'RangeError',
      message: 'mine',
    });
  });

  it('are whole at the limit of bytes, and refused one past it', async () => {
    const job = { argumentsBytesMax: 100 };
    const call = (text: string) => run(`await apps.notes.read_note({ a: ${text} })`, { job });
    for (const text of ['"x".repeat(92)', '"é".repeat(46)', '"é".repeat(44) + "😀"']) {
      const { calls } = await call(text);
      expect(Buffer.byteLength(calls[0]?.argumentsJson ?? '')).toBe(100);
      const more = await call(`${text} + "x"`);
      expect(more.calls).toEqual([]);
      expect(more.ending).toMatchObject({
        name: 'Error',
        message:
          'apps.notes.read_note: the arguments have more than 100 bytes of JSON, the most that a call may have',
      });
    }
  });

  it('that nest too deeply are an error of the program', async () => {
    const program = 'let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; await apps.notes.read_note(a)';
    expect(await thrown(program)).toMatchObject({ name: 'RangeError' });
  });
});

describe('the value', () => {
  it('leaves out and replaces what JSON does', async () => {
    expect((await run('return [() => 1, Symbol(), undefined, NaN, -0, Infinity]')).ending).toEqual({
      tag: 'returned',
      json: '[null,null,null,null,0,null]',
    });
    expect((await run('return () => 1')).ending).toEqual({ tag: 'returnedUndefined' });
    expect((await run('return Symbol()')).ending).toEqual({ tag: 'returnedUndefined' });
  });

  it('keeps an own __proto__ key', async () => {
    const { ending } = await run('return JSON.parse(\'{"__proto__":{"x":1}}\')');
    expect(ending).toEqual({ tag: 'returned', json: '{"__proto__":{"x":1}}' });
  });

  it('may hold lone surrogates', async () => {
    expect((await run('return "\\ud800"')).ending).toEqual({ tag: 'returned', json: '"\\ud800"' });
  });

  it('of a promise is what the promise gives', async () => {
    expect(await value('return Promise.resolve({ a: 1 })')).toEqual({ a: 1 });
  });

  it('with a cycle is an error that names its ends', async () => {
    const program =
      "const node = { name: 'root', children: [] }; node.children.push({ parent: node }); return node";
    expect(await thrown(program)).toEqual({
      tag: 'threw',
      name: 'TypeError',
      message: 'result.children[0].parent refers back to result: JSON cannot have a circular structure',
      position: '',
    });
  });

  it('with a BigInt is an error that names it', async () => {
    expect(await thrown('return { a: { b: 1n } }')).toMatchObject({
      name: 'TypeError',
      message: 'result.a.b is a BigInt, which JSON does not have: use Number() or String()',
    });
  });

  it('may be as large as the limit, and no larger', async () => {
    const job = { outputBytes: 2048 };
    expect(await value('return "é".repeat(1023)', { job })).toHaveLength(1023);
    expect((await run('return "é".repeat(1023) + "x"', { job })).ending).toEqual({
      tag: 'outputTooLarge',
      bytes: 2049,
    });
    expect(await value('return "x".repeat(2046)', { job })).toHaveLength(2046);
    expect((await run('return "x".repeat(2047)', { job })).ending).toEqual({
      tag: 'outputTooLarge',
      bytes: 2049,
    });
  });

  it('that nests too deeply is an error, or whole', async () => {
    const { ending } = await run('let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', {
      job: { outputBytes: 1024 * 1024 },
    });
    expect(ending.tag === 'returned' || (ending.tag === 'threw' && ending.name === 'RangeError')).toBe(true);
  });

  it('with a promise inside comes with a warning', async () => {
    const { logs, ending } = await run('return { list: [1, 2].map(async (x) => x) }');
    expect(ending).toEqual({ tag: 'returned', json: '{"list":[{},{}]}' });
    expect(logs).toEqual([
      'warn result.list[0] is a promise, which JSON shows as {}: await it before returning.',
    ]);
  });

  it('that JSON empties comes with a warning', async () => {
    for (const [expression, warning] of [
      [
        '[new Map([[1, 2]])]',
        'result[0] is a Map, which JSON shows as {}: return Object.fromEntries(…) of it.',
      ],
      ['new Set([1])', 'result is a Set, which JSON shows as {}: return an array of it.'],
      ['{ e: new Error("x") }', 'result.e is an error, which JSON shows as {}: return its message.'],
    ] as const) {
      const { logs, ending } = await run(`return ${expression}`);
      expect(ending.tag).toBe('returned');
      expect(logs).toEqual([`warn ${warning}`]);
    }
    expect(
      (await run('return { a: {}, b: [{}], e: Object.assign(new Error("x"), { code: 1 }) }')).logs,
    ).toHaveLength(1);
    expect((await run('return { a: {}, b: [{}] }')).logs).toEqual([]);
  });

  it('that is a function comes with a warning', async () => {
    expect((await run('return apps.notes.read_note')).logs).toEqual([
      'warn The program returned a function, which is no value: call it.',
    ]);
  });
});

describe('results of calls', () => {
  it('are exactly what the app sent', async () => {
    const json = '{"isError":true,"content":[{"type":"text","text":"no"}],"__proto__":1}';
    const { ending } = await run('return await apps.notes.read_note({})', {
      outcomes: [{ kind: 1, a: json, b: '' }],
    });
    expect(ending).toEqual({ tag: 'returned', json });
  });

  it('that are no JSON fail the call', async () => {
    expect(
      await thrown('await apps.notes.read_note({})', { outcomes: [{ kind: 1, a: '{', b: '' }] }),
    ).toMatchObject({
      name: 'AppCallFailed',
      message: 'the result of the call is not JSON (notes.read_note: Internal)',
    });
  });
});

describe('the number of calls', () => {
  it('is limited: one more is an error of the program', async () => {
    const program = `
      const send = () => apps.mail.send({});
      await Promise.all([send(), send(), send()]);
      try { await send(); } catch (e) { return e.message; }`;
    const { calls, ending } = await run(program, { job: { callsMax: 3 } });
    expect(calls).toHaveLength(3);
    expect(ending).toEqual({
      tag: 'returned',
      json: '"apps.mail.send: this run has made 3 calls, the most that a run may make"',
    });
  });

  it('counts calls that arguments make while they are written', async () => {
    const program = `
      const nested = { toJSON() { apps.mail.send({}); return { outer: 1 }; } };
      await apps.mail.send(nested).catch((e) => console.log(e.message));`;
    const { calls, logs } = await run(program, { job: { callsMax: 1 } });
    expect(calls.map(({ index, argumentsJson }) => [index, argumentsJson])).toEqual([[0, '{}']]);
    expect(logs).toEqual(['info apps.mail.send: this run has made 1 calls, the most that a run may make']);
  });
});
