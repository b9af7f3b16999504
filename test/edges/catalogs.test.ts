/** Catalogs: what is refused, what is kept, and for how long. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { CatalogRefSchema } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { Catalogs } from '../../services/code-run/api/catalogs.ts';
import { AppError } from '../../services/shared/errors.ts';
import { limits } from '../../services/shared/limits.ts';

type Init = MessageInitShape<typeof CatalogSchema>;
const catalogOf = (init: Init) => create(CatalogSchema, init);
const digestRef = (value: string) => create(CatalogRefSchema, { ref: { case: 'digest', value } });

function violationsOf(init: Init): string[] {
  try {
    new Catalogs().put(catalogOf(init), 'catalog');
  } catch (error) {
    if (error instanceof AppError)
      return error.violations.map(({ field, description }) => `${field} ${description}`);
    throw error;
  }
  return [];
}

const connections = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `conn-${index}`, name: `App ${index}` }));
const tools = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `tool-${index}` }));

test('a catalog is taken at its limits, and refused one past them', () => {
  expect(violationsOf({ connections: connections(limits.connectionsMax) })).toEqual([]);
  expect(violationsOf({ connections: connections(limits.connectionsMax + 1) })).toEqual([
    'catalog.connections must hold at most 1000, holds 1001',
  ]);
  expect(violationsOf({ connections: [{ id: 'c', tools: tools(limits.bindingsMax) }] })).toEqual([]);
  expect(violationsOf({ connections: [{ id: 'c', tools: tools(limits.bindingsMax + 1) }] })).toEqual([
    'catalog must hold at most 20000, holds 20001',
  ]);
  const id = 'x'.repeat(limits.idBytesMax);
  const name = 'x'.repeat(limits.capabilityNameBytesMax);
  expect(violationsOf({ connections: [{ id, name: id, tools: [{ name }] }] })).toEqual([]);
  expect(
    violationsOf({ connections: [{ id: `${id}x`, name: `${id}x`, tools: [{ name: `${name}x` }] }] }),
  ).toEqual([
    'catalog.connections[0].id must be at most 256 bytes of UTF-8',
    'catalog.connections[0].name must be at most 256 bytes of UTF-8',
    'catalog.connections[0].tools[0].name must be at most 4096 bytes of UTF-8',
  ]);
});

test('names of resources and templates are bounded as those of tools are', () => {
  const name = 'x'.repeat(limits.capabilityNameBytesMax);
  const named = (text: string) => ({
    id: 'c',
    resources: [{ uri: 'a:b', name: text }],
    resourceTemplates: [{ uriTemplate: 'a:{b}', name: text }],
  });
  expect(violationsOf({ connections: [named(name)] })).toEqual([]);
  expect(violationsOf({ connections: [named(`${name}x`)] })).toEqual([
    'catalog.connections[0].resources[0].name must be at most 4096 bytes of UTF-8',
    'catalog.connections[0].resource_templates[0].name must be at most 4096 bytes of UTF-8',
  ]);
});

test('a catalog is refused by its size before it is prepared', () => {
  const description = 'x'.repeat(limits.catalogBytesMax);
  expect(violationsOf({ connections: [{ id: 'c', description }] })).toEqual([
    expect.stringMatching(/^catalog must take at most 33554432 bytes, takes \d+$/),
  ]);
});

test('a catalog is refused by the names that a job would have to hold', () => {
  // ["c","xxx…","C","xxx…"] and a comma for each.
  const named = (bytes: number) => {
    const each = 4096;
    const count = Math.floor(bytes / each) - 1;
    const lengths = [...Array.from({ length: count }, () => each), bytes - count * each];
    const tools = lengths.map((length, index) => {
      const odd = length % 2; // The name and the raw name are as long, so a space makes the rest.
      const number = String(index).padStart(5, '0');
      return { name: `x${number.padEnd((length - odd - 16) / 2 - 1, 'x')}${' '.repeat(odd)}` };
    });
    return { connections: [{ id: 'c', name: 'C', tools }] };
  };
  expect(violationsOf(named(limits.catalogNamesBytesMax))).toEqual([]);
  expect(violationsOf(named(limits.catalogNamesBytesMax + 1))).toEqual([
    'catalog the names in it must take at most 8388608 bytes, take 8388609',
  ]);
});

test('ids must be there and differ', () => {
  const twice = [{ id: 'a' }, { id: 'a' }, { id: '' }];
  expect(violationsOf({ connections: twice })).toEqual([
    'catalog.connections[1].id must be unique among the connections',
    'catalog.connections[2].id must not be empty',
  ]);
});

test('a catalog is taken with what an app gives no name', () => {
  const nameless = { tools: [{}], resources: [{}], resourceTemplates: [{}], prompts: [{}] };
  const connections = [
    { id: 'a', name: 'Odd', ...nameless },
    { id: 'b', name: 'Notes', tools: tools(1) },
  ];
  const { compiled } = new Catalogs().put(catalogOf({ connections }), 'catalog');
  expect(compiled.table.all.map(({ name }) => name)).toEqual([
    'odd._',
    'odd.__2',
    'odd.__3',
    'odd.__4',
    'notes.tool_0',
  ]);
  expect(compiled.index.search('notes').map(({ bound }) => bound.name)).toContain('notes.tool_0');
});

test('the same catalog has the same digest everywhere, and is prepared once', () => {
  const one = new Catalogs();
  const two = new Catalogs();
  const catalog = () => catalogOf({ connections: [{ id: 'a', name: 'Notes', tools: tools(3) }] });
  const put = one.put(catalog(), 'catalog');
  expect(two.put(catalog(), 'catalog').digest).toBe(put.digest);
  expect(one.put(catalog(), 'catalog').compiled).toBe(put.compiled);
  expect(one.resolve(digestRef(put.digest), 'catalog')).toBe(put.compiled);
});

test('what was used least recently goes first when too much is kept', () => {
  const sized = (id: string) => catalogOf({ connections: [{ id, description: 'x'.repeat(1000) }] });
  const bytes = toBinary(CatalogSchema, sized('a')).length;
  const catalogs = new Catalogs(3 * bytes);
  const digests = ['a', 'b', 'c'].map((id) => catalogs.put(sized(id), 'catalog').digest);
  const [a = '', b = '', c = ''] = digests;
  catalogs.resolve(digestRef(a), 'catalog'); // Used again: now b is the oldest.
  const d = catalogs.put(sized('d'), 'catalog').digest;
  for (const digest of [a, c, d]) expect(() => catalogs.resolve(digestRef(digest), 'catalog')).not.toThrow();
  expect(() => catalogs.resolve(digestRef(b), 'catalog')).toThrow(
    'catalog.digest: no catalog has this digest: put the catalog again',
  );
});
