/**
 * Reads the settings of a service, once, from the environment and an optional file (the environment wins).
 *
 * R1  Every problem is told at once, and where in the file it is.
 * R2  A variable with a prefix of the service that no table has is a problem, and in the file every name that no
 *     table has: a mistyped name must not be a default in disguise.
 * R3  An empty value counts as not set.
 * R4  What --print-config printed in place of a secret is refused where it comes back.
 */
import { ConfigError, type Table, type Values, type Variable } from './config.ts';
import type { ConfigFile } from './config-file.ts';
import { isMasked } from './mask.ts';
import { nearest } from './nearest.ts';
import { isTelemetryName } from './telemetry-config.ts';

export interface Sources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file?: ConfigFile;
}

/** A table, and how the names of its service begin. */
export interface Part {
  readonly table: Table;
  readonly prefix: string;
}

interface Given {
  readonly name: string;
  readonly text: string;
  /** " (app.env:3)"; empty for the environment. */
  readonly place: string;
}

export class ConfigReader {
  readonly #given = new Map<string, Given>();
  readonly #problems: string[] = [];

  constructor({ environment, file }: Sources, parts: readonly Part[]) {
    this.#problems.push(...(file?.problems ?? []));
    const variables = parts.flatMap(({ table }) => Object.values(table));
    const known = new Set(variables.flatMap(({ name, otherName }) => [name, otherName ?? name]));
    for (const { name, value, place } of file?.entries ?? []) {
      if (known.has(name)) this.#given.set(name, { name, text: value, place: ` (${place})` });
      else if (!isTelemetryName(name)) this.#problems.push(`--config ${place}: ${unknown(name, known)}`);
    }
    for (const [name, text = ''] of Object.entries(environment)) {
      if (known.has(name)) this.#given.set(name, { name, text, place: '' });
      else if (parts.some(({ prefix }) => name.startsWith(prefix))) {
        this.#problems.push(unknown(name, known));
      }
    }
  }

  /** The values of a table; of those with a problem, the defaults. */
  values<S extends Table>(table: S): Values<S> {
    const values = Object.entries(table).map(([key, entry]) => [key, this.#value(entry)] as const);
    return Object.fromEntries(values) as Values<S>; // Key for key what its variable reads.
  }

  /** The name under which a variable is set; its own if it is not set. */
  nameOf(variable: Variable<unknown>): string {
    return this.#find(variable)?.name ?? variable.name;
  }

  /** More of what is wrong, if every value by itself is right. */
  relate(problems: () => readonly string[]): void {
    if (this.#problems.length === 0) this.#problems.push(...problems());
  }

  /** Throws ConfigError if there was any problem. */
  finish(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #find({ name, otherName = name }: Variable<unknown>): Given | undefined {
    return [this.#given.get(name), this.#given.get(otherName)].find(
      (given) => given !== undefined && given.text !== '',
    );
  }

  #value(variable: Variable<unknown>): unknown {
    const given = this.#find(variable);
    if (given === undefined) return variable.fallback;
    const { name, text, place } = given;
    const secret = variable.mask !== undefined;
    try {
      if (secret && isMasked(text)) throw new Error('must be the secret itself: *** only stands for one');
      return variable.read(text, name);
    } catch (error) {
      const got = secret ? '' : `, is ${JSON.stringify(text)}`;
      this.#problems.push(`${name} ${error instanceof Error ? error.message : String(error)}${got}${place}`);
      return variable.fallback;
    }
  }
}

function unknown(name: string, known: ReadonlySet<string>): string {
  // What all names of a service share would make any two of them alike.
  const start = name.slice(0, name.indexOf('_') + 1);
  const ends = [...known].filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
  const [end] = nearest(name.slice(start.length), ends, 1);
  const near = end === undefined ? undefined : `${start}${end}`;
  return `${name} is not a setting; ${near === undefined ? '' : `did you mean ${near}? `}--help lists them all`;
}
