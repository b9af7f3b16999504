/**
 * Every entry of test/fixtures/nasty-schemas.json gives what it wants. `wants` says it as the exact text; an entry
 * without one fails the last test.
 */
import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { worldDeclarations } from '../../services/code-run/bindings/world.ts';
import { catalogOf, filesOf } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

interface Entry {
  readonly id: string;
  readonly feature: string;
  readonly catalog?: string;
  readonly connection?: string;
  readonly tool?: string;
  readonly fragment?: unknown;
}

const { entries } = JSON.parse(
  readFileSync(new URL('../fixtures/nasty-schemas.json', import.meta.url), 'utf8'),
) as { entries: Entry[] };

const texts: Record<string, string> = {};

/** The file of a connection `c` whose tool `t` takes, or gives, `schema`. */
function fileOf(id: string, schema: unknown, direction: 'argument' | 'result' = 'argument'): string {
  const json = JSON.stringify(schema);
  const tool = direction === 'argument' ? { inputSchemaJson: json } : { outputSchemaJson: json };
  const catalog = create(CatalogSchema, {
    connections: [{ id: 'c', name: id, tools: [{ name: 't', ...tool }] }],
  });
  const text = filesOf(compileCatalog(catalog))
    .map((file) => file.text)
    .join('');
  texts[`${id}-${Object.keys(texts).length}.d.ts`] = text;
  return text;
}

/** The same without line breaks, from the first type to the end of the member. */
function typesOf(id: string, schema: unknown, direction: 'argument' | 'result' = 'argument'): string {
  const text = fileOf(id, schema, direction);
  const member = text.slice(text.indexOf('  t('), text.indexOf('\n}\n\ninterface Apps {'));
  return `${text.slice(0, text.indexOf('/** N'))}${member}`.replace(/\s+/g, ' ').trim();
}

function fragmentOf(id: string): unknown {
  return entries.find((entry) => entry.id === id)?.fragment;
}

/** As the only field of the arguments. */
function field(fragment: unknown): unknown {
  return { type: 'object', properties: { x: fragment } };
}

/** The member of a tool in the file of its real catalog. */
function memberOf(id: string): string {
  const entry = entries.find((one) => one.id === id);
  const compiled = compileCatalog(catalogOf(`${(entry?.catalog ?? '').replace('catalogs/', '')}.gz`));
  const bound = compiled.table.all.find(
    ({ binding }) => binding.rawName === entry?.tool && binding.source.connectionName === entry?.connection,
  );
  const text = filesOf(compiled).find((file) => file.connection === bound?.binding.connection)?.text ?? '';
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`  ${bound?.binding.capability}(`));
  const end = lines.findIndex((line, index) => index >= start && line.includes('): Promise<'));
  const types = lines.findIndex((line) => line.startsWith('interface Apps$'));
  return [...lines.slice(0, types), ...lines.slice(start, end + 1)].join('\n');
}

