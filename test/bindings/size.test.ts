/**
 * 5,000 tools: what it costs to have them. Processor time is compared, with room for a slow and shared machine; the
 * numbers of a quiet one are in docs/bindings.md. BINDINGS_MEASURE=1 prints what was measured.
 */
import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { type CompiledCatalog, compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { describeBindings } from '../../services/code-run/bindings/describe.ts';
import { limits } from '../../services/shared/limits.ts';
import { catalogOf, filesOf, toolsOf, wholeCatalog } from './catalogs.ts';
import { questions } from './questions.ts';

/** Every catalog, and some once more under another id. */
function largeCatalog() {
  const again = ['azure.json.gz', 'postman.json.gz', 'twilio.json.gz'].flatMap(
    (file) => catalogOf(file).connections,
  );
  const renamed = again.map((connection) => ({ ...connection, id: `${connection.id}-again` }));
  return create(CatalogSchema, { connections: [...wholeCatalog().connections, ...renamed] });
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000;
}

function report(what: string, ms: number): number {
  if (process.env['BINDINGS_MEASURE'] !== undefined) process.stdout.write(`${what}: ${ms.toFixed(2)} ms\n`);
  return ms;
}

describe('5,000 tools', () => {
  const catalog = largeCatalog();
  let compiled: CompiledCatalog | undefined;

  function ready(): CompiledCatalog {
    compiled ??= compileCatalog(catalog);
    return compiled;
  }

  it('are bound and indexed in seconds, once', () => {
    expect(toolsOf(catalog).length).toBeGreaterThanOrEqual(5000);
    expect(
      report(
        'table',
        cpuMs(() => ready()),
      ),
    ).toBeLessThan(2000);
    expect(
      report(
        'index',
        cpuMs(() => ready().index),
      ),
    ).toBeLessThan(2000);
    expect(
      report(
        'index again',
        cpuMs(() => ready().index),
      ),
    ).toBeLessThan(100);
  });

  it('are declared for a program in milliseconds, where it names a few', () => {
    const code = 'const r = await apps.ms365.send_mail({});\nreturn await apps.git_hub.create_issue({});';
    let text = '';
    const ms = cpuMs(() => {
      text = ready().declarationsFor(code);
    });
    expect(text).toContain('  send_mail(args: {');
    expect(report('declarations for a program', ms)).toBeLessThan(500);
  });

  it('are declared all together in seconds', () => {
    expect(
      report(
        'all declarations',
        cpuMs(() => filesOf(ready())),
      ),
    ).toBeLessThan(10_000);
  });

  it('are searched in milliseconds', () => {
    for (const [question] of questions) ready().index.search(question);
    const each = cpuMs(() => {
      for (let round = 0; round < 3; round += 1)
        for (const [question] of questions) ready().index.search(question);
    });
    expect(report('search', each / (3 * questions.length))).toBeLessThan(10);
  });

  it('are described within the budget', () => {
    const request = { query: '', connection: '', binding: '', textBytesMax: limits.describeBytesDefault };
    const texts: string[] = [];
    report(
      'overview',
      cpuMs(() => texts.push(describeBindings(ready(), request).text)),
    );
    report(
      'answer',
      cpuMs(() => texts.push(describeBindings(ready(), { ...request, query: 'create an issue' }).text)),
    );
    for (const text of texts)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.describeBytesDefault);
  });
});

describe('a connection whose schemas are made to explode', () => {
  /** Each level offers 36 combinations, and holds the level before it. */
  function explosive(levels: number): string {
    const $defs: Record<string, unknown> = {
      d0: { type: 'object', properties: { leaf: { type: 'string' } } },
    };
    const kinds = (name: string) =>
      [1, 2, 3, 4, 5, 6].map((kind) => ({ properties: { [name]: { const: kind } } }));
    for (let level = 1; level <= levels; level += 1) {
      const $ref = `#/$defs/d${level - 1}`;
      $defs[`d${level}`] = {
        properties: { next: { $ref } },
        anyOf: kinds('k'),
        oneOf: kinds('l'),
        allOf: [{ $ref }],
      };
    }
    return JSON.stringify({ type: 'object', properties: { x: { $ref: `#/$defs/d${levels}` } }, $defs });
  }

  const inputSchemaJson = explosive(3);
  const hostile = Array.from({ length: 2000 }, (_, index) => ({ name: `t${index}`, inputSchemaJson }));
  const good = { name: 't', inputSchemaJson: '{"properties":{"x":{"type":"string"}}}' };
  const compiled = compileCatalog(
    create(CatalogSchema, {
      connections: [
        { id: '1', name: 'Hostile', tools: hostile },
        { id: '2', name: 'Good', tools: [good] },
      ],
    }),
  );

  it('is declared in bounds, every name included, and costs its neighbours nothing', () => {
    report(
      'hostile declarations',
      cpuMs(() => filesOf(compiled)),
    );
    const [first, second] = filesOf(compiled);
    expect(first?.text.length).toBeLessThan(2 * limits.connectionCharsMax);
    expect(first?.text.match(/^ {2}t\d+\(/gm)).toHaveLength(2000);
    expect(first?.text).toContain(
      't999(args?: Record<string, unknown /* too large */>): Promise<ToolResult>;',
    );
    expect(second?.text).toContain('t(args?: { x?: string }): Promise<ToolResult>;');
  });

  it('is described in bounds', () => {
    const request = { query: '', connection: 'hostile', binding: '', textBytesMax: limits.describeBytesMax };
    let text = '';
    const ms = cpuMs(() => {
      text = describeBindings(compiled, request).text;
    });
    expect(report('hostile description', ms)).toBeLessThan(20_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.describeBytesMax);
  });
});
