/** What goes out of a program: arguments and its value, as JSON. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../services/shared/limits.ts';
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
      typeError('apps.notes.read_note: args.a.b[2] is a function, which JSON does not have'),
    );
    expect(await refused('{ "odd key": { x: Symbol("s") } }')).toEqual(
      typeError('apps.notes.read_note: args["odd key"].x is a symbol, which JSON does not have'),
    );
    expect(await refused('{ n: 5n }')).toEqual(
      typeError(
        'apps.notes.read_note: args.n is a BigInt, which JSON does not have: use Number() or String()',
      ),
    );
    expect(await refused('{ a: [Promise.resolve(1)] }')).toEqual(
      typeError('apps.notes.read_note: args.a[0] is a promise: await it first'),
    );
  });

  it('with a call that was not awaited name its place', async () => {
    const { ending } = await run('await apps.mail.send({ body: apps.notes.read_note({}) })');
    expect(ending).toMatchObject({ message: 'apps.mail.send: args.body is a promise: await it first' });
  });

  it('with a cycle name both its ends', async () => {
    const program = 'const a = { list: [{}] }; a.list[0].back = a.list; await apps.notes.read_note(a)';
    expect(await thrown(program)).toMatchObject({
      name: 'TypeError',
      message:
        'apps.notes.read_note: args.list[0].back refers back to args.list: JSON cannot have a circular structure',
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

  it('may nest as deep as the limit, and no deeper', async () => {
    const call = (levels: number, leaf = '{}') =>
      `let a = ${leaf}; for (let i = 1; i < ${levels}; i++) a = i % 2 ? { a } : { a, b: [1] };
await apps.notes.read_note(a)`;
    expect((await run(call(limits.jsonDepthMax))).calls).toHaveLength(1);
    expect((await run(call(limits.jsonDepthMax - 1, '{ toJSON: () => [[1]] }'))).calls).toHaveLength(1);
    for (const program of [
      call(limits.jsonDepthMax + 1),
      call(limits.jsonDepthMax - 1, '{ toJSON: () => [[[1]]] }'),
      call(100_000),
    ]) {
      const { calls, ending } = await run(program);
      expect(calls).toEqual([]);
      expect(ending).toEqual({
        tag: 'threw',
        name: 'TypeError',
        message: 'apps.notes.read_note: args nests more than 1000 levels deep, the most that can be written',
        position: '2:18',
      });
    }
  });

  it('may have any number of parts that are not deep', async () => {
    const { calls } = await run(
      'await apps.notes.read_note({ rows: Array.from({ length: 3000 }, (_, id) => ({ id: [id] })) })',
    );
    expect(calls).toHaveLength(1);
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
      message:
        'The returned value is not JSON: result.children[0].parent refers back to result: JSON cannot have a circular structure',
      position: '1:84',
    });
  });

  it('that is no JSON stands at its return, where only one can have given it', async () => {
    const job = { columnShifts: [[1, 1, 8]] as const };
    for (const [program, position, options] of [
      ['const n = 1n;\nif (n) {\n  return { n };\n}', '3:3'],
      ['const o = { return: 1 }; return [o.return, 1n]', ''],
      ['return [1, 2].map((n) => { return BigInt(n); })', ''],
      ['if (1) return 1n; return 2', ''],
      ['const returned = 1n; const $return = [returned]; return $return', '1:50'],
      ['return (1n)', '1:1', { job }],
      ['return { toJSON() { throw new TypeError("mine"); } }', '1:27'],
    ] as const) {
      expect(await thrown(program, options)).toMatchObject({ name: 'TypeError', position });
    }
  });

  it('with a BigInt is an error that names it', async () => {
    expect(await thrown('return { a: { b: 1n } }')).toMatchObject({
      name: 'TypeError',
      message:
        'The returned value is not JSON: result.a.b is a BigInt, which JSON does not have: use Number() or String()',
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

  it('may nest as deep as the limit, and no deeper', async () => {
    const job = { outputBytes: 1024 * 1024 };
    const nested = (levels: number) =>
      `let a = []; for (let i = 1; i < ${levels}; i++) a = i % 2 ? { a } : [0, a, []]; return a`;
    expect((await run(nested(limits.jsonDepthMax), { job })).ending.tag).toBe('returned');
    for (const levels of [limits.jsonDepthMax + 1, 100_000]) {
      expect(await thrown(nested(levels), { job })).toMatchObject({
        name: 'TypeError',
        message:
          'The returned value is not JSON: result nests more than 1000 levels deep, the most that can be written',
      });
    }
  });

  it('may have any number of parts that are not deep, and brackets in its texts', async () => {
    const program = 'return Array.from({ length: 3000 }, (_, id) => ({ id: [id, "[{".repeat(3)] }))';
    expect(await value(program, { job: { outputBytes: 1024 * 1024 } })).toHaveLength(3000);
    expect(await value('return "[{".repeat(3000)')).toHaveLength(6000);
  });

  it('with a promise inside comes with a warning', async () => {
    const { logs, ending } = await run('return { list: [1, 2].map(async (x) => x) }');
    expect(ending).toEqual({ tag: 'returned', json: '{"list":[{},{}]}' });
    expect(logs).toEqual([
      'warn result.list[0] is a promise, which JSON shows as {}: await it before returning (program:1:1).',
    ]);
  });

  it('that JSON empties comes with a warning', async () => {
    for (const [expression, warning] of [
      [
        '[new Map([[1, 2]])]',
        'result[0] is a Map, which JSON shows as {}: return Object.fromEntries(…) of it (program:1:1).',
      ],
      ['new Set([1])', 'result is a Set, which JSON shows as {}: return an array of it (program:1:1).'],
      [
        '{ e: new Error("x") }',
        'result.e is an error, which JSON shows as {}: return its message (program:1:1).',
      ],
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
