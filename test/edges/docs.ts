/** Commands of the documentation, with the output that is printed under them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface Block {
  /** "sh", "json" …; "" if none is named. */
  readonly language: string;
  /** From "```sh id=name". */
  readonly id: string | undefined;
  readonly text: string;
  readonly line: number;
}

export interface Example {
  readonly id: string | undefined;
  readonly line: number;
  readonly commands: string;
  /** The block that follows at once; undefined: there is none, and only success counts. */
  readonly output: string | undefined;
}

export function blocksOf(file: string): Block[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, language = '', id] = /^```(\w*)(?: id=(\S+))?$/.exec(lines[at] ?? '') ?? [];
    if (!lines[at]?.startsWith('```')) continue;
    const end = lines.indexOf('```', at + 1);
    blocks.push({ language, id, text: `${lines.slice(at + 1, end).join('\n')}\n`, line: at + 1 });
    at = end;
  }
  return blocks;
}

/** Shell blocks, each with the output block that stands right under it. */
export function examplesOf(file: string): Example[] {
  const blocks = blocksOf(file);
  return blocks.flatMap((block, index) => {
    const isShell = block.language === 'sh' || /^(grpcurl|curl) /m.test(block.text);
    if (!isShell) return [];
    const next = blocks[index + 1];
    const below = block.line + block.text.split('\n').length;
    const output =
      next !== undefined && next.line === below + 1 && next.language !== 'sh' ? next.text : undefined;
    return [{ id: block.id, line: block.line, commands: block.text, output }];
  });
}

/** Output as it is printed: "…" stands for anything, also for more lines at the end. */
export function outputPattern(printed: string): RegExp {
  const parts = printed
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*?')}\\s*$`);
}
