/** Names that mean something to TypeScript, or that two parts would share, leave every text valid. */
import { create } from '@bufbuild/protobuf';
import { describe, expect, it, vi } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { describeBindings } from '../../services/code-run/bindings/describe.ts';
import { limits } from '../../services/shared/limits.ts';
import { declarationsOf } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

vi.setConfig({ testTimeout: 120_000 });

const words =
  `abstract accessor any arguments as asserts async await bigint boolean break case catch class const constructor continue
  debugger declare default delete do else enum eval export extends false finally for from function get global if implements
  import in infer instanceof interface is keyof let module namespace never new null number object of out override package
  private protected public readonly require return satisfies set static string super switch symbol this throw true try type
  typeof undefined unique unknown using var void while with yield`.split(/\s+/);

/** Long enough that it is named where it is used twice. */
const part = {
  type: 'object',
  properties: {
    alpha: { type: 'string' },
    beta: { type: 'string' },
    gamma: { type: 'string' },
    delta: { type: 'string' },
  },
};

/** A tool whose arguments have a named type after each of `hints`. */
function toolWith(name: string, hints: readonly string[]) {
  const fields = hints.flatMap((hint) =>
    ['x', 'y'].map((key) => [`${key}_${hint}`, { $ref: `#/$defs/${hint}` }]),
  );
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields),
    $defs: Object.fromEntries(hints.map((hint) => [hint, part])),
  };
  return { name, inputSchemaJson: JSON.stringify(schema) };
}

function compiledOf(tools: readonly { name: string; inputSchemaJson?: string }[]) {
  return compileCatalog(create(CatalogSchema, { connections: [{ id: 'n', name: 'n', tools: [...tools] }] }));
}

function described(compiled: ReturnType<typeof compiledOf>): string {
  const request = { query: '', connection: 'n', binding: '', textBytesMax: limits.describeBytesMax };
  return describeBindings(compiled, request).text;
}

describe('a tool named by a word of the language', () => {
  const compiled = compiledOf(words.map((name) => ({ name })));
  const uses = compiled.bindings.map(({ capability }) => `await apps.n.${capability}({});`).join('\n');

  it('is a method like any other, in every text', async () => {
    const errors = await typeErrors({
      'all.d.ts': declarationsOf(compiled),
      'uses.ts': `${uses}\nexport {};`,
    });
    expect(errors).toEqual([]);
    expect(await typeErrors({ 'text.ts': `${described(compiled)}\n${uses}\nexport {};` })).toEqual([]);
  });

  it('is one where a program does not name it', async () => {
    const errors = await typeErrors({
      'some.d.ts': compiled.declarationsFor('apps.n["n" + "ew"]'),
      'uses.ts': `${uses}\nexport {};`,
    });
    expect(errors).toEqual([]);
  });
});

describe('names of types', () => {
  it.each<[string, [string, string[]][]]>([
    [
      'of the world',
      [
        ['resource', ['Content']],
        ['tool', ['Result']],
        ['get_prompt', ['Result']],
        ['read_resource', ['Result']],
      ],
    ],
    [
      'of the language',
      [
        ['promise', ['Like', 'Settled Result']],
        ['array', ['Buffer', 'Like']],
        ['p', ['romise']],
        ['r', ['ecord']],
      ],
    ],
    [
      'of other tools',
      [
        ['a-b', ['CD', 'C2']],
        ['a_b_c', ['D', '2']],
        ['ab', ['CD']],
      ],
    ],
    ['that are numbered', [['x', ['a', 'A', 'A2', 'a-2', 'a 2']]]],
  ])('%s are not given again', async (_whose, tools) => {
    const compiled = compiledOf(tools.map(([name, hints]) => toolWith(name, hints)));
    const text = described(compiled);
    expect(text.match(/^type /gm)).toHaveLength(tools.flatMap(([, hints]) => hints).length);
    // As a script, what it declares stands beside what the language does.
    expect(await typeErrors({ 'text.ts': text })).toEqual([]);
    expect(await typeErrors({ 'all.d.ts': declarationsOf(compiled) })).toEqual([]);
  });
});

describe('a field named like what every object inherits', () => {
  it('may be left out', async () => {
    const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => !name.startsWith('__'));
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const compiled = compiledOf([{ name: 't', inputSchemaJson: JSON.stringify({ properties }) }]);
    const uses = ['{}', `{ ${names[0]}: "x" }`].map((argument) => `await apps.n.t(${argument});`);
    const errors = await typeErrors({
      'all.d.ts': declarationsOf(compiled),
      'uses.ts': `${uses.join('\n')}\nexport {};`,
    });
    expect(errors).toEqual([]);
  });
});
