import { describe, expect, it } from 'vitest';
import { completed, denied, failed, inputRequired, useRealm } from './harness/realm.ts';

const { run, value, thrown } = useRealm();

describe('a run', () => {
  it('returns a value as JSON', async () => {
    expect(await value('return { a: [1, "x", null], b: undefined }')).toEqual({ a: [1, 'x', null] });
  });

  it('returns nothing as no value', async () => {
    expect((await run('const a = 1')).ending).toEqual({ tag: 'returnedUndefined' });
  });

  it('awaits calls at the top level', async () => {
    const { calls, ending } = await run(
      'const r = await apps.notes.read_note({ id: 7 });\nreturn r.content;',
      { outcomes: [completed({ content: 'hello' })] },
    );
    expect(calls).toEqual([
      { index: 0, binding: 'notes.read_note', argumentsJson: '{"id":7}', position: '1:28' },
    ]);
    expect(ending).toEqual({ tag: 'returned', json: '"hello"' });
  });

  it('ends as soon as it waits for something that nothing can settle', async () => {
    for (const program of ['await new Promise(() => {})', 'await { then() {} }']) {
      expect(await thrown(program)).toEqual({
        tag: 'threw',
        name: 'Error',
        message:
          'The program waits for a promise that nothing can settle: no call is outstanding, and there are no timers.',
        position: '',
      });
    }
  });

  it('waits for calls that it did not await', async () => {
    const { calls, logs, ending } = await run(
      'apps.notes.read_note({ id: 1 }).then(() => { console.log("settled"); return apps.mail.send({}) }); return 1',
    );
    expect(calls.map(({ binding }) => binding)).toEqual(['notes.read_note', 'mail.send']);
    expect(logs).toEqual(['info settled']);
    expect(ending).toEqual({ tag: 'returned', json: '1' });
  });

  it('writes the value in the moment in which it returns', async () => {
    const program = 'const out = []; apps.notes.read_note({}).then(() => out.push(1)); return out';
    expect(await value(program)).toEqual([]);
  });

  it('gives results in the order in which the host settles them', async () => {
    const program = `
      const order = [];
      const call = async (id) => { await apps.notes.read_note({ id }); order.push(id); };
      await Promise.all([call(0), call(1), call(2)]);
      return order;`;
    expect(await value(program, { order: [2, 0, 1] })).toEqual([2, 0, 1]);
  });
});

describe('errors of calls', () => {
  const caught = (outcomes: Parameters<typeof run>[1]) =>
    value(
      `try { await apps.mail.send({}) } catch (e) {
        return [e instanceof Error, e.name, e.message, { ...e }, String(e)];
      }`,
      outcomes,
    );

  it('of a denied call tell the binding and what the decider said', async () => {
    expect(await caught({ outcomes: [denied('not today')] })).toEqual([
      true,
      'AppCallDenied',
      'not today',
      { binding: 'mail.send' },
      'AppCallDenied: not today',
    ]);
  });

  it('of a failed call tell the reason', async () => {
    expect(await caught({ outcomes: [failed('Timeout', 'took too long')] })).toEqual([
      true,
      'AppCallFailed',
      'took too long',
      { binding: 'mail.send', reason: 'Timeout' },
      'AppCallFailed: took too long',
    ]);
  });

  it('of a call that needs input tell the operation', async () => {
    expect(await caught({ outcomes: [inputRequired('op-1')] })).toEqual([
      true,
      'AppInputRequired',
      'the app needs more input: answer it outside the program, then run again',
      { binding: 'mail.send', operationId: 'op-1' },
      'AppInputRequired: the app needs more input: answer it outside the program, then run again',
    ]);
  });

  it('can be told apart by their classes', async () => {
    const program = `try { await apps.mail.send({}) } catch (e) {
      return [e instanceof AppCallDenied, e instanceof AppCallFailed, e instanceof AppInputRequired];
    }`;
    expect(await value(program, { outcomes: [failed('Internal', '')] })).toEqual([false, true, false]);
  });

  it('end the run at the call if nothing catches them', async () => {
    const program = 'const a = 1;\nawait apps.mail.send({ a })';
    expect(await thrown(program, { outcomes: [failed('ToolError', 'no such address')] })).toEqual({
      tag: 'threw',
      name: 'AppCallFailed',
      message: 'no such address (mail.send: ToolError)',
      position: '2:17',
    });
  });
});

