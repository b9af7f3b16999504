/**
 * `apps`: the bindings of the run as a program sees them.
 *
 * A1  Every name is an own property of a frozen object without a prototype, so that listing, destructuring and
 *     spreading work, and any name is safe.
 * A2  A name that is not there throws at once and says which ones are near, except the few that the language
 *     itself looks for (`then`, `toJSON`, symbols, Object.prototype's).
 * A3  A run may have thousands of bindings and use three: those of a connection are made when a program first
 *     looks into it.
 */
import { issueCall } from './calls.ts';
import type { RealmJob } from './contract.ts';
import { nearest, suggestionsMax } from './nearest.ts';
import {
  append,
  apply,
  define,
  freeze,
  hasOwn,
  jsonStringify,
  keysOf,
  type List,
  list,
  matches,
  ObjectPrototype,
  Proxy,
  SafeMap,
  setPrototypeOf,
  slice,
  TypeError,
} from './primordials.ts';
import { needStackRoom } from './stack-room.ts';
import { cut } from './text.ts';

type Entry = RealmJob['bindings'][number];
type Binding = (args?: unknown) => unknown;
type Named = Record<string | symbol, unknown>;

let bindings: RealmJob['bindings'] = [];

export function installApps(entries: RealmJob['bindings']): void {
  bindings = entries;
  const callByName = makeCallByName(entries);
  const byConnection = new SafeMap<string, List<Entry>>();
  const connections = emptyObject();
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] as Entry;
    const known = byConnection.get(entry[0]);
    if (known !== undefined) {
      append(known, entry);
      continue;
    }
    const own: List<Entry> = list();
    append(own, entry);
    byConnection.set(entry[0], own);
    define(connections, entry[0], makeConnection(entry[0], own, callByName), true);
  }
  if (!hasOwn(connections, 'call')) {
    define(connections, 'call', callByName);
  }
  const handler = {
    __proto__: null,
    get: getOrThrow('apps', (wanted) => capabilitiesLike(entries, wanted)),
  } as ProxyHandler<object>;
  refuseChanges(handler, 'apps', () => {});
  define(globalThis, 'apps', new Proxy(freeze(connections), handler));
}

function emptyObject(): Named {
  return { __proto__: null } as unknown as Named;
}

/** A connection named "call" is both: its capabilities are properties of the function. */
function makeConnection(name: string, entries: List<Entry>, callByName: object): object {
  const target = name === 'call' ? callByName : emptyObject();
  let filled = false;
  const fill = () => {
    if (filled) {
      return;
    }
    needStackRoom();
    filled = true;
    for (let at = 0; at < entries.length; at += 1) {
      const capability = (entries[at] as Entry)[1];
      define(target, capability, makeBinding(name, capability), true);
    }
    freeze(target);
  };
  const get = getOrThrow(`apps.${name}`);
  const handler = {
    __proto__: null,
    get(filledTarget: Named, key: string | symbol) {
      fill();
      return get(filledTarget, key);
    },
  } as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const trap in passOn) {
    const act = passOn[trap] as (...args: unknown[]) => unknown;
    handler[trap] = (...args: unknown[]) => {
      fill();
      return apply(act, undefined, args);
    };
  }
  refuseChanges(handler, `apps.${name}`, fill);
  return new Proxy(target, handler as ProxyHandler<object>);
}

/** `fill` makes what the target lists. */
function refuseChanges(handler: ProxyHandler<object>, path: string, fill: () => void): void {
  const refuse = (): never => {
    throw new TypeError(`${path} cannot be changed: it lists what the program may call.`);
  };
  handler.set = refuse;
  handler.deleteProperty = refuse;
  // Freezing what is frozen defines every property as it is, and changes nothing.
  handler.defineProperty = (target, key, descriptor) => {
    fill();
    return reflectDefineProperty(target, key, descriptor) || refuse();
  };
}

const reflectDefineProperty = Reflect.defineProperty;

/** Every other trap that looks at properties, as the engine has it. */
const passOn = {
  __proto__: null,
  has: Reflect.has,
  ownKeys: Reflect.ownKeys,
  getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
  isExtensible: Reflect.isExtensible,
  preventExtensions: Reflect.preventExtensions,
} as unknown as Record<string, unknown>;

/** `elsewhere` gives whole paths that a name may have meant though it is not near any name here. */
function getOrThrow(path: string, elsewhere?: (wanted: string) => List<string>) {
  return (target: Named, key: string | symbol): unknown => {
    if (hasOwn(target, key)) {
      return target[key];
    }
    if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') {
      return undefined;
    }
    if (hasOwn(ObjectPrototype, key) && key !== '__proto__') {
      return (ObjectPrototype as unknown as Named)[key];
    }
    throw new TypeError(unknownName(target, path, key, elsewhere));
  };
}

