/** Public reports about names, types and search of code modes and generators: each entry names its report. */
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

describe('reports about types', () => {
  it('B13 cloudflare/agents#960: each schema is printed validly, and only the inexpressible part is unknown', async () => {
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

  it('B14 cloudflare/agents#1203: the wrapper is in the declaration, so that taking it for the value is an error', async () => {
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

  it('B20 bug-ops/mcp-execution#139, B19 #87: no text ends a comment', async () => {
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

  it('B22 bug-ops/mcp-execution#176: declarations pass --strict, and a typed value may be given as arguments', async () => {
    const schema = {
      type: 'object',
      properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } },
    };
    const program =
      'interface Labels { labels: Record<string, string> }\nconst args: Labels = { labels: { a: "b" } };\nawait apps.app.t(args);\nawait apps.call("app.t", args);\nawait apps.call("App/t", args);';
    expect(await check(program, schemaTool(schema))).toEqual([]);
  });

  it('B24 bug-ops/mcp-execution#303: thousands of levels end in unknown', () => {
    const deep = `${'{"anyOf":['.repeat(100_000)}{}${']}'.repeat(100_000)}`;
    const text =
      filesOf(compiledOf({ id: '1', name: 'App', tools: [{ name: 't', inputSchemaJson: deep }] }))[0]?.text ??
      '';
    expect(text).toContain('t(args?: {}): Promise<ToolResult>;');
  });

  it('B26 docker/docker-agent#468: the output schema types the result', async () => {
    const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const errors = await check(
      'const { n } = (await apps.app.t()).structuredContent;\nn.toFixed();\nn.trim();',
      schemaTool({ type: 'object' }, output),
    );
    expect(errors.map((error) => error.slice(0, 18))).toEqual(['program.ts(3,3): e']);
  });

  it('B33 TanStack/ai#700: names, URIs and prompt names between quotes are escaped', async () => {
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

  it('B42 mastra-ai/mastra#15341: a recursive schema stays a reference', () => {
    const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(filesOf(compiledOf(schemaTool(node)))[0]?.text).toContain(
      'type app$t$Arguments = { children?: app$t$Arguments[] };',
    );
  });

  it('B43 mastra-ai/mastra#3826: a property without type is unknown', () => {
    expect(
      filesOf(compiledOf(schemaTool({ properties: { x: { title: 'X' }, y: null, z: 'string' } })))[0]?.text,
    ).toContain(
      '/** X */\n    x?: unknown;\n    y?: unknown /* malformed */;\n    z?: unknown /* malformed */;',
    );
  });

  it('B44 PrefectHQ/fastmcp#3502: nothing is fetched', () => {
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

describe('reports about names', () => {
  it('B16 cloudflare/agents#1117, B25 docker/docker-agent#3956, B30 maximhq/bifrost#941: one name, the same everywhere', () => {
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

  it('B18 openclaw/mcporter#30, B21 bug-ops/mcp-execution#133: hyphens and reserved words make valid members', async () => {
    const program = 'await apps.app.api_post_page();\nawait apps.app.delete();\nawait apps.app.typeof();';
    expect(await check(program, tools('API-post-page', 'delete', 'typeof'))).toEqual([]);
  });

  it('B23 bug-ops/mcp-execution#312, B28 dyad#3459, B29 fragno#349: nothing is overwritten or left out', () => {
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

describe('reports about catalogs and search', () => {
  it('B27 docker/docker-agent#4008: a broken connection costs nobody else anything', () => {
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

  it('B32 universal-tool-calling-protocol/code-mode#15: search answers with the name to be written', () => {
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