describe('a rejection', () => {
  it('that nothing handles becomes a warning', async () => {
    const { logs, ending } = await run('Promise.reject(new TypeError("lost")); return 1');
    expect(logs).toEqual([
      'warn A promise was rejected while nothing handled it: TypeError: lost (program:1:16). Await it, or catch its error.',
    ]);
    expect(ending).toEqual({ tag: 'returned', json: '1' });
  });

  it.each([
    ['an object', '{ secret: 1 }', 'an object that is no Error, and is not shown'],
    ['a function', '() => 1', 'an object that is no Error, and is not shown'],
    ['text', '"gone"', 'gone'],
    ['a number', '7', '7'],
  ])('with %s becomes a warning that says what is known of it', async (_, thrown, told) => {
    const { logs } = await run(`Promise.reject(${thrown}); return 1`);
    expect(logs).toEqual([
      `warn A promise was rejected while nothing handled it: ${told}. Await it, or catch its error.`,
    ]);
  });

  it('of a call that nothing awaits becomes a warning', async () => {
    const { logs } = await run('apps.mail.send({}); return 1', { outcomes: [denied('no')] });
    expect(logs).toEqual([
      'warn A promise was rejected while nothing handled it: AppCallDenied: no (mail.send) (program:1:11). Await it, or catch its error.',
    ]);
  });

  it.each([
    ['call', 'apps.mail.send({});', /: AppCallFailed: gone \(mail\.send: ToolError\) \(program:1:11\)\. /],
    [
      'call in a function',
      'const f = async () => { await apps.mail.send({}) }; f();',
      /: AppCallFailed: gone \(mail\.send: ToolError\) \(program:1:41\)\. /,
    ],
    [
      'call whose error the program has shown',
      'apps.mail.send({}).catch((e) => { e.stack; throw e });',
      /: AppCallFailed: gone \(mail\.send: ToolError\) \(program:1:11\)\. /,
    ],
    [
      'handler that throws another error',
      'apps.mail.send({}).catch(() => { throw Object.assign(new Error("mine"), { name: "Mine" }) });',
      /: Mine: mine \(program:1:\d+\)\. /,
    ],
    [
      'handler that throws an error about it',
      'apps.mail.send({}).catch((cause) => { throw new Error("lost", { cause }) });',
      / \(program:1:45\): Error: lost\ncause: AppCallFailed: gone\n/,
    ],
    [
      'group of calls',
      'Promise.any([apps.mail.send({})]);',
      /: AggregateError: All promises were rejected\n- AppCallFailed: gone\n/,
    ],
  ])('of a failed %s is told in full', async (_, program, told) => {
    const { logs } = await run(`${program} return 1`, { outcomes: [failed('ToolError', 'gone')] });
    expect(logs).toEqual([expect.stringMatching(told)]);
  });

  it('of each of several calls that fail alike names its own', async () => {
    const program = 'for (const of of [apps.mail.send, apps.notes.list_notes]) of({}); return 1';
    const { logs } = await run(program, { outcomes: [denied('no'), denied('no')] });
    expect(logs.map((line) => /AppCallDenied: no \(([\w.]+)\)/.exec(line)?.[1])).toEqual([
      'mail.send',
      'notes.list_notes',
    ]);
  });

  it('whose error shows itself in hostile ways is told as far as it can be', async () => {
    const hostile = (body: string) =>
      `class Odd extends Error { ${body} }; Promise.reject(new Odd("x")); return 1`;
    for (const body of ['get name() { throw 1 }', 'get message() { throw 1 }', 'get cause() { throw 1 }']) {
      const { logs, ending } = await run(hostile(body));
      expect(logs).toHaveLength(1);
      expect(ending).toEqual({ tag: 'returned', json: '1' });
    }
  });

  it('of each call that could not go out becomes a warning', async () => {
    const program = `const lose = async (value) => { await apps.mail.send({ value }); };
      apps.mail.send(5);
      lose(1n);
      [Symbol(), () => 1].forEach(lose);
      apps.notes.read_note({ then: apps.notes.list_notes() }).then(() => 1).finally(() => {});
      return 1`;
    const { logs, calls, ending } = await run(program);
    expect(calls.map(({ binding }) => binding)).toEqual(['notes.list_notes']);
    expect(logs.map((line) => line.slice(line.indexOf(': ') + 2))).toEqual([
      'TypeError: apps.mail.send takes one object of named arguments, not a number (program:2:17). Await it, or catch its error.',
      'TypeError: apps.mail.send: args.value is a BigInt, which JSON does not have: use Number() or String() (program:1:49). Await it, or catch its error.',
      'TypeError: apps.mail.send: args.value is a symbol, which JSON does not have (program:1:49). Await it, or catch its error.',
      'TypeError: apps.mail.send: args.value is a function, which JSON does not have (program:1:49). Await it, or catch its error.',
      'TypeError: apps.notes.read_note: args.then is a promise: await it first (program:5:18). Await it, or catch its error.',
    ]);
    expect(ending).toEqual({ tag: 'returned', json: '1' });
  });

  it('of each call past the most that a run may make becomes a warning', async () => {
    const program = 'for (let id = 0; id < 5; id++) apps.notes.read_note({ id }); return 1';
    const { logs, calls } = await run(program, { job: { callsMax: 2 } });
    expect(calls).toHaveLength(2);
    expect(logs).toEqual(
      new Array(3).fill(
        'warn A promise was rejected while nothing handled it: Error: apps.notes.read_note: this run has made 2 calls, the most that a run may make (program:1:43). Await it, or catch its error.',
      ),
    );
  });

  it('of a call that could not go out is handled where it is caught', async () => {
    const program = `const first = await apps.mail.send(1).catch((e) => e.message.length);
      const all = await Promise.allSettled([apps.mail.send(2), apps.mail.send(3), apps.notes.read_note({})]);
      return [first, all.map(({ status }) => status)]`;
    const { logs, ending } = await run(program);
    expect(ending).toEqual({
      tag: 'returned',
      json: '[64,["rejected","rejected","fulfilled"]]',
    });
    expect(logs).toEqual([]);
  });

  it('is told once for each step of the program, which is as much as the engine tells', async () => {
    const program = `const lose = async (n) => { throw new Error('lost ' + n); };
      lose(1); lose(2);
      await apps.notes.read_note({});
      lose(3); lose(4);
      return 1`;
    const { logs } = await run(program);
    expect(logs.map((line) => /lost \d/.exec(line)?.[0])).toEqual(['lost 1', 'lost 3']);
  });

  it('that is handled before the program rests is no warning', async () => {
    const program =
      'const p = Promise.reject(new Error("x")); await null; await null; p.catch(() => {}); return 1';
    expect((await run(program)).logs).toEqual([]);
  });
});

