/**
 * What a setting is: its name, meaning, range, default, and what of it may be printed. A service has one table
 * of them; config-reader.ts reads one, config-text.ts shows it.
 *
 * C1  Every problem names its variable and what it should be, never the value of a secret.
 */
import { maskUrl, maskWhole } from './mask.ts';

export interface Variable<T> {
  readonly name: string;
  /** Another name that is read where this one is not set. */
  readonly otherName: string | undefined;
  /** Meaning, for --help. */
  readonly what: string;
  /** Range and unit, or the values there are, for --help; undefined: the meaning says it. */
  readonly range: string | undefined;
  /** What of a text is printed; undefined: all of it. */
  readonly mask: ((text: string) => string) | undefined;
  /** The default as text; undefined where there is none. */
  readonly initial: string | undefined;
  /** Reads a text that was given as `name`; throws an Error that says what it should be: "must be …". */
  readonly read: (text: string, name: string) => T;
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

interface Common {
  readonly what: string;
  /** Printed is nothing of it, or of a URL all but its password and the secrets among its parameters. */
  readonly secret?: 'whole' | 'url';
}

interface TextOptions extends Common {
  readonly otherName?: string;
  /** The text may have several lines. */
  readonly lines?: boolean;
  readonly check?: (text: string, name: string) => void;
}

export function text(name: string, options: TextOptions & { readonly initial: string }): Variable<string> {
  const read = textReader(options);
  return variable(name, options, { initial: options.initial, read, fallback: read(options.initial, name) });
}

/** A text that may be left out. */
export function optionalText(name: string, options: TextOptions): Variable<string | undefined> {
  return variable(name, options, { initial: undefined, read: textReader(options), fallback: undefined });
}

function textReader({ check, lines = false }: TextOptions): (text: string, name: string) => string {
  return (value, name) => {
    // Of a file or a secret store, a line break comes along easily, and nobody sees it.
    if (!lines && /\p{Cc}/u.test(value)) throw new Error('must be one line, without control characters');
    if (value.trim() !== value) throw new Error('must not begin or end with a blank');
    check?.(value, name);
    return value;
  };
}

export function integer(
  name: string,
  options: Common & {
    readonly initial: number;
    readonly min: number;
    readonly max: number;
    /** "milliseconds"; undefined: a plain count. */
    readonly unit?: string;
  },
): Variable<number> {
  const { initial, min, max, unit } = options;
  const read = (value: string) => {
    const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  };
  const range = `${min} to ${max}${unit === undefined ? '' : ` ${unit}`}`;
  return variable(name, options, { initial: String(initial), read, fallback: read(String(initial)) }, range);
}

export function flag(name: string, options: Common & { readonly initial: boolean }): Variable<boolean> {
  const { initial } = options;
  const read = (value: string) => {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
    return value === 'true';
  };
  return variable(name, options, { initial: String(initial), read, fallback: initial }, 'true or false');
}

export function oneOf<const T extends string>(
  name: string,
  options: Common & { readonly values: readonly T[]; readonly initial: NoInfer<T> },
): Variable<T> {
  const { values, initial } = options;
  const read = (value: string) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return found;
  };
  const range = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return variable(name, options, { initial, read, fallback: initial }, range);
}

function variable<T>(
  name: string,
  { what, secret, otherName }: Common & { readonly otherName?: string },
  reading: Pick<Variable<T>, 'initial' | 'read' | 'fallback'>,
  range?: string,
): Variable<T> {
  const mask = secret === undefined ? undefined : secret === 'whole' ? maskWhole : maskUrl;
  return { name, otherName, what, range, mask, ...reading };
}

/** A table without some of its variables. */
export function without<S extends Table, K extends keyof S>(table: S, ...keys: readonly K[]): Omit<S, K> {
  const left = Object.entries(table).filter(([key]) => !keys.some((dropped) => dropped === key));
  return Object.fromEntries(left) as Omit<S, K>; // What is left is what the type says.
}

/** The same variable with another default. */
export function startingAs<T>(entry: Variable<T>, initial: string): Variable<T> {
  return { ...entry, initial, fallback: entry.read(initial, entry.name) };
}
