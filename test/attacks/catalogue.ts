/** The attacks: one program a file, and in comments at its head what must come of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Attack {
  /** "memory/push-without-end". */
  readonly name: string;
  readonly program: string;
  /** End reasons, any of which is right. */
  readonly ends: readonly string[];
  /** What else is stated, by its word: "Value", "Message", "Timeout" … */
  readonly stated: ReadonlyMap<string, string>;
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const headLine = /^\/\/ (\w+): (.+)$/;

export function readAttacks(): readonly Attack[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .sort()
    .map((file) => readAttack(file));
}

function readAttack(file: string): Attack {
  const program = readFileSync(`${folder}${file}`, 'utf8');
  const stated = new Map<string, string>();
  for (const line of program.split('\n')) {
    const found = headLine.exec(line);
    if (found === null) break;
    stated.set(found[1] ?? '', found[2] ?? '');
  }
  const ends = stated.get('Ends')?.split(' | ') ?? [];
  stated.delete('Ends');
  if (ends.length === 0) throw new Error(`${file} does not say how it ends`);
  return { name: file.replace(/\.js$/, ''), program, ends, stated };
}
