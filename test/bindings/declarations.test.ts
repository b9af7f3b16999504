import { beforeAll, describe, expect, it, vi } from 'vitest';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { convertSchema } from '../../services/code-run/bindings/schema/convert.ts';
import { worldDeclarations } from '../../services/code-run/bindings/world.ts';
import { filesOf, toolsOf, wholeCatalog } from './catalogs.ts';
import { accepts, brokenSamples, sampleOf, validatorOf } from './samples.ts';
import { typeErrors } from './tsc.ts';

// Thousands of schemas and programs: seconds of work, more where the machine is shared.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const catalog = wholeCatalog();
const compiled = compileCatalog(catalog);
const files = filesOf(compiled);

function pathOf(bound: { binding: { connection: string; capability: string } }): string {
  return `apps[${JSON.stringify(bound.binding.connection)}][${JSON.stringify(bound.binding.capability)}]`;
}

/** Programs by file, all checked at once against the declarations of every catalog. */
const programs = { bindings: [] as string[], samples: [] as string[] };
const refused: string[] = [];
let errors: readonly string[] = [];

beforeAll(async () => {
  for (const bound of compiled.table.all) {
    programs.bindings.push(
      `${pathOf(bound)} satisfies Function; ${JSON.stringify(bound.name)} satisfies keyof AppCalls;`,
    );
    if (bound.capability.kind !== 'tool') continue;
    const { inputSchemaJson, outputSchemaJson } = bound.capability.tool;
    const path = pathOf(bound);
    judge(inputSchemaJson, `${bound.name} arguments`, (sample) => `void ${path}(${sample});`);
    const result = `Awaited<ReturnType<typeof ${path}>>["structuredContent"]`;
    judge(outputSchemaJson, `${bound.name} result`, (sample) => `(${sample}) satisfies ${result};`);
  }
  errors = await typeErrors({
    'world.d.ts': worldDeclarations,
    ...Object.fromEntries(files.map((file, index) => [`${index}.d.ts`, file.text])),
    'bindings.ts': [...programs.bindings, 'export {};'].join('\n'),
    'samples.ts': [...programs.samples, 'export {};'].join('\n'),
  });
});

/** Samples that the schema accepts are to type-check; those that it refuses for a reason types know are not. */
function judge(schemaJson: string, name: string, use: (sampleJson: string) => string): void {
  if (schemaJson === '') return;
  const validate = validatorOf(schemaJson);
  for (const fullness of ['least', 'full'] as const) {
    const sample = sampleOf(schemaJson, fullness);
    if (!accepts(validate, sample)) refused.push(`${name} ${fullness}`);
    programs.samples.push(use(JSON.stringify(sample)));
  }
  for (const one of brokenSamples(schemaJson, validate)) {
    programs.samples.push('// @ts-expect-error', use(JSON.stringify(one)));
  }
}

describe('declarations of real catalogs', () => {
  it('have every binding, each under a name of its own', () => {
    const all = compiled.table.all;
    expect(all.length).toBe(4403);
    expect(new Set(all.map((bound) => bound.name)).size).toBe(all.length);
    expect(errors.filter((error) => error.startsWith('bindings.ts'))).toEqual([]);
  });

  it('are clean under tsc --strict', () => {
    expect(errors.filter((error) => !/^(bindings|samples)\.ts/.test(error))).toEqual([]);
  });
});

describe('samples of real schemas', () => {
  it('are accepted by their schemas', () => {
    expect(refused).toEqual([]);
  });

  it('type-check, and do not when one thing in them is wrong', () => {
    const broken = programs.samples.filter((line) => line === '// @ts-expect-error').length;
    expect(programs.samples.length - 2 * broken).toBeGreaterThan(8000);
    expect(broken).toBeGreaterThan(6000);
    const wrong = errors.filter((error) => error.startsWith('samples.ts'));
    expect(wrong.map((error) => explain(error, programs.samples))).toEqual([]);
  });
});

/** An error beside the line it is about. */
function explain(error: string, lines: readonly string[]): string {
  const line = Number(/^samples\.ts\((\d+),/.exec(error)?.[1] ?? 0);
  return [error, lines[line - 1], lines[line]].map((text) => (text ?? '').slice(0, 300)).join('\n');
}

/** Where a schema holds schemas. */
function partsOf(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
  const said: Record<string, unknown> & { items?: unknown; additionalProperties?: unknown } = { ...schema };
  const maps = ['properties', 'patternProperties', '$defs', 'definitions'].flatMap((key) =>
    Object.values(said[key] ?? {}),
  );
  const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'].flatMap((key) => {
    const list = said[key];
    return Array.isArray(list) ? list : [];
  });
  const parts = [...maps, ...lists, said.items, said.additionalProperties];
  return parts.filter((part) => typeof part === 'object' && part !== null && !Array.isArray(part));
}

describe('unknown', () => {
  it('stands in no declaration of a real catalog for a loss', () => {
    const losses = files.flatMap((file) => file.text.match(/unknown \/\*.*?\*\//g) ?? []);
    expect(losses).toEqual([]);
  });

  it('stands only for parts of real schemas that say nothing of their value', () => {
    const saying = [
      'type',
      'enum',
      'const',
      'anyOf',
      'oneOf',
      'allOf',
      'properties',
      'items',
      'pattern',
      'minimum',
    ];
    let parts = 0;
    const silent = new Map<string, number>();
    const lost: string[] = [];
    for (const tool of toolsOf(catalog)) {
      for (const json of [tool.inputSchemaJson, tool.outputSchemaJson]) {
        const open = json === '' ? [] : [JSON.parse(json)];
        for (let part = open.pop(); part !== undefined; part = open.pop()) {
          open.push(...partsOf(part));
          if ('$ref' in part) continue;
          parts += 1;
          const { type } = convertSchema(withoutReferences(part), 'argument');
          if (type.kind !== 'unknown') continue;
          const keywords = Object.keys(part).sort().join();
          silent.set(keywords, (silent.get(keywords) ?? 0) + 1);
          if (saying.some((keyword) => keyword in part)) lost.push(JSON.stringify(part).slice(0, 200));
        }
      }
    }
    expect(lost).toEqual([]);
    expect(parts).toBeGreaterThan(40_000);
    expect(Object.fromEntries(silent)).toEqual({
      '': 189,
      description: 12,
      'default,description': 4,
      'default,title': 1,
    });
  });
});

/** References lead out of a part that stands alone; what they lead to says something. */
function withoutReferences(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part), (_key, value) =>
    typeof value?.$ref === 'string' ? { type: 'string' } : value,
  );
}
