/**
 * Failures of other code modes that were reported in public, each with the right behaviour here. The titles name
 * the reports.
 */
import { describe, expect, test } from 'vitest';
import { finishedText } from '../../services/code-run/agent/run-text.ts';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { limits } from '../../services/shared/limits.ts';
import { utf8Bytes } from '../../services/shared/text.ts';
import { called, done, log, record, settled } from '../agent/records.ts';

describe('a reported failure', () => {
  test('of type annotations does not happen: they are erased (cloudflare/agents#959)', () => {
    const code = 'const items: string[] = await load();\nreturn items.map((item: string) => item.length);';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: {
        text: 'const items           = await load();\nreturn items.map((item        ) => item.length);',
      },
    });
  });

  test('of bare parser text does not happen: line, cause and hint are named (anomalyco/opencode#50577)', () => {
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

  test('of fences that stay in a module does not happen (kentcdodds/kody#250)', () => {
    const code = '```js\nexport default async () => {\n  return await apps.a.b({});\n};\n```';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: { text: '\n               return (async () => {\n  return await apps.a.b({});\n})();\n' },
    });
  });

  test('of a list of calls beside a capped result does not happen (cloudflare/agents#2143)', () => {
    const journal = Array.from({ length: 61 }, (_, index) => [
      called(index, `issues.list_${index}`, 3),
      settled(index, { tag: 'Failed', reason: 'Internal', message: 'm'.repeat(2000) }),
    ]).flat();
    const result = { tag: 'Completed', valueJson: '1', logs: log('l'.repeat(100_000)) } as const;
    const text = finishedText(record(result, journal));
    expect(utf8Bytes(text)).toBeLessThanOrEqual(65_536 + limits.agentTextSpareBytes);
  });

  test('of a program that gives {} for a promise does not happen: it is awaited (universal-tool-calling-protocol/code-mode#33)', () => {
    const code = 'async function main() {\n  return 1;\n}\nmain()';
    expect(normalizeProgram(code)).toMatchObject({
      ok: true,
      program: { text: 'async function main() {\n  return 1;\n}\nreturn main()' },
    });
  });

  test('of an error that looks like success does not happen: the first word says it (nowireless4u/hpe-networking-mcp#265)', () => {
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
});
