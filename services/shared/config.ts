/**
 * Configuration of a service: a table of variables, each with its meaning, read once from the environment and
 * an optional file of NAME=value lines (the environment wins).
 *
 * C1  A value is checked when it is read; every problem is told at once, each with the name of its variable
 *     and what it should be, and without the value of a secret.
 * C2  A variable with the service's prefix that the table does not have is a problem too: a mistyped name
 *     must not be a default in disguise.
 * C3  An empty value counts as not set.
 */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { fileProblem } from './file-problem.ts';

export interface Variable<T> {
  readonly name: string;
  /** Meaning, unit and range, for --help. */
  readonly what: string;
  /** Never printed. */
  readonly secret: boolean;
  /** The default as text, for --help; undefined where there is none. */
  readonly initial: string | undefined;
  /** Reads a text; throws an Error whose message says what it should be: "must be …". */
  readonly read: (text: string) => T;
  /** The value where none is set. */
  readonly fallback: T;
}

export type Table = Readonly<Record<string, Variable<unknown>>>;

export type Values<S extends Table> = { readonly [K in keyof S]: S[K] extends Variable<infer T> ? T : never };

/** What is wrong with the configuration, one line a problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

// ---- Kinds of variables ------------------------------------------------------------------------

interface Common {
  readonly what: string;
  readonly secret?: boolean;
}

export function text(
  name: string,
  options: Common & { initial: string; check?: (text: string) => void },
): Variable<string> {
  return variable(name, options, options.initial, (value) => {
    options.check?.(value);
    return value;
  });
}

/** A text that may be left out. */
export function optionalText(
  name: string,
  options: Common & { check?: (text: string) => void },
): Variable<string | undefined> {
  const read = (value: string) => {
    options.check?.(value);
    return value;
  };
  return {
    name,
    what: options.what,
    secret: options.secret ?? false,
    initial: undefined,
    read,
    fallback: undefined,
  };
}

export function integer(
  name: string,
  options: Common & { initial: number; min: number; max: number },
): Variable<number> {
  const { min, max } = options;
  return variable(name, options, String(options.initial), (value) => {
    const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  });
}

export function flag(name: string, options: Common & { initial: boolean }): Variable<boolean> {
  return variable(name, options, String(options.initial), (value) => {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
    return value === 'true';
  });
}

export function oneOf<const T extends string>(
  name: string,
  options: Common & { values: readonly T[]; initial: NoInfer<T> },
): Variable<T> {
  return variable(name, options, options.initial, (value) => {
    const found = options.values.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`must be one of ${options.values.join(', ')}`);
    return found;
  });
}

function variable<T>(name: string, options: Common, initial: string, read: (text: string) => T): Variable<T> {
  return {
    name,
    what: options.what,
    secret: options.secret ?? false,
    initial,
    read,
    fallback: read(initial),
  };
}

// ---- Reading -----------------------------------------------------------------------------------

export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A file of NAME=value lines. */
  readonly file?: string;
  /** "CODE_RUN_": every variable that begins so must be in the table. */
  readonly prefix: string;
}

/** Reads every variable of the table. Throws ConfigError. */
export function readConfig<S extends Table>(table: S, sources: Sources): Values<S> {
  const texts = { ...(sources.file === undefined ? {} : readFile(sources.file)), ...sources.environment };
  const problems = unknownNames(table, texts, sources.prefix);
  const values: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(table)) {
    const given = texts[entry.name];
    try {
      values[key] = given === undefined || given === '' ? entry.fallback : entry.read(given);
    } catch (error) {
      const got = entry.secret ? '' : `, is ${JSON.stringify(given)}`;
      problems.push(`${entry.name} ${error instanceof Error ? error.message : String(error)}${got}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Values<S>;
}

function readFile(path: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError([`--config: cannot read the file ${path}: ${fileProblem(error)}`]);
  }
}

function unknownNames(
  table: Table,
  texts: Readonly<Record<string, string | undefined>>,
  prefix: string,
): string[] {
  const known = new Set(Object.values(table).map((entry) => entry.name));
  return Object.keys(texts)
    .filter((name) => name.startsWith(prefix) && !known.has(name))
    .map((name) => `${name} is not a setting; --help lists them all`);
}

// ---- Showing -----------------------------------------------------------------------------------

/** The table for --help. */
export function describeConfig(table: Table): string {
  return Object.values(table)
    .map(({ name, what, initial }) => `  ${name}${initial === undefined ? '' : `=${initial}`}\n      ${what}`)
    .join('\n');
}

/** The values in force as NAME=value lines, a file that `readConfig` takes; secrets are masked. */
export function printConfig<S extends Table>(table: S, values: Values<S>): string {
  return Object.entries(table)
    .map(([key, { name, secret }]) => {
      const value = values[key];
      if (value === undefined) return `# ${name} is not set`;
      return `${name}=${secret ? '***' : String(value)}`;
    })
    .join('\n');
}
