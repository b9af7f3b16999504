import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { execute } from '../../services/reference-core/cli/command.ts';
import { parseServers } from '../../services/reference-core/mcp/config.ts';
import { parsePolicy } from '../../services/reference-core/operations/policy.ts';

const root = path.join(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'docs/command-line.md'), 'utf8');

const blocks = (kind: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gs'))].map(([, block]) => block ?? '');

/** What follows the command on each command line. */
const lines = [...guide.matchAll(/^bin\/code-mode (.+)$/gm)].map(([, line]) => line ?? '');

async function helpOf(words: readonly string[]): Promise<string> {
  const streams = { input: Readable.from([]), out: new PassThrough(), err: new PassThrough() };
  const out = text(streams.out);
  expect(await execute([...words, '--help'], streams, new AbortController().signal)).toBe(0);
  streams.out.end();
  return out;
}

describe('the guide of the command line', () => {
  test('shows configurations that are read', () => {
    const read = blocks('json servers').map((block) => parseServers(block, 'guide', { HOME: '/home/ada' }));
    expect(read.flat().map(({ name }) => name)).toEqual(['notes', 'calendar', 'code-mode']);
    expect(blocks('json policy').map((block) => parsePolicy(block, 'guide').default)).toEqual(['readOnly']);
  });

  test('is begun in the README with a server that is installed', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const [, block = ''] = /```json\n(.*?)```/s.exec(readme) ?? [];
    const [server] = parseServers(block, 'README', {});
    const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    expect(server).toMatchObject({ name: 'memory', command: 'npx' });
    expect(Object.keys(devDependencies)).toContain(server?.transport === 'stdio' ? server.args.at(-1) : '');
  });

  test.each(lines)('shows a command that there is: %s', async (line) => {
    const words = line.split(' ');
    const command = words[0] === 'runs' ? words.slice(0, 2) : words.slice(0, 1);
    const help = await helpOf(command);
    expect(help).toContain(`Usage: code-mode ${command.join(' ')}`);
    for (const option of words.filter((word) => word.startsWith('-'))) expect(help).toContain(option);
  });

  test('shows every command', async () => {
    const shown = new Set(lines.map((line) => line.split(' ')[0]));
    const [, list = ''] = /Commands:\n(.*?)\n\n/s.exec(await helpOf([])) ?? [];
    const all = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
    expect(all.filter((name) => name !== 'help' && name !== 'demo' && !shown.has(name))).toEqual([]);
    expect(all).toContain('mcp');
  });
});
