import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Catalog, CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { BindingTable, bindCapabilities, bindCatalog } from '../../services/code-run/bindings/table.ts';

function catalogOf(...connections: Parameters<typeof connectionOf>[]): Catalog {
  return create(CatalogSchema, { connections: connections.map((given) => connectionOf(...given)) });
}

function connectionOf(id: string, name: string, tools: readonly string[]) {
  return { id, name, tools: tools.map((tool) => ({ name: tool })) };
}

function namesIn(catalog: Catalog): string[] {
  return bindCapabilities(catalog).map(
    (bound) => `${bound.name} = ${bound.binding.source.connectionId}/${bound.binding.rawName}`,
  );
}

describe('bindCatalog', () => {
  it('says for each name what it means', () => {
    expect(bindCatalog(catalogOf(['conn-7', 'Work calendar', ['list-events']]))).toEqual([
      {
        connection: 'work_calendar',
        capability: 'list_events',
        source: {
          connectionId: 'conn-7',
          connectionName: 'Work calendar',
          kind: 'tool',
          name: 'list-events',
        },
        rawName: 'list-events',
      },
    ]);
  });

  it('binds tools, resources, templates and prompts, and numbers clashes across them', () => {
    const catalog = create(CatalogSchema, {
      connections: [
        {
          id: 'c',
          name: 'Notes',
          prompts: [{ name: 'read' }],
          resourceTemplates: [{ name: 'read', uriTemplate: 'note://{id}' }],
          resources: [
            { name: 'read', uri: 'note://b' },
            { name: 'read', uri: 'note://a' },
            { name: '', uri: 'note://index' },
          ],
          tools: [{ name: 'read' }],
        },
      ],
    });
    expect(
      bindCatalog(catalog).map(({ capability, source }) => [capability, source.kind, source.name]),
    ).toEqual([
      ['note_index', 'resource', 'note://index'],
      ['read', 'tool', 'read'],
      ['read_2', 'resource', 'note://a'],
      ['read_3', 'resource', 'note://b'],
      ['read_4', 'resourceTemplate', 'note://{id}'],
      ['read_5', 'prompt', 'read'],
    ]);
  });

  it('orders clashes of connections by id and of capabilities by raw name', () => {
    expect(
      namesIn(
        catalogOf(
          ['b', 'Mail', ['send-it', 'send_it', 'Send It']],
          ['a', 'mail', ['x']],
          ['c', 'MAIL', ['x']],
        ),
      ),
    ).toEqual([
      'mail.x = a/x',
      'mail_2.send_it = b/Send It',
      'mail_2.send_it_2 = b/send-it',
      'mail_2.send_it_3 = b/send_it',
      'mail_3.x = c/x',
    ]);
  });

  it('keeps names out of the way of apps.call and of await', () => {
    expect(
      namesIn(
        catalogOf(
          ['1', 'call', ['call', 'then', 'catch', 'constructor', '__proto__', 'toString']],
          ['2', 'then', ['x']],
        ),
      ),
    ).toEqual([
      'call_2.proto = 1/__proto__',
      'call_2.call = 1/call',
      'call_2.catch = 1/catch',
      'call_2.constructor = 1/constructor',
      'call_2.then_2 = 1/then',
      'call_2.to_string = 1/toString',
      'then.x = 2/x',
    ]);
  });

  it('gives every capability a name of its own, whatever the order of the list', () => {
    const name = fc.oneof(
      fc.constantFrom(
        '',
        '.',
        '_',
        'a',
        'A',
        'a-2',
        'a_2',
        'then',
        'call',
        '__proto__',
        'constructor',
        '阿里',
        'x'.repeat(200),
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    const connections = fc.array(fc.tuple(name, fc.array(name, { maxLength: 12 })), { maxLength: 6 });
    fc.assert(
      fc.property(connections, fc.infiniteStream(fc.nat()), (list, numbers) => {
        const given = list.map(([raw, tools], index): [string, string, string[]] => [
          `conn-${index}`,
          raw,
          tools,
        ]);
        const names = namesIn(catalogOf(...given));
        expect(new Set(names.map((line) => line.split(' = ')[0])).size).toBe(
          given.flatMap(([, , tools]) => tools).length,
        );
        const shuffled = shuffle(given, numbers).map(([id, raw, tools]): [string, string, string[]] => [
          id,
          raw,
          shuffle(tools, numbers),
        ]);
        expect(namesIn(catalogOf(...shuffled))).toEqual(names);
      }),
      { numRuns: 300 },
    );
  });
});

function shuffle<T>(list: readonly T[], numbers: Iterator<number>): T[] {
  return list
    .map((item) => [Number(numbers.next().value), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

describe('BindingTable', () => {
  const table = new BindingTable(
    bindCapabilities(
      catalogOf(
        ['1', 'Work calendar', ['list-events', 'a/b']],
        ['2', 'Mail', ['send']],
        ['3', 'Mail', ['send', 'drop']],
      ),
    ),
  );

  it.each([
    ['work_calendar.list_events', 'work_calendar.list_events'],
    ['apps.work_calendar.list_events', 'work_calendar.list_events'],
    ['Work calendar/list-events', 'work_calendar.list_events'],
    ['Work calendar/a/b', 'work_calendar.a_b'],
    ['mail_2.send', 'mail_2.send'],
    ['Mail/drop', 'mail_2.drop'],
  ])('finds %j', (written, name) => {
    const lookup = table.find(written);
    expect(lookup.tag === 'Found' && lookup.bound.name).toBe(name);
  });

  it('says which bindings share a raw name', () => {
    const lookup = table.find('Mail/send');
    expect(lookup.tag === 'Ambiguous' && lookup.candidates.map((bound) => bound.name)).toEqual([
      'mail.send',
      'mail_2.send',
    ]);
  });

  it.each(['', 'apps.', 'work_calendar', 'work calendar/list-events', '__proto__', 'constructor'])(
    'knows no %j',
    (written) => {
      expect(table.find(written)).toEqual({ tag: 'Unknown' });
    },
  );
});
