/**
 * Failures of other code modes that were reported in public, about names, types and search: the right behaviour here.
 * The ids are those of test/fixtures/bug-reports.json.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema, type ConnectionSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { describeBindings } from '../../services/code-run/bindings/describe.ts';
import { limits } from '../../services/shared/limits.ts';
import { declarationsOf, filesOf } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

type Connection = MessageInitShape<typeof ConnectionSchema>;

function compiledOf(...connections: Connection[]) {
  return compileCatalog(create(CatalogSchema, { connections }));
}

function tools(...names: string[]): Connection {
  return { id: '1', name: 'App', tools: names.map((name) => ({ name })) };
}

function schemaTool(schema: unknown, output?: unknown): Connection {
  const outputSchemaJson = output === undefined ? '' : JSON.stringify(output);
  return {
    id: '1',
    name: 'App',
    tools: [{ name: 't', inputSchemaJson: JSON.stringify(schema), outputSchemaJson }],
  };
}

/** Errors of a program written against the declarations. */
function check(program: string, ...connections: Connection[]): Promise<string[]> {
  const text = declarationsOf(compiledOf(...connections));
  return typeErrors({ 'world.d.ts': text, 'program.ts': `${program}\nexport {};\n` });
}

describe('declarations', () => {
  it('say unknown for the part of a schema that no type can say, and print the rest (B13)', async () => {
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/S', nullable: true },
        b: { enum: [] },
        'line\u2028sep\u0000': { type: 'string', format: 'date-time', description: '*/ evil /*' },
        c: { $ref: 'https://example.com/s.json' },
        d: { not: { type: 'string' } },
        e: JSON.parse('{"if":{"type":"string"},"then":{"minLength":1}}'),
      },
      $defs: { S: { type: 'string' } },
    };
    const text = filesOf(compiledOf(schemaTool(schema)))[0]?.text ?? '';
    expect(text.replace(/\s+/g, ' ')).toContain(
      'a?: string | null; b?: never; /** *\\/ evil /* @format date-time */ "line\\u2028sep\\u0000"?: string; ' +
        'c?: unknown /* external reference */; d?: unknown /* not */; e?: unknown /* condition */;',
    );
    expect(await check('', schemaTool(schema))).toEqual([]);
  });

  it('show the wrapper of a result, so that taking it for the value is an error (B14)', async () => {
    const output = {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'number' } } },
      required: ['items'],
    };
    const errors = await check(
      'const r = await apps.app.t();\nr.structuredContent.items.filter((n) => n > 1);\nr.filter(Boolean);',
      schemaTool({ type: 'object' }, output),
    );
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(
      /^program\.ts\(3,3\): error TS2339: Property 'filter' does not exist on type 'ToolResult<.*>'/,
    );
  });

  it('let no text of an app end a comment (B19, B20)', async () => {
    const hostile = '*/ } declare const injected: string; /* params */\n*/ export const x = 1; //';
    const connection: Connection = {
      id: hostile,
      name: hostile,
      description: hostile,
      tools: [
        {
          name: hostile,
          title: hostile,
          description: hostile,
          inputSchemaJson: JSON.stringify({
            description: hostile,
            type: 'object',
            properties: {
              [hostile]: { description: hostile, default: hostile, pattern: hostile, enum: [hostile] },
            },
            $defs: {
              [hostile]: {
                type: 'object',
                properties: {
                  n: {
                    $ref: `#/$defs/${encodeURIComponent(hostile).replaceAll('~', '~0').replaceAll('%2F', '~1')}`,
                  },
                },
              },
            },
          }),
        },
      ],
      prompts: [{ name: hostile, arguments: [{ name: hostile, description: hostile }] }],
      resources: [{ name: hostile, uri: hostile, mimeType: hostile, description: hostile }],
      resourceTemplates: [
        { name: hostile, uriTemplate: `{${hostile.replace(/[{}]/g, '')}}`, description: hostile },
      ],
    };
    expect(await check('// @ts-expect-error\ninjected;', connection)).toEqual([]);
    const compiled = compiledOf(connection);
    for (const request of [{ query: 'params' }, { connection: hostile }, {}]) {
      const { text } = describeBindings(compiled, {
        query: '',
        connection: '',
        binding: '',
        textBytesMax: 100_000,
        ...request,
      });
      const code = text
        .split('\n')
        .filter((line) => /^ *(export|declare) /.test(line) && !line.startsWith('declare const apps'));
      expect(code).toEqual([]);
    }
  });

  it('pass --strict, and take a typed value as arguments (B22)', async () => {
    const schema = {
      type: 'object',
      properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } },
    };
    const program =
      'interface Labels { labels: Record<string, string> }\nconst args: Labels = { labels: { a: "b" } };\nawait apps.app.t(args);\nawait apps.call("app.t", args);\nawait apps.call("App/t", args);';
    expect(await check(program, schemaTool(schema))).toEqual([]);
  });

  it('end in unknown after thousands of levels (B24)', () => {
    const deep = `${'{"anyOf":['.repeat(100_000)}{}${']}'.repeat(100_000)}`;
    const text =
      filesOf(compiledOf({ id: '1', name: 'App', tools: [{ name: 't', inputSchemaJson: deep }] }))[0]?.text ??
      '';
    expect(text).toContain('t(args?: {}): Promise<ToolResult>;');
  });

  it('type the result by the output schema (B26)', async () => {
    const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const errors = await check(
      'const { n } = (await apps.app.t()).structuredContent;\nn.toFixed();\nn.trim();',
      schemaTool({ type: 'object' }, output),
    );
    expect(errors.map((error) => error.slice(0, 18))).toEqual(['program.ts(3,3): e']);
  });

  it('escape names and URIs between quotes (B33)', async () => {
    const odd = `a"b\\c\n\`$\{d}'\u2028`;
    const connection: Connection = {
      id: '1',
      name: odd,
      tools: [{ name: odd }],
      prompts: [{ name: odd }],
      resources: [{ name: odd, uri: odd }],
    };
    // Three share the raw name, so none of them is called by it.
    expect(
      await check('await apps.a_b_c_d.a_b_c_d();\nawait apps.call("a_b_c_d.a_b_c_d_3");', connection),
    ).toEqual([]);
    const alone: Connection = { id: '1', name: odd, tools: [{ name: odd }] };
    expect(await check(`await apps.call(${JSON.stringify(`${odd}/${odd}`)});`, alone)).toEqual([]);
  });

  it('keep a recursive schema a reference (B42)', () => {
    const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(filesOf(compiledOf(schemaTool(node)))[0]?.text).toContain(
      'type app$t$Arguments = { children?: app$t$Arguments[] };',
    );
  });

  it('say unknown for a property without type (B43)', () => {
    expect(
      filesOf(compiledOf(schemaTool({ properties: { x: { title: 'X' }, y: null, z: 'string' } })))[0]?.text,
    ).toContain(
      '/** X */\n    x?: unknown;\n    y?: unknown /* malformed */;\n    z?: unknown /* malformed */;',
    );
  });

  it('follow no reference out of the document (B44)', () => {
    const outside = [
      'http://169.254.169.254/latest',
      'file:///etc/passwd',
      '//host/x',
      'other.json#/x',
      'urn:x:y',
    ];
    const schema = {
      type: 'object',
      properties: Object.fromEntries(outside.map(($ref, index) => [`p${index}`, { $ref }])),
    };
    const text = filesOf(compiledOf(schemaTool(schema)))[0]?.text ?? '';
    expect(text.match(/unknown \/\* external reference \*\//g)).toHaveLength(outside.length);
  });
});

