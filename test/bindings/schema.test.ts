import { describe, expect, it } from 'vitest';
import { convertSchema, type Direction } from '../../services/code-run/bindings/schema/convert.ts';
import { fullDetail, Printer } from '../../services/code-run/bindings/schema/print.ts';
import { limits } from '../../services/shared/limits.ts';

/** The type of a schema on one line, its definitions before it. */
function textOf(schema: unknown, direction: Direction = 'argument'): string {
  const { type } = convertSchema(schema, direction);
  const printer = new Printer([type], fullDetail, 'T');
  const text = printer.type(type, '');
  return `${printer.definitions()}${text}`.replace(/\s+/g, ' ');
}

function parsed(json: string): unknown {
  return JSON.parse(json);
}

const s = { type: 'string' };
const n = { type: 'number' };

describe('a schema becomes a type:', () => {
  it.each<[what: string, schema: unknown, type: string]>([
    // Plain types.
    ['true', true, 'unknown'],
    ['false', false, 'never'],
    ['integer', { type: 'integer' }, 'number'],
    ['a list of types', { type: ['string', 'integer', 'null'] }, 'string | number | null'],
    ['types that JSON Schema does not have', { type: ['str', 'INT', 'any'] }, 'unknown'],
    ['a type nobody knows', { type: 'blob' }, 'unknown /* malformed */'],
    [
      'schemas in a type list (draft 03)',
      { type: ['string', { type: 'array', items: n }] },
      'string | number[]',
    ],
    // Values.
    [
      'const of each kind',
      { enum: ['a', 1, -0.5, true, null, [1, 'x'], { k: [] }] },
      '"a" | 1 | -0.5 | true | null | [1, "x"] | { k: [] }',
    ],
    ['both booleans', { enum: [true, false] }, 'boolean'],
    ['an enum narrowed by its type', { type: 'string', enum: ['a', 1] }, '"a"'],
    ['an enum that contradicts its type', { type: 'integer', enum: ['1', '2'] }, '"1" | "2"'],
    ['const', { const: 'x' }, '"x"'],
    ['nullable', { type: 'string', nullable: true }, 'string | null'],
    // Lists and tuples.
    ['an array of unions', { type: 'array', items: { anyOf: [s, n] } }, '(string | number)[]'],
    ['an array of anything', { type: 'array' }, 'unknown[]'],
    ['items without a type', { items: s }, 'string[]'],
    ['a tuple of draft 07', { type: 'array', items: [s, n], additionalItems: false }, '[string, number]'],
    [
      'a tuple of 2020-12',
      { type: 'array', prefixItems: [s, n], items: { type: 'boolean' } },
      '[string, number, ...boolean[]]',
    ],
    [
      'a tuple that may be shorter',
      { prefixItems: [s, { anyOf: [s, n] }], minItems: 1 },
      '[string, (string | number)?]',
    ],
    [
      'a tuple with a rest of unions',
      { items: [s], additionalItems: { type: ['string', 'null'] } },
      '[string, ...(string | null)[]]',
    ],
    // Objects.
    ['any object', { type: 'object' }, 'Record<string, unknown>'],
    ['no keys at all', { type: 'object', additionalProperties: false }, 'Record<string, never>'],
    ['a dictionary', { type: 'object', additionalProperties: n }, 'Record<string, number>'],
    ['properties without a type', { properties: { a: s }, required: ['a'] }, '{ a: string }'],
    ['a required key without a schema', { type: 'object', required: ['a'] }, '{ a: unknown }'],
    [
      'a required key of a dictionary',
      { additionalProperties: n, required: ['a'] },
      '{ a: number; [key: string]: number }',
    ],
    [
      'a dictionary beside fields',
      { properties: { a: s, b: { type: 'boolean' } }, required: ['a', 'b'], additionalProperties: n },
      '{ a: string; b: boolean; /** Other keys: number */ [key: string]: number | string | boolean; }',
    ],
    [
      'an open object',
      { properties: { a: s }, additionalProperties: true },
      '{ a?: string; [key: string]: unknown }',
    ],
    ['keys by pattern', { patternProperties: { '^x-': n } }, 'Record<string, number>'],
    [
      'named keys',
      { propertyNames: { enum: ['a', 'b'] }, additionalProperties: n },
      '{ a?: number; b?: number }',
    ],
    [
      'keys that are no identifiers',
      { properties: { 'a-b': s, '1': s, é: s, class: s } },
      '{ "1"?: string; "a-b"?: string; "é"?: string; class?: string }',
    ],
    ['unevaluatedProperties', { properties: { a: s }, unevaluatedProperties: false }, '{ a?: string }'],
    // Both of, either of.
    [
      'allOf of objects',
      { allOf: [{ properties: { a: s }, required: ['a'] }, { properties: { b: n } }] },
      '{ a: string; b?: number }',
    ],
    [
      'the same key twice',
      {
        allOf: [
          { properties: { a: { type: ['string', 'null'] } } },
          { properties: { a: s }, required: ['a'] },
        ],
      },
      '{ a: string }',
    ],
    ['limits in allOf', { type: 'integer', allOf: [{ minimum: 1 }, { maximum: 3 }] }, 'number'],
    ['limits of another type', { type: 'integer', allOf: [{ minLength: 1 }] }, 'number'],
    ['a contradiction', { allOf: [s, n] }, 'never'],
    [
      'a list narrowed',
      { type: 'array', items: { type: ['string', 'number'] }, allOf: [{ items: s }] },
      'string[]',
    ],
    [
      'a tuple narrowed',
      { allOf: [{ prefixItems: [{}, {}] }, { type: 'array', items: n }] },
      '[number, number]',
    ],
    [
      'choices with a base',
      { properties: { a: s }, oneOf: [{ required: ['a'] }, { properties: { b: n }, required: ['b'] }] },
      '{ a: string } | { a?: string; b: number }',
    ],
    ['choices that say the same', { anyOf: [s, { type: 'string', minLength: 1 }, n] }, 'string | number'],
    ['a choice of anything', { anyOf: [s, {}] }, 'unknown'],
    ['formats as choices', { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }, 'string'],
    ['limits without a type', { minimum: 1 }, 'number'],
    // Keywords that bind one kind of value.
    ['a limit of lists beside others', { anyOf: [s, { type: 'null' }], minItems: 1 }, 'string | null'],
    [
      'a limit of lists beside a reference',
      { properties: { x: { $ref: '#/$defs/s', uniqueItems: true } }, $defs: { s } },
      '{ /** @uniqueItems */ x?: string; }',
    ],
    ['items beside lists and others', { anyOf: [s, { type: 'array' }], items: s }, 'string | string[]'],
    ['items in allOf', { type: ['string', 'array'], allOf: [{ items: s }] }, 'string | string[]'],
    ['fields in allOf', { type: ['null', 'object'], allOf: [{ required: ['a'] }] }, 'null | { a: unknown }'],
    [
      'fields and items beside a type',
      { allOf: [{ type: 'object' }], properties: { a: s }, items: n },
      '{ a?: string }',
    ],
    ['fields and items', { properties: { a: s }, items: n }, '{ a?: string } | number[]'],
    [
      'fields and items in allOf',
      { allOf: [{ properties: { a: s } }, { items: n }] },
      '{ a?: string } | number[]',
    ],
    ['fields and a limit of texts', { properties: { a: s }, minLength: 1 }, '{ a?: string }'],
    ['fields beside a text', { properties: { a: s }, allOf: [s] }, 'string'],
    ['fields beside a value', { properties: { a: s }, const: 'x' }, '"x"'],
    // Keys.
    [
      'keys that must not be',
      { type: 'object', patternProperties: { '^_': false } },
      'Record<string, unknown>',
    ],
    [
      'keys that must not be, and others',
      { patternProperties: { '^_': false, '^x': n } },
      'Record<string, number>',
    ],
    ['named keys alone', { propertyNames: { enum: ['a', 'b'] } }, '{ a?: unknown; b?: unknown }'],
    [
      'a default that allOf requires',
      { properties: { a: { default: 1, type: 'number' } }, allOf: [{ required: ['a'] }] },
      '{ /** @default 1 */ a?: number; }',
    ],
    ['unevaluatedItems', { prefixItems: [s], unevaluatedItems: n }, '[string, ...number[]]'],
    // What types cannot say.
    ['not, beside a type', { type: 'string', not: { const: '' } }, 'string'],
    ['not, alone', { not: s }, 'unknown /* not */'],
    ['not anything', { not: {} }, 'never'],
    [
      'if, beside a type',
      parsed(
        '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"if":{},"then":{"properties":{"b":{"type":"null"}},"required":["b"]}}',
      ),
      '{ a: string; b: null } | { a: string }',
    ],
    [
      'if and else',
      parsed('{"type":"string","if":{},"then":{"enum":["a"]},"else":{"enum":["b"]}}'),
      '"a" | "b"',
    ],
    ['then of another type', parsed('{"type":"string","if":{},"then":{"minLength":3}}'), 'string'],
    [
      'dependentSchemas',
      { properties: { a: s }, dependentSchemas: { a: { properties: { b: n }, required: ['b'] } } },
      '{ a?: string; b: number } | { a?: string }',
    ],
    // References.
    ['a pointer', { properties: { a: s, b: { $ref: '#/properties/a' } } }, '{ a?: string; b?: string }'],
    [
      'a pointer with escapes',
      { properties: { b: { $ref: '#/definitions/a~1b%20c' } }, definitions: { 'a/b c': n } },
      '{ b?: number }',
    ],
    ['an anchor', { items: { $ref: '#it' }, $defs: { x: { $anchor: 'it', type: 'string' } } }, 'string[]'],
    [
      'an id of draft 04',
      { items: { $ref: '#it' }, definitions: { x: { id: '#it', type: 'string' } } },
      'string[]',
    ],
    [
      'an $id inside',
      { items: { $ref: 'it.json' }, $defs: { x: { $id: 'it.json', type: 'string' } } },
      'string[]',
    ],
    [
      'a pointer in an $id',
      { items: { $ref: 'it.json#/$defs/y' }, $defs: { x: { $id: 'it.json', $defs: { y: n } } } },
      'number[]',
    ],
    [
      '$dynamicRef',
      { items: { $dynamicRef: '#it' }, $defs: { x: { $dynamicAnchor: 'it', type: 'null' } } },
      'null[]',
    ],
    ['a missing pointer', { items: { $ref: '#/$defs/no' } }, 'unknown /* missing reference */[]'],
    [
      'a pointer through the prototype',
      { items: { $ref: '#/constructor/prototype' } },
      'unknown /* missing reference */[]',
    ],
    ['another document', { items: { $ref: 'https://example.com/x' } }, 'unknown /* external reference */[]'],
    [
      'a reference beside keywords',
      { $ref: '#/$defs/a', required: ['x'], $defs: { a: { properties: { x: s } } } },
      '{ x: string }',
    ],
    [
      'a loop',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      'unknown /* reference loop */',
    ],
    [
      'a loop through a definition that was read below an object',
      {
        type: 'object',
        properties: { b: { $ref: '#/$defs/a' } },
        allOf: [{ $ref: '#/$defs/a' }],
        $defs: { a: { $ref: '#' } },
      },
      'type TArguments = { b?: TArguments }; TArguments',
    ],
    [
      'a loop beside a type',
      { $ref: '#/$defs/a', $defs: { a: { type: 'string', allOf: [{ $ref: '#/$defs/a' }] } } },
      'string',
    ],
  ])('%s', (_what, schema, type) => {
    expect(textOf(schema)).toBe(type);
  });

  it('recursion through itself', () => {
    expect(textOf({ properties: { next: { $ref: '#' } } })).toBe(
      'type TArguments = { next?: TArguments }; TArguments',
    );
  });

  it('recursion through a dictionary, a tuple and a union', () => {
    const json = {
      anyOf: [
        s,
        { type: 'object', additionalProperties: { $ref: '#/$defs/json' } },
        { prefixItems: [{ $ref: '#/$defs/json' }] },
      ],
    };
    expect(textOf({ $ref: '#/$defs/json', $defs: { json } })).toBe(
      'type TJson = string | { [key: string]: TJson } | [TJson]; TJson',
    );
  });

  it('both of two that recur', () => {
    const $defs = {
      a: { properties: { a: s, next: { $ref: '#/$defs/a' } }, required: ['a'] },
      b: { properties: { b: n, next: { $ref: '#/$defs/b' } }, required: ['b'] },
      texts: { anyOf: [s, { type: 'array', items: { $ref: '#/$defs/texts' } }] },
      words: { anyOf: [s, { type: 'array', items: { $ref: '#/$defs/words' } }] },
    };
    const both = (a: string, b: string) => ({
      properties: { x: { allOf: [{ $ref: `#/$defs/${a}` }, { $ref: `#/$defs/${b}` }] } },
      $defs,
    });
    expect(textOf(both('a', 'b'))).toBe('type TAB = { a: string; next?: TAB; b: number }; { x?: TAB }');
    expect(textOf(both('texts', 'words'))).toBe(
      'type TTextsWords = string | TTextsWords[]; { x?: TTextsWords }',
    );
  });

  it('two that need each other', () => {
    const schema = {
      $ref: '#/$defs/a',
      $defs: {
        a: { properties: { b: { $ref: '#/$defs/b' } } },
        b: { properties: { a: { $ref: '#/$defs/a' } } },
      },
    };
    expect(textOf(schema)).toBe('type TA = { b?: { a?: TA } }; TA');
  });

  it('a long shared part has a name, a short one does not', () => {
    const long = {
      properties: Object.fromEntries(['alpha', 'beta', 'gamma', 'delta'].map((key) => [key, s])),
    };
    const use = (part: string) => ({ properties: { x: { $ref: part }, y: { $ref: part } } });
    expect(textOf({ ...use('#/$defs/long'), $defs: { long } })).toMatch(
      /^type TLong = \{ .* \{ x\?: TLong; y\?: TLong \}$/,
    );
    expect(textOf({ ...use('#/$defs/short'), $defs: { short: s } })).toBe('{ x?: string; y?: string }');
  });
});

describe('a definition', () => {
  it('is named after itself, or after the field where its name says nothing', () => {
    const part = (key: string) => ({
      properties: { [key]: { type: 'array', items: { $ref: `#/$defs/${key}` } } },
    });
    const schema = {
      properties: { parts: { $ref: '#/$defs/__schema0' }, tree: { $ref: '#/$defs/tree_node' } },
      $defs: { __schema0: part('__schema0'), tree_node: part('tree_node') },
    };
    expect(textOf(schema)).toBe(
      'type TParts = { __schema0?: TParts[] }; type TTreeNode = { tree_node?: TTreeNode[] }; { parts?: TParts; tree?: TTreeNode }',
    );
  });
});

describe('a field with a default', () => {
  const schema = {
    properties: {
      a: { default: 1 },
      b: { $ref: '#/$defs/b' },
      c: { allOf: [{ default: null, type: 'null' }] },
    },
    required: ['a', 'b', 'c'],
    $defs: { b: { type: 'string', default: '' } },
  };

  it('may be left out of arguments', () => {
    expect(textOf(schema)).toBe(
      '{ /** @default 1 */ a?: unknown; /** @default "" */ b?: string; /** @default null */ c?: null; }',
    );
  });

  it('is there in results', () => {
    expect(textOf(schema, 'result')).toContain('a: unknown;');
  });
});

describe('limits', () => {
  function nested(levels: number): unknown {
    return parsed(`${'{"type":"array","items":'.repeat(levels)}{"type":"string"}${'}'.repeat(levels)}`);
  }

  it('on levels hold at the limit and one past it', () => {
    expect(textOf(nested(limits.schemaDepthMax))).toBe(`string${'[]'.repeat(limits.schemaDepthMax)}`);
    expect(textOf(nested(limits.schemaDepthMax + 1))).toBe(
      `unknown /* nested too deep */${'[]'.repeat(limits.schemaDepthMax + 1)}`,
    );
  });

  it('on the values of an enum hold at the limit and one past it', () => {
    const values = (count: number) => ({ enum: Array.from({ length: count }, (_, index) => index) });
    expect(textOf(values(limits.enumMembersMax)).split('|')).toHaveLength(limits.enumMembersMax);
    expect(textOf(values(limits.enumMembersMax + 1))).toBe('number');
  });

  it('on parts hold at the limit and one past it', () => {
    const schema = (count: number) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'null' }]),
      ),
    });
    expect(textOf(schema(limits.schemaNodesMax - 1))).not.toContain('too large');
    expect(textOf(schema(limits.schemaNodesMax)).match(/too large/g)).toHaveLength(1);
  });

  it('keep schemas that double at every level in bounds', () => {
    // Each level is what the next one is, twice in three ways: written out, the last would take 2^40 times the first.
    const shared: Record<string, unknown> = { d0: { type: 'object', properties: { leaf: s } } };
    const crossed: Record<string, unknown> = { d0: { type: 'object', properties: { leaf: s } } };
    for (let level = 1; level <= 40; level += 1) {
      const $ref = `#/$defs/d${level - 1}`;
      shared[`d${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } };
      const kinds = (name: string) =>
        [1, 2, 3, 4, 5, 6].map((kind) => ({ properties: { [name]: { const: kind } } }));
      crossed[`d${level}`] = {
        properties: { next: { $ref } },
        anyOf: kinds('k'),
        oneOf: kinds('l'),
        allOf: [{ $ref }],
      };
    }
    for (const $defs of [shared, crossed]) {
      const started = process.cpuUsage();
      const text = textOf({ $ref: '#/$defs/d40', $defs });
      const used = process.cpuUsage(started);
      expect(text.length).toBeLessThan(4 * limits.declarationCharsMax);
      expect((used.user + used.system) / 1000).toBeLessThan(10_000);
    }
  });
});
