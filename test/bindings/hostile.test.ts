/** Schemas that are made to take long, or to go too deep: each costs a fraction of a second and its own types alone. */
import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { describeBindings } from '../../services/code-run/bindings/describe.ts';
import { limits } from '../../services/shared/limits.ts';
import { declarationsOf } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

const s = { type: 'string' };
const n = { type: 'number' };

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function record(count: number, make: (index: number) => readonly [string, unknown]): Record<string, unknown> {
  return Object.fromEntries(times(count, make));
}

function condition(index: number): unknown {
  return JSON.parse(
    `{"if":{"required":["a${index}"]},"then":{"required":["b${index}"]},"else":{"properties":{"c${index}":{"type":"number"}}}}`,
  );
}

/** Definitions that each lead to the one before, read in this order: never deep to read, but deep once read. */
function chain(count: number, link: (ref: unknown, index: number) => unknown): Record<string, unknown> {
  return {
    allOf: times(count, (index) => ({ propertyNames: { $ref: `#/$defs/d${index}` } })),
    properties: { x: { $ref: `#/$defs/d${count - 1}` } },
    $defs: record(count, (index) => [
      `d${index}`,
      index === 0 ? s : link({ $ref: `#/$defs/d${index - 1}` }, index),
    ]),
  };
}

const long = 'x'.repeat(100_000);

const schemas: Record<string, unknown> = {
  'conditions that double': { type: 'object', allOf: times(60, condition) },
  'choices that double': {
    type: 'object',
    allOf: times(60, (index) => ({
      anyOf: [{ required: [`a${index}`] }, { required: [`b${index}`] }],
    })),
  },
  'keys that depend on keys': {
    type: 'object',
    dependentSchemas: record(2000, (index) => [`k${index}`, { required: [`r${index}`] }]),
  },
  'an object that grows': { allOf: times(20_000, (index) => ({ required: [`r${index}`] })) },
  'an object that grows by many': {
    allOf: times(5000, (index) => ({ properties: record(20, (key) => [`p${index}_${key}`, s]) })),
  },
  'an object that grows beside a long name': {
    properties: { [long]: s },
    allOf: times(5000, (index) => ({ required: [`r${index}`] })),
  },
  'a comment that grows': {
    allOf: times(5000, (index) => ({ properties: { a: { type: 'number', maximum: index } } })),
  },
  'two lists that recur': {
    properties: { x: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } },
    $defs: {
      a: { properties: { a: s, next: { $ref: '#/$defs/a' } }, required: ['a'] },
      b: { properties: { b: n, next: { $ref: '#/$defs/b' } }, required: ['b'] },
    },
  },
  'a big object': { properties: record(130_000, (index) => [`property${index}`, s]) },
  'a big constant': { properties: { x: { const: record(130_000, (index) => [`key${index}`, index]) } } },
  'a deep text': JSON.parse(`${'{"type":"array","items":'.repeat(50_000)}{}${'}'.repeat(50_000)}`),
  'a long chain of lists': chain(6000, (ref) => ({ type: 'array', items: ref })),
  'a long chain of choices': chain(6000, (ref, index) => ({
    anyOf: [ref, { required: [`r${index}`] }],
  })),
  'a long chain of objects, met by another': {
    ...chain(3000, (ref) => ({ type: 'object', properties: { a: ref } })),
    anyOf: [{ $ref: '#/$defs/d2999' }, { $ref: '#/$defs/d2998' }],
    oneOf: [{ $ref: '#/$defs/d2997' }, { type: 'object', properties: { b: s } }],
  },
  'definitions of one name': {
    properties: record(9000, (index) => [`p${index}`, { $ref: `#/$defs/__schema${index}` }]),
    $defs: record(9000, (index) => [
      `__schema${index}`,
      {
        properties: {
          a: { $ref: `#/$defs/__schema${index}` },
          b: { $ref: `#/$defs/__schema${(index + 1) % 9000}` },
        },
      },
    ]),
  },
  'many that refer to much': {
    properties: record(15_000, (index) => [`p${index}`, { $ref: '#/$defs/much' }]),
    $defs: { much: { anyOf: times(4000, (index) => ({ const: index, title: `Number ${index}` })) } },
  },
  'dictionaries within dictionaries': chain(40, (ref) => ({
    properties: { a: ref },
    additionalProperties: ref,
  })),
  'named keys of many': {
    properties: record(6000, (index) => [
      `p${index}`,
      { propertyNames: { $ref: '#/$defs/keys' }, additionalProperties: s },
    ]),
    $defs: { keys: { enum: times(300, (index) => `key${index}`) } },
  },
  'keys that need keys': {
    dependentRequired: record(50_000, (index) => [`k${index}`, ['a']]),
    properties: { a: s },
  },
  'nothing at all, doubled': chain(60, (ref) => ({
    type: 'array',
    items: [ref, ref],
    additionalItems: false,
  })),
};

const good = {
  name: 'good',
  description: 'list things',
  inputSchemaJson: '{"properties":{"x":{"type":"string"}}}',
};

/** Far more than any takes on a quiet machine, far less than what has no bound. */
const cpuMsMax = 3000;

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000;
}

describe('a schema with', () => {
  it.each(Object.entries(schemas))('%s costs little, and its neighbour nothing', (what, schema) => {
    const json = JSON.stringify(schema);
    const tool = { name: 'bad', description: 'list things', inputSchemaJson: json, outputSchemaJson: json };
    const compiled = compileCatalog(
      create(CatalogSchema, { connections: [{ id: 'c', name: 'c', tools: [tool, good] }] }),
    );
    const request = { query: '', connection: 'c', binding: '', textBytesMax: limits.describeBytesMax };
    let described = '';
    let declared = '';
    const describing = cpuMs(() => {
      described = describeBindings(compiled, request).text;
    });
    const declaring = cpuMs(() => {
      declared = declarationsOf(compiled);
    });
    if (process.env['BINDINGS_MEASURE'] !== undefined)
      process.stdout.write(
        `${what}: ${describing.toFixed()} and ${declaring.toFixed()} ms of ${json.length}\n`,
      );
    expect(declared).toContain('good(args?: { x?: string }): Promise<ToolResult>;');
    for (const text of [described, declared]) {
      expect(text).toContain('good(');
      expect(text).toContain('bad(');
      expect(text).not.toContain('unreadable');
    }
    expect(declared.length).toBeLessThan(6 * limits.declarationCharsMax);
    expect(Math.max(describing, declaring)).toBeLessThan(cpuMsMax);
  });

  it('any of these is valid TypeScript', { timeout: 120_000 }, async () => {
    const tools = Object.values(schemas).map((schema, index) => ({
      name: `t${index}`,
      inputSchemaJson: JSON.stringify(schema),
    }));
    const compiled = compileCatalog(create(CatalogSchema, { connections: [{ id: 'c', name: 'c', tools }] }));
    expect(await typeErrors({ 'all.d.ts': declarationsOf(compiled) })).toEqual([]);
  });
});