describe('names', () => {
  it('are made once, of letters a program can write, and are the same everywhere (B16, B25, B30)', () => {
    const compiled = compiledOf(tools('github.list-issues', 'search-items'));
    expect(compiled.bindings.map((binding) => binding.capability)).toEqual([
      'github_list_issues',
      'search_items',
    ]);
    for (const { connection, capability } of compiled.bindings) {
      expect(capability).toMatch(/^[a-z_0-9]+$/);
      expect(filesOf(compiled)[0]?.text).toContain(`  ${capability}(args?: {}): Promise<ToolResult>;`);
      expect(filesOf(compiled)[0]?.text).toContain(
        `  "${connection}.${capability}": Apps["${connection}"]["${capability}"];`,
      );
    }
  });

  it('are valid members for hyphens and reserved words (B18, B21)', async () => {
    const program = 'await apps.app.api_post_page();\nawait apps.app.delete();\nawait apps.app.typeof();';
    expect(await check(program, tools('API-post-page', 'delete', 'typeof'))).toEqual([]);
  });

  it('are numbered where they clash, so that nothing is overwritten or left out (B23, B28, B29)', () => {
    const compiled = compiledOf(tools('index', 'Index', 'INDEX', 'index.ts', 'a b', 'a_b', 'A-B'), {
      id: '2',
      name: 'app',
      tools: [{ name: 'index' }],
    });
    expect(compiled.bindings).toHaveLength(8);
    expect(
      new Set(compiled.bindings.map(({ connection, capability }) => `${connection}.${capability}`)).size,
    ).toBe(8);
    expect(filesOf(compiled).map((file) => file.connection)).toEqual(['app', 'app_2']);
  });
});

describe('a catalog', () => {
  it('keeps its other connections when one is broken (B27)', () => {
    const compiled = compiledOf(
      { id: '1', name: 'Broken', tools: [{ name: 't', inputSchemaJson: '{{{' }] },
      { id: '2', name: 'Empty' },
      {
        id: '3',
        name: 'Good',
        tools: [{ name: 't', inputSchemaJson: '{"properties":{"x":{"type":"string"}}}' }],
      },
    );
    expect(filesOf(compiled).map((file) => file.connection)).toEqual(['broken', 'good']);
    expect(filesOf(compiled)[1]?.text).toContain('t(args?: { x?: string }): Promise<ToolResult>;');
  });

  it('is searched for the names that a program writes (B32)', () => {
    const description = describeBindings(compiledOf(tools('Send-The.Mail')), {
      query: 'mail',
      connection: '',
      binding: '',
      textBytesMax: limits.describeBytesDefault,
    });
    expect(description.text).toContain('// Best first: app.send_the_mail\n');
    expect(description.text).not.toContain('Send-The.Mail');
  });
});
