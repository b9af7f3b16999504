/**
 * The layout is the architecture: which part may import which. A new edge between parts is a decision, made
 * here and in ARCHITECTURE.md, never by accident.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** What each part may import, besides itself, packages and Node.js. The longest matching part counts. */
const allowed: Record<string, readonly string[]> = {
  'services/shared': ['gen'],
  'services/code-run/core': [
    'services/shared/limits.ts',
    'services/shared/errors.ts',
    'services/shared/text.ts',
    'services/shared/unreachable.ts',
  ],
  'services/code-run/crypto': ['services/shared', 'services/code-run/core'],
  'services/code-run/store': ['services/shared', 'services/code-run/core', 'services/code-run/crypto'],
  'services/code-run/bindings': ['gen', 'services/shared', 'services/code-run/core'],
  'services/code-run/program': ['services/shared', 'services/code-run/core'],
  'services/code-run/agent': [
    'services/shared',
    'services/code-run/core',
    'services/code-run/bindings',
    'services/code-run/runner/contract.ts',
  ],
  'services/code-run/runner': [
    'gen',
    'services/shared',
    'services/code-run/core',
    'services/code-run/store/contract.ts',
  ],
  'services/code-run/api': ['gen', 'services/shared', 'services/code-run'],
  'services/code-run': ['gen', 'services/shared'],
  'services/sandbox/realm': [],
  'services/sandbox': ['gen', 'services/shared'],
  'services/embedded': ['services/shared', 'services/code-run', 'services/sandbox'],
  'services/reference-core': ['gen', 'services/shared'],
  // Without a service elsewhere, a command starts both by itself.
  'services/reference-core/cli': [
    'gen',
    'services/shared',
    'services/reference-core',
    'services/embedded/private.ts',
  ],
};

/** Imports that name no file of the project. */
const outside = (specifier: string) => !specifier.startsWith('.');

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...specifiers].map((match) => match[1] ?? '');
}

const within = (file: string, part: string) => file === part || file.startsWith(`${part}/`);

function partOf(file: string): string {
  const parts = Object.keys(allowed).filter((part) => within(file, part));
  const longest = parts.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) throw new Error(`${file} lies in no part: add the part to this test`);
  return longest;
}

/** What of `specifiers` the part of `file` may not import. */
function violations(file: string, specifiers: readonly string[]): string[] {
  const part = partOf(file);
  return specifiers
    .filter((specifier) => !outside(specifier))
    .map((specifier) => path.relative(root, path.resolve(root, path.dirname(file), specifier)))
    .filter((target) => !within(target, part) && !allowed[part]?.some((other) => within(target, other)))
    .map((target) => `${file} imports ${target}`);
}

describe('layout', () => {
  test('every import stays within what its part may use', () => {
    const files = sources(path.join(root, 'services'));
    expect(files.length).toBeGreaterThan(5);
    expect(files.flatMap((file) => violations(file, importsOf(file)))).toEqual([]);
  });

  test('a forbidden import is found', () => {
    expect(violations('services/code-run/core/machine.ts', ['../runner/runner.ts', './model.ts'])).toEqual([
      'services/code-run/core/machine.ts imports services/code-run/runner/runner.ts',
    ]);
    expect(violations('services/sandbox/pool/pool.ts', ['../../code-run/core/model.ts'])).toHaveLength(1);
  });

  test('the pure core uses no package and no Node.js module', () => {
    const files = sources(path.join(root, 'services/code-run/core'));
    const used = files.flatMap((file) => importsOf(file).filter(outside));
    expect(used.filter((specifier) => specifier !== 'node:assert/strict')).toEqual([]);
  });
});
