/**
 * What to say of a name that no binding has: as the realm says it when the program runs, so that a check and a run
 * read the same. A test holds the two together. Pure.
 */
import { nearest } from '../../shared/nearest.ts';
import type { Binding } from '../core/model.ts';

/** Most that is shown of a name, and of a list of those that there are. */
const nameCharsMax = 100;
const listCharsMax = 400;
const suggestionsMax = 3;

export class BindingNames {
  readonly #byConnection = new Map<string, string[]>();
  readonly #names: readonly string[];
  /** By raw name, "Work calendar/list-events": the names that it may mean. */
  readonly #byRawName = new Map<string, string[]>();

  constructor(bindings: readonly Binding[]) {
    this.#names = bindings.map(nameOf);
    for (const binding of bindings) {
      push(this.#byConnection, binding.connection, binding.capability);
      push(this.#byRawName, `${binding.source.connectionName}/${binding.rawName}`, nameOf(binding));
    }
  }

  /** What is wrong with `apps.<name>`; undefined if it is there. */
  connection(name: string): string | undefined {
    if (name === 'call' || this.#byConnection.has(name) || isForAll(name)) return undefined;
    const elsewhere = () => {
      const paths = new Map<string, string>();
      for (const [connection, capabilities] of this.#byConnection) {
        for (const one of capabilities) if (!paths.has(one)) paths.set(one, `apps.${connection}.${one}`);
      }
      return nearest(name, [...paths.keys()]).map((one) => paths.get(one) ?? one);
    };
    return missing('apps', name, [...this.#byConnection.keys()], elsewhere);
  }

  /** What is wrong with `apps.<connection>.<name>`; undefined if it is there, or if the connection is not. */
  capability(connection: string, name: string): string | undefined {
    const capabilities = this.#byConnection.get(connection);
    if (capabilities === undefined || capabilities.includes(name) || isForAll(name)) return undefined;
    return missing(`apps.${connection}`, name, capabilities);
  }

  /** What is wrong with `<name>` alone, if it is the name of something in apps. */
  alone(name: string): string | undefined {
    const inside = [...this.#byConnection].filter(([, capabilities]) => capabilities.includes(name));
    const paths = this.#byConnection.has(name)
      ? [`apps.${name}`]
      : inside.slice(0, suggestionsMax).map(([connection]) => `apps.${connection}.${name}`);
    if (paths.length === 0) return undefined;
    return `${name} is not defined. Did you mean ${paths.join(' or ')}?`;
  }

  /** What is wrong with `apps.call("<name>")`; undefined if it is there. */
  called(name: string): string | undefined {
    const meant = this.#byRawName.get(name) ?? [];
    if (this.#names.includes(name) || meant.length === 1) return undefined;
    if (meant.length > 1) {
      return `apps.call: "${name}" may mean ${meant.join(' or ')}. Use one of these names.`;
    }
    return `apps.call: there is no binding "${cut(name)}".${suggestion('', name, this.#names)}`;
  }
}

function nameOf({ connection, capability }: Binding): string {
  return `${connection}.${capability}`;
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

/** What the language itself looks for on any object. */
function isForAll(name: string): boolean {
  return name === 'then' || name === 'toJSON' || (name !== '__proto__' && name in Object.prototype);
}

function missing(
  path: string,
  name: string,
  names: readonly string[],
  elsewhere?: () => readonly string[],
): string {
  const shown = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(cut(name))
    ? `${path}.${cut(name)}`
    : `${path}[${JSON.stringify(cut(name))}]`;
  return `${shown} does not exist.${suggestion(`${path}.`, name, names, elsewhere)}`;
}

function suggestion(
  prefix: string,
  name: string,
  names: readonly string[],
  elsewhere?: () => readonly string[],
): string {
  const near = nearest(name, names);
  if (near.length > 0) return ` Did you mean ${near.map((one) => prefix + one).join(' or ')}?`;
  const far = elsewhere?.() ?? [];
  if (far.length > 0) return ` Did you mean ${far.join(' or ')}?`;
  if (names.length === 0) return ' This run has no apps.';
  const all = names.join(', ');
  if (all.length <= listCharsMax) return ` There is: ${all}.`;
  return ` Object.keys(${prefix === '' ? 'apps' : prefix.slice(0, -1)}) lists what there is.`;
}

function cut(name: string): string {
  return name.length <= nameCharsMax ? name : `${name.slice(0, nameCharsMax)}…`;
}