function makeBinding(connection: string, capability: string): Binding {
  const name = `${connection}.${capability}`;
  const binding = {
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

// ---- apps.call ---------------------------------------------------------------------------------

interface Table {
  readonly names: List<string>;
  readonly known: SafeMap<string, true>;
  /** By raw name, "Work calendar/list-events": names of all bindings that it may mean. */
  readonly raw: SafeMap<string, List<string>>;
}

/** apps.call("connection.capability", args), or with the raw names: apps.call("Connection/capability", args). */
function makeCallByName(entries: RealmJob['bindings']): Binding {
  let table: Table | undefined;
  const methods = {
    call: (name: unknown, args?: unknown): unknown => {
      if (typeof name !== 'string') {
        throw new TypeError(
          'apps.call takes the name of a binding first: apps.call("connection.capability", {…})',
        );
      }
      table ??= makeTable(entries);
      return issueCall(table.known.has(name) ? name : byRawName(table, name), args, methods.call);
    },
  };
  return methods.call as Binding;
}

function makeTable(entries: RealmJob['bindings']): Table {
  const table: Table = { names: list(), known: new SafeMap(), raw: new SafeMap() };
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] as Entry;
    const name = `${entry[0]}.${entry[1]}`;
    const rawName = `${entry[2]}/${entry[3]}`;
    append(table.names, name);
    table.known.set(name, true);
    const sharing: List<string> = table.raw.get(rawName) ?? list();
    append(sharing, name);
    table.raw.set(rawName, sharing);
  }
  return table;
}

function byRawName(table: Table, rawName: string): string {
  const names = table.raw.get(rawName);
  if (names === undefined) {
    throw new TypeError(
      `apps.call: there is no binding "${cut(rawName, nameBytesMax)}".${suggestion('', rawName, table.names)}`,
    );
  }
  if (names.length > 1) {
    throw new TypeError(
      `apps.call: "${rawName}" may mean ${join(names, ' or ', '')}. Use one of these names.`,
    );
  }
  return names[0] as string;
}

// ---- Names that are not there ------------------------------------------------------------------

/** Most that is shown of a name that is not there, and of a list of those that are. */
const nameBytesMax = 200;
const listBytesMax = 400;

function unknownName(
  target: object,
  path: string,
  key: string,
  elsewhere: ((wanted: string) => List<string>) | undefined,
): string {
  const names = setPrototypeOf(keysOf(target), null) as List<string>;
  const name = cut(key, nameBytesMax);
  const shown = matches(/^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u, name)
    ? `${path}.${name}`
    : `${path}[${jsonStringify(name)}]`;
  return `${shown} does not exist.${suggestion(`${path}.`, key, names, elsewhere)}`;
}

function suggestion(
  prefix: string,
  wantedName: string,
  names: List<string>,
  elsewhere?: (wanted: string) => List<string>,
): string {
  const wanted = slice(wantedName, 0, nameBytesMax);
  const near = nearest(wanted, names);
  if (near.length > 0) {
    return ` Did you mean ${join(near, ' or ', prefix)}?`;
  }
  const far = elsewhere?.(wanted);
  if (far !== undefined && far.length > 0) {
    return ` Did you mean ${join(far, ' or ', '')}?`;
  }
  if (names.length === 0) {
    return ' This run has no apps.';
  }
  const all = join(names, ', ', '');
  if (all.length <= listBytesMax) {
    return ` There is: ${all}.`;
  }
  const owner = prefix === '' ? 'apps' : slice(prefix, 0, prefix.length - 1);
  return ` Object.keys(${owner}) lists what there is.`;
}

/** What a program meant that left out `apps.`, for the end of a message; empty if there is no such name. */
export function bindingNamed(name: string): string {
  const paths: List<string> = list();
  for (let at = 0; at < bindings.length && paths.length < suggestionsMax; at += 1) {
    const entry = bindings[at] as Entry;
    const connection = entry[0];
    const capability = entry[1];
    if (connection === name) {
      return `Did you mean apps.${name}?`;
    }
    if (capability === name) {
      append(paths, `apps.${connection}.${capability}`);
    }
  }
  return paths.length === 0 ? '' : `Did you mean ${join(paths, ' or ', '')}?`;
}

/** Capabilities near a name that was looked for among the connections. */
function capabilitiesLike(entries: RealmJob['bindings'], wanted: string): List<string> {
  const capabilities: List<string> = list();
  const paths = new SafeMap<string, string>();
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] as Entry;
    const capability = entry[1];
    if (!paths.has(capability)) {
      append(capabilities, capability);
      paths.set(capability, `apps.${entry[0]}.${capability}`);
    }
  }
  const near = nearest(wanted, capabilities);
  for (let at = 0; at < near.length; at += 1) {
    near[at] = paths.get(near[at] as string) as string;
  }
  return near;
}

function join(names: List<string>, between: string, prefix: string): string {
  let text = '';
  for (let at = 0; at < names.length; at += 1) {
    text += (at === 0 ? '' : between) + prefix + names[at];
  }
  return text;
}
