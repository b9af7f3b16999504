/** Every grpcurl and curl line of the documentation is run, and its output compared with what is printed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeRunTable } from '../../services/code-run/config.ts';
import { sandboxTable } from '../../services/sandbox/config.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from '../e2e/embedded.ts';
import { blocksOf, type Example, examplesOf, outputPattern } from './docs.ts';
import { grpcurlAvailable, run } from './grpcurl.ts';

const root = join(import.meta.dirname, '../..');

/** The same commands for services that listen elsewhere. */
function moved(text: string, embedded: EmbeddedProcess): string {
  return text
    .replaceAll('127.0.0.1:7410', embedded.grpcAddress)
    .replaceAll('127.0.0.1:7411', new URL(embedded.httpUrl).host)
    .replaceAll('/tmp/code-mode-XXXXXX/sandbox.sock', embedded.sandboxSocket);
}

/** Runs all examples in one shell, so that later ones see the variables of earlier ones. */
async function runAll(
  examples: readonly Example[],
  embedded: EmbeddedProcess,
): Promise<{ output: string; code: number }[]> {
  const mark = '@@@ end of example';
  const script = examples
    .map(({ commands }) => `{ ${moved(commands, embedded)}\n}\necho; echo "${mark} $?"`)
    .join('\n');
  const path = `${join(root, 'node_modules/.bin')}:${join(root, '.tools/bin')}:${process.env['PATH']}`;
  const env = [
    'env',
    `PATH=${path}`,
    `CODE_RUN_STORE=sqlite:${embedded.folder.path}/runs.db`,
    `CODE_RUN_KEYS_FILE=${embedded.folder.path}/keys`,
  ];
  const { stdout, stderr } = await run('/usr/bin/env', [
    ...env.slice(1),
    'bash',
    '-c',
    `cd ${root}\n${script}`,
  ]);
  expect(stderr).toBe('');
  const pieces = stdout.split(new RegExp(`\\n${mark} (\\d+)\\n`));
  return examples.map((_, index) => ({
    output: pieces[index * 2] ?? '',
    code: Number(pieces[index * 2 + 1]),
  }));
}

async function proveExamples(file: string, environment: Record<string, string>, id: string | undefined) {
  const examples = examplesOf(file).filter((example) => example.id === id);
  expect(examples.length).toBeGreaterThan(0);
  const embedded = await startEmbeddedProcess(environment);
  try {
    const results = await runAll(examples, embedded);
    for (const [index, { line, output }] of examples.entries()) {
      const result = results[index];
      const where = `${file}:${line}`;
      if (output === undefined) expect([where, result?.code]).toEqual([where, 0]);
      else expect(result?.output, where).toMatch(outputPattern(moved(output, embedded)));
    }
  } finally {
    await embedded.stop();
  }
}

describe.runIf(grpcurlAvailable('the commands of the documentation'))('the commands of', () => {
  test.each(['README.md', 'docs/protocol.md', 'docs/operating.md', 'docs/security.md'])(
    '%s do what they say',
    async (file) => {
      await proveExamples(file, {}, undefined);
    },
  );

  test('docs/identity.md do what they say', async () => {
    await proveExamples(
      'docs/identity.md',
      {
        CODE_RUN_JWT_SECRET: 'a secret of at least 32 bytes, please',
        CODE_RUN_JWT_ISSUER: 'docs',
        CODE_RUN_JWT_AUDIENCE: 'code-mode',
      },
      'tokens',
    );
  });
});

/** Lines that start a command of bin/; those of docs/command-line.md are read by a test of that guide. */
const lines = ['README.md', 'docs/operating.md'].flatMap((file) =>
  blocksOf(file).flatMap(({ text }) => text.match(/^bin\/.+$/gm) ?? []),
);

test.each([...new Set(lines)])('the documentation shows a command that there is: %s', async (line) => {
  const [name = '', ...words] = line.split(' ');
  const end = words.findIndex((word) => !/^[a-z]+$/.test(word));
  const command = end < 0 ? words : words.slice(0, end);
  const { code, stdout } = await run(join(root, name), [...command, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(`Usage: ${[name.slice('bin/'.length), ...command].join(' ')} `);
  for (const option of words.filter((word) => /^--?[a-z]/.test(word))) expect(stdout).toContain(option);
});

test('docs/operating.md names every setting, and no other', () => {
  const text = blocksOf('docs/operating.md')
    .map((block) => block.text)
    .join('');
  const names = [...Object.values(codeRunTable), ...Object.values(sandboxTable)].map(({ name }) => name);
  const written = readAll('docs/operating.md') + readAll('docs/identity.md') + text;
  expect(names.filter((name) => !written.includes(name))).toEqual([]);
  const used = new Set(written.match(/\b(?:CODE_RUN|SANDBOX)_[A-Z_]+\b/g));
  expect([...used].filter((name) => !names.includes(name))).toEqual([]);
});

function readAll(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