const wants: Record<string, () => void> = {
  N01: () => {
    const parent = memberOf('N01').replace(/\s+/g, ' ');
    expect(parent).toContain(
      'parent: { /** @format uuid */ page_id: string; [key: string]: unknown; } | { type?: "database_id";',
    );
    expect(parent).toContain('} | { type: "workspace"; [key: string]: unknown } | string; properties:');
  },
  N03: () => {
    const Node = 'n03$t$Children';
    expect(typesOf('N03', fragmentOf('N03'))).toContain(
      `type ${Node} = { name: string; children?: ${Node}[] };`,
    );
    expect(typesOf('N03', fragmentOf('N03'))).toContain(`data: { name: string; children?: ${Node}[] };`);
  },
  N05: () => {
    const member = memberOf('N05');
    expect(member).toMatch(
      /\/\*\* Answer for signature questions\. The file must be uploaded first to obtain a file ID\. \*\/\n +signature\?: monday\$create_form_submission\$File;/,
    );
  },
  N07: () => {
    expect(typesOf('N07', fragmentOf('N07'), 'result')).toBe(
      'type n07$t$Node = { name?: string; next?: n07$t$Node }; t(args?: {}): Promise<ToolResult<{ root?: n07$t$Node }>>;',
    );
  },
  N08: () => {
    expect(typesOf('N08', { ...Object(fragmentOf('N08')), required: ['a'] })).toBe(
      't(args: { a: unknown /* external reference */; b?: unknown /* external reference */; c?: unknown /* external reference */; }): Promise<ToolResult>;',
    );
  },
  N09: () => {
    expect(typesOf('N09', field(fragmentOf('N09')))).toContain(
      '/** Number of intervals to define the number of intervals in a histogram. @default null */ x?: number | null;',
    );
  },
  N10: () => {
    expect(typesOf('N10', field(fragmentOf('N10')))).toBe(
      't(args?: { /** @format ipv4 or ipv6 */ x?: string; }): Promise<ToolResult>;',
    );
  },
  N13: () => {
    expect(memberOf('N13')).not.toContain('&');
    expect(memberOf('N13')).toMatch(/collection\?: \{/);
  },
  N14: () => {
    const base = {
      ...Object(fragmentOf('N14')),
      properties: { page: { type: 'number' } },
      required: ['page'],
    };
    expect(typesOf('N14', base)).toBe(
      't(args: { page: number; id: string } | { page: number; name: string }): Promise<ToolResult>;',
    );
    const all = {
      type: 'object',
      allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: { type: 'null' } } }],
    };
    expect(typesOf('N14', all)).toBe('t(args: { a: unknown; b?: null }): Promise<ToolResult>;');
  },
  N16: () => {
    expect(typesOf('N16', field(fragmentOf('N16')))).toContain('x?: string | number | null }');
  },
  N17: () => {
    expect(typesOf('N17', fragmentOf('N17'))).toContain('{ urls?: string[] | null }');
  },
  N18: () => {
    expect(typesOf('N18', fragmentOf('N18'))).toContain('{ a?: string | null; b?: "x" | "y" | null }');
  },
  N20: () => {
    expect(typesOf('N20', fragmentOf('N20'))).toContain('{ v?: never }');
  },
  N21: () => {
    const text = typesOf('N21', field(fragmentOf('N21')));
    expect(text.match(/"[A-Z_]+"/g)).toHaveLength(169);
    const values = Array.from({ length: 500 }, (_, index) => `value ${index}`);
    expect(typesOf('N21', field({ enum: values, description: 'One of many.' }))).toContain(
      '/** * One of many. * One of 500 values: "value 0", "value 1", "value 2", "value 3", "value 4", … */ x?: string;',
    );
  },
  N22: () => {
    const values = (fragmentOf('N22') as { enum: string[] }).enum;
    expect(typesOf('N22', field(fragmentOf('N22')))).toContain(
      `x?: ${values.map((value) => `"${value}"`).join(' | ')};`,
    );
  },
  N23: () => {
    expect(typesOf('N23', field(fragmentOf('N23')))).toContain('x?: "raw"');
  },
  N24: () => {
    const text = fileOf('N24', field(fragmentOf('N24')));
    expect(text).toContain('x?: "hot" | "video" | "comment" | "collect";');
    expect(text).toContain('* 分类\n     * - "hot": 人气榜\n     * - "video": 视频榜');
  },
  N25: () => {
    expect(typesOf('N25', fragmentOf('N25'), 'result')).toContain('ToolResult<Record<string, unknown>>');
  },
  N26: () => {
    expect(typesOf('N26', field(fragmentOf('N26')))).toContain(
      '/** New value for replace/add operations */ x?: unknown;',
    );
  },
  N28: () => {
    expect(typesOf('N28', fragmentOf('N28'))).toBe('t(args?: {}): Promise<ToolResult>;');
    expect(typesOf('N28', { type: 'object' })).toBe('t(args?: {}): Promise<ToolResult>;');
    expect(typesOf('N28', { type: 'object', additionalProperties: false })).toBe(
      't(args?: Record<string, never>): Promise<ToolResult>;',
    );
  },
  N29: () => {
    expect(typesOf('N29', field(fragmentOf('N29')))).toContain('x?: unknown[]');
  },
  N32: () => {
    expect(typesOf('N32', field(fragmentOf('N32')))).toContain(
      'x?: { month: string; allocations: Record<string, number> }[]',
    );
  },
  N33: () => {
    const started = performance.now();
    expect(typesOf('N33', fragmentOf('N33'))).toContain(
      '{ gid?: string; /** Other keys: number | string */ [key: string]: number | string | undefined; }',
    );
    expect(performance.now() - started).toBeLessThan(1000);
  },
  N35: () => {
    expect(typesOf('N35', field(fragmentOf('N35')))).toMatch(/x\?: number\[\] \| string;/);
  },
  N36: () => {
    for (const draft of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
    ]) {
      expect(typesOf('N36', { $schema: draft, ...Object(field({ type: 'string' })) })).toContain(
        '{ x?: string }',
      );
    }
  },
  N37: () => {
    const schema = {
      type: 'object',
      properties: { resourceName: { type: 'string' }, namespaces: { type: 'string' } },
      dependentRequired: fragmentOf('N37'),
    };
    expect(typesOf('N37', field(schema))).toContain('/** @requires namespaces beside resourceName */ x?: {');
  },
  N38: () => {
    expect(typesOf('N38', field(fragmentOf('N38')))).toMatch(
      /\/\*\* Deprecated - use 'location' instead\..* @deprecated @example "https:\/\/example.com\/meeting" \*\/ x\?: string;/,
    );
  },
  N40: () => {
    expect(fileOf('N40', field({ type: 'string', description: fragmentOf('N40') }))).toContain(
      "'**\\/*.ext' to match files",
    );
  },
  N41: () => {
    expect(fileOf('N41', field(fragmentOf('N41')))).toContain('() => { /* code *\\/ } or (element)');
  },
  N42: () => {
    expect(fileOf('N42', field(fragmentOf('N42')))).toContain('(e.g. "*\\/5 * * * *")');
  },
  N43: () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the text.
    expect(fileOf('N43', field(fragmentOf('N43')))).toContain('such as ``${org.name}``.');
    expect(fileOf('N43', field({ description: '<b>a & b</b>' }))).toContain('/** <b>a & b</b> */');
  },
  N44: () => {
    expect(fileOf('N44', field(fragmentOf('N44')))).toContain('see the **How to obtain thread_id** section');
    const hidden = field({
      enum: ['a\u200bb', 'c\u202ed'],
      description: 'x\u202ey\u{e0041}\u{e0042}z 👩\u200d🚀',
    });
    expect(fileOf('N44', hidden)).toContain('/** xyz 👩\u200d🚀 */\n    x?: "a\\u200bb" | "c\\u202ed";');
  },
  N45: () => {
    expect(
      typesOf('N45', { type: 'object', description: null, properties: { x: { description: null } } }),
    ).toBe('t(args?: { x?: unknown }): Promise<ToolResult>;');
  },
  N46: () => {
    const [doc = ''] = /\/\*\*(?:(?!\*\/).)*\*\/\n +pipeline:/s.exec(memberOf('N46')) ?? [];
    expect(doc.length).toBeGreaterThan(900);
    expect(doc.length).toBeLessThan(1500);
    expect(doc).toMatch(/… \(\d,\d\d\d characters\)/);
  },
  N47: () => {
    expect(typesOf('N47', fragmentOf('N47'))).toBe(
      't(args: { description?: string; type: string; properties?: Record<string, unknown>; items?: unknown[]; $ref?: string; required?: boolean; }): Promise<ToolResult>;',
    );
    expect(typesOf('N47', field({ type: 'string', description: { not: 'a text' } }))).toContain(
      '{ x?: string }',
    );
  },
  N48: () => {
    expect(typesOf('N48', { properties: { 'pg_partman_bgw.interval': fragmentOf('N48') } })).toContain(
      '"pg_partman_bgw.interval"?: number;',
    );
  },
  N49: () => {
    expect(typesOf('N49', { properties: { function: {}, delete: {}, private: {}, default: {} } })).toContain(
      '{ function?: unknown; delete?: unknown; private?: unknown; default?: unknown }',
    );
  },
  N51: () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"type":"boolean"}}},"constructor":{"type":"string"},"toString":{"type":"string"}},"required":["constructor"]}',
    );
    expect(typesOf('N51', schema)).toContain(
      '{ __proto__?: { polluted?: boolean }; constructor: string; toString?: string | Function }',
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  },
  N52: () => {
    expect(typesOf('N52', fragmentOf('N52'))).toContain('{ "a-b"?: string; "a.b"?: number; a_b?: boolean }');
  },
  N53: () => {
    expect(memberOf('N53')).toContain('  export(args');
  },
  N55: () => {
    expect(memberOf('N55')).toContain('  summarize_detection(args');
  },
  N56: () => {
    expect(memberOf('N56')).toContain(
      '  twilio_messaging_v1_fetch_linkshortening_messaging_service_domain_association(args',
    );
  },
  N57: () => {
    const tools = (entries.find((entry) => entry.id === 'N57') as unknown as { tools: string[] }).tools;
    expect(namesOf(tools)).toEqual([
      '_', // ...
      '_123go',
      'read_only', // READ_ONLY
      'constructor',
      'index',
      'read_only_2', // read-only
      'read_only_3', // read-only, once more
      'read_only_4', // read.only
      'read_only_5', // read_only
      'then_2', // await would call `then`
      '阿里巴巴',
    ]);
    expect(namesOf(tools.toReversed())).toEqual(namesOf(tools));
  },
  N59: () => {
    expect(
      namesOf((entries.find((entry) => entry.id === 'N59') as unknown as { tools: string[] }).tools),
    ).toEqual(['oee_sites_get_site', 'fs_read_file', 'itential_get_workflows']);
  },
  N60: () => {
    const compiled = compileCatalog(catalogOf('ms365.json.gz'));
    const started = performance.now();
    expect(
      filesOf(compiled)
        .map((file) => file.text)
        .join('').length,
    ).toBeGreaterThan(1_000_000);
    expect(performance.now() - started).toBeLessThan(5000);
  },
  N61: () => {
    for (const levels of [50, 500, 5000]) {
      const schema = `${'{"type":"object","properties":{"n":'.repeat(levels)}{"type":"string"}${'}}'.repeat(levels)}`;
      const text = fileOf('N61', JSON.parse(schema));
      expect(text).toContain('n?: unknown /* nested too deep */');
      expect(text.match(/n\?: /g)).toHaveLength(49);
    }
  },
  N62: () => {
    // Whether a tool is served through tasks is for the core; the binding is there and typed.
    expect(memberOf('N62')).toContain('topic: string;');
  },
  N63: () => {
    for (const schema of [
      'null',
      '"text"',
      '[]',
      '7',
      '{"properties":"x"}',
      '{"type":7}',
      'no JSON',
      '{"$ref":7}',
    ]) {
      const catalog = create(CatalogSchema, {
        connections: [
          { id: 'c', name: 'N63', tools: [{ name: 'bad', inputSchemaJson: schema }, { name: 'good' }] },
        ],
      });
      const text = filesOf(compileCatalog(catalog))
        .map((file) => file.text)
        .join('');
      expect(text).toContain('bad(args?: {}): Promise<ToolResult>;');
      expect(text).toContain('good(args?: {}): Promise<ToolResult>;');
    }
  },
  N64: () => {
    expect(memberOf('N64')).toContain('minified?: boolean;');
  },
};

function namesOf(tools: readonly string[]): string[] {
  const catalog = create(CatalogSchema, {
    connections: [{ id: 'c', name: 'x', tools: tools.map((name) => ({ name })) }],
  });
  return compileCatalog(catalog).bindings.map((binding) => binding.capability);
}

describe('nasty schemas', () => {
  it.each(entries.map((entry) => [entry.id, entry.feature]))('%s: %s', (id) => {
    expect(Object.keys(wants)).toContain(id);
    wants[id]?.();
  });

  it('give declarations that are clean under tsc --strict', async () => {
    expect(Object.keys(texts).length).toBeGreaterThan(entries.length / 2);
    // Files of one entry describe the same connection: here each gets a name of its own.
    const named = Object.entries(texts).map(([file, text], index): [string, string] => [
      file,
      text.replace(/interface AppCalls \{[^}]*\}/, '').replaceAll(/\bn(\d+)\b/g, `n$1_${index}`),
    ]);
    expect(await typeErrors({ 'world.d.ts': worldDeclarations, ...Object.fromEntries(named) })).toEqual([]);
  });
});