describe('calls', () => {
  it('stand where the program made them', async () => {
    const program = `const { notes } = apps;
      const ids = [1, 2];
      await Promise.all(ids.map((id) => notes.read_note({ id })));
      const read = async () => {
        return await notes.list_notes();
      };
      await read();`;
    const { calls } = await run(program);
    expect(calls.map(({ position }) => position)).toEqual(['3:47', '3:47', '5:28']);
  });

  it('stand where the program as written made them', async () => {
    const columnShifts = [
      [1, 7, 10],
      [2, 1, 6],
    ] as const;
    const { calls } = await run('await apps.notes.read_note({});\nawait apps.mail.send({})', {
      job: { columnShifts },
    });
    expect(calls.map(({ position }) => position)).toEqual(['1:8', '2:11']);
  });

  it('that no line of the program makes stand at the await that they serve, or nowhere', async () => {
    const then = 'Promise.resolve({ id: 1 }).then(apps.notes.read_note)';
    expect((await run(`await ${then}`)).calls.map(({ position }) => position)).toEqual(['1:1']);
    expect((await run(`${then}; return 1`)).calls.map(({ position }) => position)).toEqual(['']);
  });

  it('without await are issued in order, as many as a run may make', async () => {
    const program = 'for (let id = 0; id < 10_000; id++) apps.notes.read_note({ id }); return "issued"';
    const { calls, ending, unhandled } = await run(program);
    expect(calls.map(({ index, argumentsJson }) => [index, argumentsJson])).toEqual(
      Array.from({ length: 10_000 }, (_, at) => [at, `{"id":${at}}`]),
    );
    expect(ending).toEqual({ tag: 'returned', json: '"issued"' });
    expect(unhandled).toBe(0);
  });

  it('settle once', async () => {
    const program = 'const p = apps.notes.read_note({}); return [await p, await p, (await p) === (await p)]';
    expect(await value(program)).toEqual([{}, {}, true]);
  });
});
