/** Settings as people read them: the table for --help, and the values in force for --print-config. */
import type { Table, Values } from './config.ts';
import { quoted } from './config-file.ts';

/** Each variable with its default, meaning, and range. */
export function describeConfig(table: Table): string {
  return Object.values(table)
    .map(({ name, initial, what, range }) => {
      const head = initial === undefined ? name : `${name}=${initial}`;
      return [`  ${head}`, `      ${what}`, ...(range === undefined ? [] : [`      ${range}`])].join('\n');
    })
    .join('\n');
}

/** The values in force as a file that --config takes, but for what is masked. */
export function printConfig<S extends Table>(table: S, values: Values<S>): string {
  return Object.entries(table)
    .map(([key, { name, mask }]) => {
      const value = values[key];
      if (value === undefined) return `# ${name} is not set`;
      return `${name}=${quoted(mask === undefined ? String(value) : mask(String(value)))}`;
    })
    .join('\n');
}

/** The values in force as the environment of a process. */
export function environmentOf<S extends Table>(table: S, values: Values<S>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([key, { name }]) => {
      const value = values[key];
      return value === undefined ? [] : [[name, String(value)] as const];
    }),
  );
}
