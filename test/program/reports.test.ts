/**
 * Failures of other code modes that were reported in public, about programs and their results: the right behaviour
 * here. The ids are those of test/fixtures/bug-reports.json, each of which has a test somewhere.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { finishedText } from '../../services/code-run/agent/run-text.ts';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { ProgramChecker } from '../../services/code-run/program/check.ts';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { limits } from '../../services/shared/limits.ts';
import { utf8Bytes } from '../../services/shared/text.ts';
import { called, done, log, record, settled } from '../agent/records.ts';
import { catalogOf } from '../bindings/catalogs.ts';
import { useRealm } from '../realm/harness/realm.ts';

const { thrown } = useRealm();

describe('a program', () => {
  test('with type annotations runs without them (B15)', () => {
    const code = 'const items: string[] = await load();\nreturn items.map((item: string) => item.length);';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: {
        text: 'const items           = await load();\nreturn items.map((item        ) => item.length);',
      },
    });
  });

  test('that cannot be read is answered with line, cause and hint (B36)', () => {
    const code = 'const x = 1;\nreturn f(x;';
    const result = normalizeProgram(code);
    expect(result).toEqual({
      ok: false,
      error: {
        message: 'Syntax error: unexpected ";". "(" of line 2, column 9 is not closed',
        line: 2,
        column: 11,
      },
    });
    const imported = normalizeProgram('import fs from "fs";');
    expect(imported).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('apps.<connection>') },
    });
    expect(JSON.stringify(imported)).not.toContain('sourceType');
  });

  test('in a fence loses it before anything else is looked at (B39)', () => {
    const code = '```js\nexport default async () => {\n  return await apps.a.b({});\n};\n```';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: { text: '\n               return (async () => {\n  return await apps.a.b({});\n})();\n' },
    });
  });

  test('is answered in one budget for its value, calls and log (B17)', () => {
    const journal = Array.from({ length: 61 }, (_, index) => [
      called(index, `issues.list_${index}`, 3),
      settled(index, { tag: 'Failed', reason: 'Internal', message: 'm'.repeat(2000) }),
    ]).flat();
    const result = { tag: 'Completed', valueJson: '1', logs: log('l'.repeat(100_000)) } as const;
    const text = finishedText(record(result, journal));
    expect(utf8Bytes(text)).toBeLessThanOrEqual(65_536 + limits.agentTextSpareBytes);
  });

  test('that ends with a promise gives what the promise gives (B31)', () => {
    const code = 'async function main() {\n  return 1;\n}\nmain()';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: { text: 'async function main() {\n  return 1;\n}\nreturn main()' },
    });
  });

  test('that failed is told from one that completed by the first word (B40)', () => {
    const result = {
      tag: 'Failed',
      reason: 'Error',
      message: 'Error: x',
      line: 0,
      column: 0,
      logs: [],
    } as const;
    expect(finishedText(record(result))).toMatch(/^Failed \(Error\)/);
    expect(
      finishedText(
        record({ tag: 'Completed', valueJson: '1', logs: [] }, [called(0, 'a.b'), settled(0, done)]),
      ),
    ).toMatch(/^Completed/);
  });

  test('that nothing can settle ends, and says so (B31)', async () => {
    expect((await thrown('await new Promise(() => {});')).message).toContain(
      'a promise that nothing can settle',
    );
  });

  test('reads no file of the host, by whatever scheme (B37)', async () => {
    const schemes = ['file:///etc/hosts', 'data:,x', 'http://127.0.0.1/', 'node:fs'];
    for (const scheme of schemes) {
      expect((await thrown(`return await (await fetch("${scheme}")).text();`)).message).toContain(
        'no network',
      );
      expect((await thrown(`return await import("${scheme}");`)).message).toContain('cannot load modules');
    }
  });

  test('that sleeps reads that there are no timers, and what to do instead (B38)', async () => {
    const { message } = await thrown('await new Promise((done) => setTimeout(done, 1000));');
    expect(message).toBe(
      'setTimeout is not defined. Programs have no timers, and time stands still: await the call itself; to retry, call again.',
    );
  });

  test('with arguments that do not fit is answered with the shape that is expected (B34, B35)', async () => {
    const apps = compileCatalog(catalogOf('everything.json.gz'));
    const [finding] = await new ProgramChecker().check(
      'return await apps.everything.get_sum({ a: 1 });',
      apps,
    );
    expect(finding?.message).toBe(
      "Property 'b' is missing in type '{ a: number; }' but required in type '{ a: number; b: number; }'.",
    );
    const refused = { tag: 'Failed', reason: 'InvalidArguments', message: 'b: expected number' } as const;
    const result = {
      tag: 'Failed',
      reason: 'Error',
      message: 'AppCallFailed: b: expected number',
      line: 1,
      column: 1,
      logs: [],
    } as const;
    expect(finishedText(record(result, [called(0, 'everything.get_sum'), settled(0, refused)]))).toContain(
      'Compare the arguments with the declaration: openbot_code_api {"binding": "everything.get_sum"}.',
    );
  });
});

describe('the reports', () => {
  test('have a test each', () => {
    const folder = path.join(import.meta.dirname, '..');
    const { entries } = JSON.parse(readFileSync(path.join(folder, 'fixtures/bug-reports.json'), 'utf8')) as {
      entries: { id: string }[];
    };
    const titles = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .flatMap(
        (file) =>
          readFileSync(path.join(folder, file), 'utf8').match(/^ *(?:test|it)\('.*\((?:B\d+(?:, )?)+\)'/gm) ??
          [],
      );
    const shown = new Set(titles.flatMap((title) => title.match(/\bB\d+\b/g) ?? []));
    expect(entries.length).toBe(32);
    expect(entries.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });
});
