/** Programs that are no program: the message is the engine's, the place is the program's own. */
import { describe, expect, it } from 'vitest';
import { useRealm } from './harness/realm.ts';

const { thrown, value } = useRealm();

const syntaxError = (message: string, position: string) => ({
  tag: 'threw',
  name: 'SyntaxError',
  message,
  position,
});

describe('a syntax error', () => {
  it('has the line and column of the program as written', async () => {
    expect(await thrown('const a = 1;\nreturn ]')).toEqual(syntaxError("Unexpected token ']'", '2:8'));
    expect(await thrown('return ]')).toEqual(syntaxError("Unexpected token ']'", '1:8'));
  });

  it('in the middle of a line stands where the engine stumbles', async () => {
    const program = 'const graph = 1;\nconst names = list.map((e) => e.name;\nreturn names;';
    expect(await thrown(program)).toEqual(syntaxError('missing ) after argument list', '2:33'));
  });

  it('of something missing at the end stands at the end', async () => {
    expect(await thrown('if (true) {\n  const a = 1;\n')).toEqual(
      syntaxError('Unexpected end of input', '3:1'),
    );
    expect(await thrown('return 1 +')).toEqual(syntaxError('Unexpected end of input', '1:11'));
    expect(await thrown('log(1')).toEqual(syntaxError('missing ) after argument list', '1:5'));
  });

  it('counts lines as the language ends them', async () => {
    expect(await thrown('1;\r\n2;\r3;\u20284;\n]')).toEqual(syntaxError("Unexpected token ']'", '5:1'));
  });

  it('leaves out what normalization inserted', async () => {
    const columnShifts = [
      [1, 1, 7],
      [2, 5, 3],
    ] as const;
    expect(await thrown('return ]', { job: { columnShifts } })).toMatchObject({ position: '1:1' });
    expect(await thrown('1;\n  a b c d', { job: { columnShifts } })).toMatchObject({ position: '2:5' });
    expect(await thrown('1;\n  aXYZ ]', { job: { columnShifts } })).toMatchObject({ position: '2:5' });
  });
});

describe('a program', () => {
  it('cannot break out of its function', async () => {
    const early = "Single function literal required. A '}' closes the program too early.";
    expect(await thrown('1;\n}); (async () => {')).toEqual(syntaxError(early, '2:2'));
    expect(await thrown('});')).toEqual(syntaxError("Unexpected token '}'", '1:2'));
    expect(await thrown('}); globalThis.out = 1; ({')).toMatchObject({
      name: 'SyntaxError',
      position: '1:2',
    });
    expect(await thrown('return 1; } static { globalThis.out = 1; }')).toMatchObject({
      name: 'SyntaxError',
      position: '1:13',
    });
    expect(await thrown('}, function () {')).toMatchObject({ name: 'SyntaxError', position: '1:2' });
  });

  it('cannot comment the end of its function out', async () => {
    expect(await thrown('1;\n} /*')).toEqual(syntaxError('Invalid or unexpected token', '2:3'));
    expect(await value('return 1; // }')).toBe(1);
  });

  it('runs in strict mode', async () => {
    expect(await value('return this === undefined')).toBe(true);
    expect(await thrown('undeclared = 1')).toMatchObject({
      name: 'ReferenceError',
      message: 'undeclared is not defined',
    });
    expect(await thrown('with ({}) {}')).toMatchObject({
      name: 'SyntaxError',
      message: 'Strict mode code may not include a with statement',
    });
  });

  it('may declare names of its world itself', async () => {
    expect(await value('const apps = 1, console = 2, fetch = 3; return apps + console + fetch')).toBe(6);
  });

  it('that imports is told what to do instead', async () => {
    expect(await thrown('const a = 1;\nimport fs from "node:fs";')).toEqual(
      syntaxError(
        'Cannot use import statement outside a module. Programs cannot load modules: use the built-ins of the language and the apps (Object.keys(apps) lists them).',
        '2:1',
      ),
    );
  });

  it('that nests too deeply to be read fails as an error', async () => {
    expect(await thrown('['.repeat(100_000))).toMatchObject({ name: 'RangeError' });
    expect(await thrown(`return /${'('.repeat(100_000)}${')'.repeat(100_000)}/.test('')`)).toMatchObject({
      name: 'SyntaxError',
    });
  });

  it('that makes a pattern too deep to be read fails as an error', async () => {
    const program = "const n = 100_000; return new RegExp('('.repeat(n) + ')'.repeat(n)).source.length";
    expect(['SyntaxError', 'RangeError']).toContain((await thrown(program)).name);
  });
});
