/** References within a document, and within the documents that it holds: RFC 3986 and the specification say where to. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { convertSchema } from '../../services/code-run/bindings/schema/convert.ts';
import { fullDetail, Printer } from '../../services/code-run/bindings/schema/print.ts';

function textOf(schema: unknown): string {
  const { type } = convertSchema(schema, 'argument');
  const printer = new Printer([type], fullDetail, 'T');
  const text = printer.type(type, '');
  return `${printer.definitions()}${text}`.replace(/\s+/g, ' ');
}

const s = { type: 'string' };
const n = { type: 'number' };
const root = 'https://x.org/root.json';

describe('a reference', () => {
  it.each<[what: string, schema: unknown, type: string]>([
    [
      'by pointer starts from the schema with an $id around it',
      {
        properties: { a: { $ref: 'addr.json' } },
        $defs: {
          zip: n,
          addr: { $id: 'addr.json', properties: { zip: { $ref: '#/$defs/zip' } }, $defs: { zip: s } },
        },
      },
      '{ a?: { zip?: string } }',
    ],
    [
      'to # is to the schema with an $id around it',
      {
        properties: { a: { $ref: 'node.json' } },
        $defs: { node: { $id: 'node.json', properties: { next: { $ref: '#' } } } },
      },
      'type TNodeJson = { next?: TNodeJson }; { a?: TNodeJson }',
    ],
    [
      'to nothing in the schema around it is missing, whatever the whole has',
      {
        properties: { a: { $ref: 'a.json' } },
        $defs: { zip: n, a: { $id: 'a.json', properties: { zip: { $ref: '#/$defs/zip' } } } },
      },
      '{ a?: { zip?: unknown /* missing reference */ } }',
    ],
    [
      'may be whole where the id is not',
      { $id: root, items: { $ref: 'https://x.org/addr.json' }, $defs: { a: { $id: 'addr.json', ...s } } },
      'string[]',
    ],
    [
      'may be relative where the id is whole',
      { $id: root, items: { $ref: 'addr.json' }, $defs: { a: { $id: 'https://x.org/addr.json', ...s } } },
      'string[]',
    ],
    [
      'may name its own document',
      { $id: root, items: { $ref: 'root.json#/$defs/a' }, $defs: { a: s } },
      'string[]',
    ],
    [
      'may go up and down folders',
      {
        $id: 'https://x.org/a/b/root.json',
        items: { $ref: '../c/./it.json#/$defs/%61' },
        $defs: { x: { $id: '/a/c/it.json', $defs: { a: n } } },
      },
      'number[]',
    ],
    [
      'is resolved against the ids around it, one after the other',
      {
        $id: 'https://x.org/root.json',
        items: { $ref: 'https://x.org/folder/b.json' },
        $defs: {
          a: {
            $id: 'folder/a.json',
            $defs: { b: { $id: 'b.json', items: { $ref: 'a.json#/$defs/c' } }, c: s },
          },
        },
      },
      'string[][]',
    ],
    [
      'may be to a URN',
      {
        items: { $ref: 'urn:example:it#/$defs/a' },
        $defs: { x: { $id: 'urn:example:it', $defs: { a: n } } },
      },
      'number[]',
    ],
    [
      'to an id that ends in an empty fragment is to it',
      { items: { $ref: 'https://x.org/it' }, definitions: { x: { id: 'https://x.org/it#', ...n } } },
      'number[]',
    ],
    [
      'by anchor is to that of its own document',
      {
        properties: { a: { $ref: 'a.json' }, b: { $ref: 'b.json' }, c: { $ref: 'a.json#it' } },
        $defs: {
          a: { $id: 'a.json', items: { $ref: '#it' }, $defs: { x: { $anchor: 'it', ...s } } },
          b: { $id: 'b.json', items: { $ref: '#it' }, $defs: { x: { $anchor: 'it', ...n } } },
        },
      },
      '{ a?: string[]; b?: number[]; c?: string }',
    ],
    [
      'by anchor to that of another document is missing',
      { items: { $ref: '#it' }, $defs: { a: { $id: 'a.json', $defs: { x: { $anchor: 'it', ...s } } } } },
      'unknown /* missing reference */[]',
    ],
    [
      'beside fields and values called $id or id starts from the whole',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: {
          $id: { $ref: '#/$defs/a' },
          id: { id: 'x.json', allOf: [{ $ref: '#/$defs/a' }] },
          x: { default: { $id: 'y.json' }, $ref: '#/$defs/a' },
        },
        $defs: { a: s },
      },
      '{ $id?: string; id?: string; /** @default {"$id":"y.json"} */ x?: string; }',
    ],
    [
      'that is dynamic is to the outermost with the anchor',
      {
        $id: root,
        $dynamicAnchor: 'node',
        properties: { b: s },
        allOf: [{ $ref: 'tree.json' }],
        $defs: {
          tree: {
            $id: 'tree.json',
            $dynamicAnchor: 'node',
            properties: { next: { $dynamicRef: '#node' } },
          },
        },
      },
      'type TNode = { b?: string; next?: TNode }; TNode',
    ],
  ])('%s', (_what, schema, type) => {
    expect(textOf(schema)).toBe(type);
  });

  it('is found wherever the compound form of the 2020-12 meta-schema has one', () => {
    const folder = new URL('../../node_modules/ajv/dist/refs/json-schema-2020-12/', import.meta.url);
    const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    const vocabularies = readdirSync(new URL('meta/', folder)).map((name) => read(`meta/${name}`));
    const $defs = Object.fromEntries(vocabularies.map((one) => [one.$id, one]));
    const text = textOf({ ...read('schema.json'), $defs });
    for (const field of ['$id', '$schema', '$ref', '$anchor']) expect(text).toContain(` ${field}?: string`);
    expect(text).not.toMatch(/(missing|external) reference/);
    expect(text).toMatch(/ not\?: T\w+;/);
  });
});
