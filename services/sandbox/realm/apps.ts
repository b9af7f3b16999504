/**
 * `apps`: the bindings of the run as a program sees them.
 *
 * A1  Every name is an own property of a frozen object without a prototype, so that listing, destructuring and
 *     spreading work, and any name is safe.
 * A2  A name that is not there throws at once and says which ones are near, except the few that the language
 *     itself looks for (`then`, `toJSON`, symbols, Object.prototype's).
 */
import { issueCall } from './calls.ts';
import type { RealmJob } from './contract.ts';
import { nearest } from './nearest.ts';
import {
  append,
  apply,
  define,
  freeze,
  hasOwn,
  jsonStringify,
  type List,
  list,
  matches,
  ObjectPrototype,
  ownKeys,
  Proxy,
  SafeMap,
  setPrototypeOf,
  slice,
  TypeError,
} from './primordials.ts';

type Binding = (args?: unknown) => unknown;

interface Table {
  readonly bindings: SafeMap<string, Binding>;
  /** By raw name, "Work calendar/list-events": names of all bindings that it may mean. */
  readonly raw: SafeMap<string, List<string>>;
  readonly names: List<string>;
}

export function installApps(bindings: RealmJob['bindings']): void {
  const table: Table = { bindings: new SafeMap(), raw: new SafeMap(), names: list() };
  const connections = emptyObject();
  const callByName = makeCallByName(table);
  for (let at = 0; at < bindings.length; at += 1) {
    const entry = bindings[at] as RealmJob['bindings'][number];
    addBinding(table, connections, callByName, entry);
  }
  const names = ownKeys(connections);
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    const connection = freeze(connections[name]) as object;
    define(connections, name, guard(connection, `apps.${name}`), true);
  }
  if (!hasOwn(connections, 'call')) {
    define(connections, 'call', callByName);
  }
  define(globalThis, 'apps', guard(freeze(connections), 'apps'));
}

function emptyObject(): Record<string, object> {
  return { __proto__: null } as unknown as Record<string, object>;
}

function addBinding(
  table: Table,
  connections: Record<string, object>,
  callByName: object,
  [connection, capability, connectionRaw, capabilityRaw]: RealmJob['bindings'][number],
): void {
  const name = `${connection}.${capability}`;
  const binding = makeBinding(name, connection, capability);
  table.bindings.set(name, binding);
  append(table.names, name);
  const rawName = `${connectionRaw}/${capabilityRaw}`;
  const sharing = table.raw.get(rawName);
  if (sharing === undefined) {
    const only: List<string> = list();
    append(only, name);
    table.raw.set(rawName, only);
  } else {
    append(sharing, name);
  }
  if (!hasOwn(connections, connection)) {
    // A connection named "call" is both: its capabilities are properties of the function.
    define(connections, connection, connection === 'call' ? callByName : emptyObject(), true);
  }
  define(connections[connection] as object, capability, binding, true);
}

function makeBinding(name: string, connection: string, capability: string): Binding {
  const binding: Binding = {
    [name]: (args?: unknown): unknown => {
      if (capability === 'then' && typeof args === 'function') {
        throw new TypeError(
          `apps.${connection} is not a promise: do not await it. To call its capability "then", give it an object.`,
        );
      }
      return issueCall(name, args, binding);
    },
  }[name] as Binding;
  return binding;
}

/** apps.call("connection.capability", args), or with the raw names: apps.call("Connection/capability", args). */
function makeCallByName(table: Table): (name: unknown, args?: unknown) => unknown {
  const methods = {
    call: (name: unknown, args?: unknown): unknown => {
      if (typeof name !== 'string') {
        throw new TypeError(
          'apps.call takes the name of a binding first: apps.call("connection.capability", {…})',
        );
      }
      const binding = table.bindings.get(name) ?? byRawName(table, name);
      return apply(binding, undefined, [args]);
    },
  };
  return methods.call;
}

function byRawName(table: Table, rawName: string): Binding {
  const names = table.raw.get(rawName);
  if (names === undefined) {
    throw new TypeError(
      `apps.call: there is no binding "${rawName}".${suggestion('', rawName, table.names)}`,
    );
  }
  if (names.length > 1) {
    throw new TypeError(`apps.call: "${rawName}" may mean ${join(names, ' or ')}. Use one of these names.`);
  }
  return table.bindings.get(names[0] as string) as Binding;
}

/** Lets everything pass but a name that is not there. */
function guard(target: object, path: string): object {
  return new Proxy(
    target,
    setPrototypeOf(
      {
        get(_: object, key: string | symbol): unknown {
          if (hasOwn(target, key)) {
            return (target as Record<string | symbol, unknown>)[key];
          }
          if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') {
            return undefined;
          }
          if (hasOwn(ObjectPrototype, key) && key !== '__proto__') {
            return (ObjectPrototype as unknown as Record<string, unknown>)[key];
          }
          throw new TypeError(unknownName(target, path, key));
        },
      },
      null,
    ),
  );
}

function unknownName(target: object, path: string, key: string): string {
  const names: List<string> = list();
  const keys = ownKeys(target);
  for (let at = 0; at < keys.length; at += 1) {
    const name = keys[at];
    if (typeof name === 'string') {
      append(names, name);
    }
  }
  const shown = matches(/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u, key)
    ? `${path}.${key}`
    : `${path}[${jsonStringify(key)}]`;
  return `${shown} does not exist.${suggestion(`${path}.`, key, names)}`;
}

function suggestion(prefix: string, wanted: string, names: List<string>): string {
  const near = nearest(wanted, names);
  if (near.length > 0) {
    return ` Did you mean ${join(near, ' or ', prefix)}?`;
  }
  const owner = prefix.length > 'apps.'.length ? slice(prefix, 0, prefix.length - 1) : 'apps';
  return names.length === 0
    ? ' There are no bindings in this run.'
    : ` Object.keys(${owner}) lists what there is.`;
}

function join(names: List<string>, between: string, prefix = ''): string {
  let text = '';
  for (let at = 0; at < names.length; at += 1) {
    text += (at === 0 ? '' : between) + prefix + names[at];
  }
  return text;
}
