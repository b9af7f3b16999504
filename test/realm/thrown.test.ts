/** Whatever a program throws is readable and harmless. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../services/shared/limits.ts';
import { useRealm } from './harness/realm.ts';

const { run, thrown } = useRealm();

/** What the realm keeps free for the mark of a cut. */
const markBytes = 64;

const threw = (name: string, message: string, position = '') => ({ tag: 'threw', name, message, position });

describe('a thrown value', () => {
  it('that is an error has name, message and place', async () => {
    expect(await thrown('const a = 1;\n  throw new RangeError("too far");')).toEqual(
      threw('RangeError', 'too far', '2:9'),
    );
  });

  it('has the place where the error was made, not where it passed through', async () => {
    const program = 'const fail = () => {\n  throw new Error("x");\n};\nfor (const a of [1]) {\n  fail();\n}';
    expect(await thrown(program)).toMatchObject({ position: '2:9' });
  });

  it('of the engine has a place too', async () => {
    expect(await thrown('const a = {};\nreturn a.b.c')).toEqual(
      threw('TypeError', "Cannot read properties of undefined (reading 'c')", '2:12'),
    );
    expect(await thrown('await null;\nJSON.parse("{")')).toMatchObject({
      name: 'SyntaxError',
      position: '2:6',
    });
  });

  for (const [expression, message] of [
    ['undefined', 'the program threw undefined'],
    ['null', 'the program threw null'],
    ['0', 'the program threw 0'],
    ['5n', 'the program threw 5n'],
    ['"just text"', 'just text'],
    ['Symbol("s")', 'the program threw Symbol(s)'],
    ['Object.create(null)', 'the program threw [Object: null prototype] {}'],
    ['{ code: 5, list: [1, 2] }', 'the program threw { code: 5, list: [ 1, 2 ] }'],
    ['() => 1', 'the program threw [Function (anonymous)]'],
    ['[1, 2]', 'the program threw [ 1, 2 ]'],
  ] as const) {
    it(`that is ${expression} is shown`, async () => {
      expect(await thrown(`throw (${expression})`)).toEqual(threw('Error', message));
    });
  }

  it('that is frozen is read as it is', async () => {
    expect(await thrown('throw Object.freeze(new Error("frozen"))')).toEqual(
      threw('Error', 'frozen', '1:21'),
    );
  });

  it('that is a revoked proxy is no failure of the realm', async () => {
    const revoked = 'const { proxy, revoke } = Proxy.revocable(Error, {}); revoke();';
    expect(await thrown(`${revoked} throw proxy`)).toEqual(threw('Error', 'the program threw [unreadable]'));
    expect(await thrown(`${revoked} throw [proxy]`)).toEqual(
      threw('Error', 'the program threw [ [unreadable] ]'),
    );
  });

  it('whose getters throw is read as far as it goes', async () => {
    const program = `const e = new Error('m');
      for (const key of ['name', 'stack', 'cause', 'errors', 'binding']) {
        Object.defineProperty(e, key, { get() { throw new Error('trap') }, enumerable: true });
      }
      throw e;`;
    expect(await thrown(program)).toMatchObject({ name: 'Error', message: 'm' });
    const noMessage = 'throw { get message() { throw 1 }, get name() { throw 2 } }';
    expect(await thrown(noMessage)).toEqual(
      threw('Error', 'the program threw { message: [Getter], name: [Getter] }'),
    );
  });

  it('with names and messages that are no text is read as if it had none', async () => {
    expect(await thrown('throw { name: 5, message: {} }')).toEqual(
      threw('Error', 'the program threw { name: 5, message: {} }'),
    );
  });

  it('with a message of many megabytes is cut', async () => {
    const { message } = await thrown('throw new Error("é".repeat(10_000_000))');
    const kept = (limits.messageBytesMax - markBytes) / 2;
    expect(message).toBe(`${'é'.repeat(kept)}… [cut: ${kept} of 10000000 characters]`);
  });

  it('with a message at the limit is whole, and one past it is cut', async () => {
    const { messageBytesMax } = limits;
    const at = await thrown(`throw new Error("m".repeat(${messageBytesMax}))`);
    expect(at.message).toBe('m'.repeat(messageBytesMax));
    const past = await thrown(`throw new Error("m".repeat(${messageBytesMax + 1}))`);
    const kept = messageBytesMax - markBytes;
    expect(past.message).toBe(`${'m'.repeat(kept)}… [cut: ${kept} of ${messageBytesMax + 1} characters]`);
  });

  it('never takes more than the limit, with all that is told beside the message', async () => {
    const program = `
      const big = () => new Error('m'.repeat(1e6), { cause: new Error('c'.repeat(1e6)) });
      throw Object.assign(new AggregateError([big(), big(), big(), big()], 'é'.repeat(1e6), { cause: big() }), {
        name: 'App'.repeat(1e5), binding: 'b'.repeat(1e5), reason: 'r'.repeat(1e5),
      });`;
    const { name, message } = await thrown(program);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(limits.messageBytesMax);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(128);
    expect(message).toMatch(/- Error: m+… \[cut.*- … 1 more.*cause: Error: m+… \[cut/s);
  });

  it('with a name of many characters has it cut', async () => {
    const { name } = await thrown('const e = new Error("x"); e.name = "N".repeat(1e6); throw e');
    expect(name).toBe(`${'N'.repeat(64)}… [cut: 64 of 1000000 characters]`);
  });

  it('tells its cause', async () => {
    expect(await thrown('throw new Error("outer", { cause: new TypeError("inner") })')).toMatchObject({
      message: 'outer\ncause: TypeError: inner',
    });
    expect(await thrown('throw new Error("outer", { cause: { code: 7 } })')).toMatchObject({
      message: 'outer\ncause: { code: 7 }',
    });
  });

  it('that holds several errors tells the first ones', async () => {
    const program = 'await Promise.any([1, 2, 3, 4].map((n) => Promise.reject(new Error("e" + n))))';
    expect(await thrown(program)).toMatchObject({
      name: 'AggregateError',
      message: 'All promises were rejected\n- Error: e1\n- Error: e2\n- Error: e3\n- … 1 more',
    });
  });

  it('leaves no promise of the realm behind', async () => {
    expect((await run('throw new Error("x")')).unhandled).toBe(0);
  });
});

describe('using a call as if it were its result', () => {
  it('is told to await where a field of a result is read', async () => {
    const program = 'const r = apps.notes.read_note({});\nreturn r.content[0].text;';
    expect(await thrown(program)).toEqual(
      threw(
        'TypeError',
        "Cannot read 'content' of a call that was not awaited: a call gives a promise, so write (await apps.…(…)).content",
        '2:10',
      ),
    );
  });

  it('is told to await where a method is missing', async () => {
    expect(await thrown('const r = apps.notes.list_notes({}); r.map((x) => x)')).toMatchObject({
      message:
        'r.map is not a function. A call had not settled yet when this happened: a call gives a promise, so await it before using its result.',
    });
  });

  it('is not suspected when every call has settled', async () => {
    expect(await thrown('const r = await apps.notes.list_notes({}); r.map((x) => x)')).toMatchObject({
      message: 'r.map is not a function',
    });
  });
});
