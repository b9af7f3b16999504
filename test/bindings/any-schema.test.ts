/** Whatever a server sends as a schema, its declaration is valid TypeScript, and nobody else's suffers. */
import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { describeBindings } from '../../services/code-run/bindings/describe.ts';
import { convertSchema } from '../../services/code-run/bindings/schema/convert.ts';
import { limits } from '../../services/shared/limits.ts';
import { declarationsOf, filesOf } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

vi.setConfig({ testTimeout: 120_000 });

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'a-b',
    'type',
    '$ref',
    '__proto__',
    'constructor',
    '*/',
    `\`$\{x}\``,
    '"',
    '\u2028',
    '\\',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const typeName = fc.constantFrom(
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'object',
  'array',
  'any',
  'nonsense',
);
const pointer = fc.constantFrom(
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#/properties/a',
  '#a',
  '#/nowhere',
  'http://x/y',
  '#/%zz',
  '',
);
const junk = fc.jsonValue({ maxDepth: 2 });

/** A schema of every keyword, each with what belongs there or with anything. */
const { schema } = fc.letrec<{ schema: unknown; keywords: Record<string, unknown> }>((tie) => {
  const part = tie('schema');
  const parts = fc.array(part, { maxLength: 3 });
  const map = fc.dictionary(word, part, { maxKeys: 3 });
  const or = (fitting: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 8, arbitrary: fitting }, { weight: 1, arbitrary: junk });
  const values: Record<string, fc.Arbitrary<unknown>> = {
    type: or(fc.oneof(typeName, fc.array(typeName, { maxLength: 3 }))),
    properties: or(map),
    required: or(fc.array(word, { maxLength: 3 })),
    additionalProperties: or(part),
    patternProperties: or(map),
    propertyNames: or(part),
    items: or(fc.oneof(part, parts)),
    prefixItems: or(parts),
    additionalItems: or(part),
    minItems: or(fc.integer({ min: -1, max: 3 })),
    enum: or(fc.array(junk, { maxLength: 4 })),
    const: junk,
    anyOf: or(parts),
    oneOf: or(parts),
    allOf: or(parts),
    not: or(part),
    if: or(part),
    else: or(part),
    dependentSchemas: or(map),
    nullable: or(fc.boolean()),
    $ref: or(pointer),
    $defs: or(fc.dictionary(fc.constantFrom('a', 'b', '*/'), part, { maxKeys: 3 })),
    $anchor: or(fc.constant('a')),
    description: or(word),
    default: junk,
    format: or(word),
    pattern: or(word),
    examples: or(fc.array(junk, { maxLength: 2 })),
    deprecated: or(fc.boolean()),
  };
  // A few at a time: all of them at once contradict each other, and nothing is left.
  const entry = fc.oneof(...Object.entries(values).map(([key, value]) => fc.tuple(fc.constant(key), value)));
  const keywords = fc.array(entry, { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
  return {
    keywords,
    schema: fc.oneof({ maxDepth: 5, depthSize: 'small' }, fc.constantFrom<unknown>(true, {}, false), {
      weight: 5,
      arbitrary: tie('keywords'),
    }),
  };
});

/** With parts that the references in it find. */
const document = fc.tuple(schema, schema, schema, schema).map(([whole, a, b, c]) => ({
  ...Object(whole),
  $defs: { a, b },
  properties: { a: c, b: { $ref: '#/$defs/a' }, c: { type: 'array', items: { $ref: '#/$defs/b' } } },
}));

describe('any schema', () => {
  it('is read, the same every time', () => {
    fc.assert(
      fc.property(
        fc.oneof(document, schema, junk),
        fc.constantFrom('argument', 'result'),
        (any, direction) => {
          expect(convertSchema(structuredClone(any), direction)).toEqual(convertSchema(any, direction));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives valid TypeScript', async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    const schemas = fc.sample(document, { numRuns: 400, seed });
    const names = fc.sample(word, { numRuns: 400, seed });
    const tools = schemas.map((any, index) => ({
      name: names[index] ?? '',
      description: names[index] ?? '',
      inputSchemaJson: JSON.stringify(any),
      outputSchemaJson: JSON.stringify(schemas[schemas.length - 1 - index]),
    }));
    const connections = [0, 1, 2, 3].map((id) => ({
      id: String(id),
      name: names[id] ?? '',
      tools: tools.slice(id * 100, id * 100 + 100),
    }));
    const compiled = compileCatalog(create(CatalogSchema, { connections }));
    expect(compiled.bindings).toHaveLength(400);
    const text = (connection: string) =>
      describeBindings(compiled, {
        query: '',
        connection,
        binding: '',
        textBytesMax: limits.describeBytesMax,
      }).text;
    const errors = await typeErrors({
      'all.d.ts': declarationsOf(compiled),
      'uses.ts': `${compiled.bindings.map((binding) => `apps[${JSON.stringify(binding.connection)}][${JSON.stringify(binding.capability)}] satisfies Function;`).join('\n')}\nexport {};`,
      ...Object.fromEntries(
        filesOf(compiled).map((file, index) => [`${index}.ts`, `${text(file.connection)}export {};`]),
      ),
    });
    expect(errors, `SEED=${seed}`).toEqual([]);
  });
});
