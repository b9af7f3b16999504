/**
 * The two ways from values of the program to text: arguments of a call and the returned value. What JSON cannot
 * say is refused by its path; what JSON says nothing about (undefined, a function in a result) is as JSON has it.
 *
 * The fast way is the engine's own. Only if it fails is the value walked again, to name the place.
 */
import {
  append,
  getPrototypeOf,
  indexOf,
  isArray,
  isError,
  jsonParse,
  jsonStringify,
  keysOf,
  type List,
  list,
  MapPrototype,
  matches,
  PromisePrototype,
  SetPrototype,
  TypeError,
} from './primordials.ts';

/** Thrown by a replacer to stop; never seen by a program. */
const stop = { __proto__: null };

interface Flaw {
  readonly path: string;
  readonly what: string;
}

/** JSON text of the arguments of a call. Throws a TypeError that names the call, and the place of what is not JSON. */
export function argumentsToJson(value: object, binding: string, depthMax: number): string | undefined {
  const depth = new Depth();
  try {
    return jsonStringify(value, function (this: unknown, _: string, part: unknown) {
      if (flawOfArgument(part) !== undefined || depth.enter(this, part) > depthMax) {
        throw stop;
      }
      return part;
    });
  } catch (thrown) {
    throw explained(thrown, `apps.${binding}`, value, 'args', flawOfArgument, depthMax);
  }
}

/** JSON text of the returned value, undefined if JSON has none. Throws a TypeError for a cycle or a BigInt. */
export function resultToJson(value: unknown, depthMax: number): string | undefined {
  let json: string | undefined;
  try {
    json = jsonStringify(value);
    if (json !== undefined && mayNest(json, depthMax) && nests(jsonParse(json), depthMax)) {
      throw stop;
    }
  } catch (thrown) {
    throw explained(thrown, 'The returned value is not JSON', value, 'result', flawOfBigInt, depthMax);
  }
  return json;
}

/** What to throw instead of what stopped the writing. */
function explained(
  thrown: unknown,
  subject: string,
  value: unknown,
  root: string,
  flawOf: FlawOf,
  depthMax: number,
): unknown {
  const flaw = findFlaw(value, root, flawOf, depthMax);
  if (flaw !== undefined) {
    return new TypeError(`${subject}: ${flaw.path} ${flaw.what}`);
  }
  return thrown === stop ? new TypeError(`${subject}: ${root} cannot be written as JSON`) : thrown;
}

/** What in a returned value JSON shows as `{}` though there is more to it. Undefined if there is nothing. */
export function lossInResult(value: unknown): string | undefined {
  const flaw = findFlaw(value, 'result', lossOf, Infinity);
  return flaw === undefined ? undefined : `${flaw.path} ${flaw.what}`;
}

function lossOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  if (isPromise(value)) {
    return 'is a promise, which JSON shows as {}: await it before returning';
  }
  if (isError(value)) {
    return 'is an error, which JSON shows as {}: return its message';
  }
  const prototype = getPrototypeOf(value);
  if (prototype === MapPrototype) {
    return 'is a Map, which JSON shows as {}: return Object.fromEntries(…) of it';
  }
  return prototype === SetPrototype ? 'is a Set, which JSON shows as {}: return an array of it' : undefined;
}

type FlawOf = (value: unknown) => string | undefined;

function flawOfBigInt(value: unknown): string | undefined {
  return typeof value === 'bigint'
    ? 'is a BigInt, which JSON does not have: use Number() or String()'
    : undefined;
}

function flawOfPromise(value: unknown): string | undefined {
  return isPromise(value) ? 'is a promise: await it first' : undefined;
}

function flawOfArgument(value: unknown): string | undefined {
  switch (typeof value) {
    case 'function':
      return 'is a function, which JSON does not have';
    case 'symbol':
      return 'is a symbol, which JSON does not have';
    case 'bigint':
      return flawOfBigInt(value);
    case 'object':
      return flawOfPromise(value);
    default:
      return undefined;
  }
}

/** Reads the prototype alone: no property of the value is touched. */
function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const prototype = getPrototypeOf(value);
  return (
    prototype === PromisePrototype || (prototype !== null && getPrototypeOf(prototype) === PromisePrototype)
  );
}

/** How deep a replacer is: `this` is the holder of each part, so the way back up to it is known. */
class Depth {
  readonly holders: List<unknown> = list();

  /** Levels with the part itself, if it is one. */
  enter(holder: unknown, part: unknown): number {
    const { holders } = this;
    while (holders.length > 0 && holders[holders.length - 1] !== holder) {
      holders.length -= 1;
    }
    if (typeof part === 'object' && part !== null) {
      append(holders, part);
    }
    return holders.length;
  }
}

/** Writes the value once more, and keeps the path. */
function findFlaw(value: unknown, root: string, flawOf: FlawOf, depthMax: number): Flaw | undefined {
  const depth = new Depth();
  const paths: List<string> = list();
  let flaw: Flaw | undefined;
  try {
    jsonStringify(value, function (this: unknown, key: string, part: unknown) {
      depth.enter(this, undefined);
      const above = depth.holders.length;
      paths.length = above;
      const path = above === 0 ? root : pathTo(paths[above - 1] as string, this, key);
      const what = flawOf(part) ?? cycleOf(part, depth.holders, paths);
      if (what !== undefined) {
        flaw = { path, what };
        throw stop;
      }
      if (depth.enter(this, part) > depthMax) {
        flaw = { path: root, what: `nests more than ${depthMax} levels deep, the most that can be written` };
        throw stop;
      }
      if (depth.holders.length > above) {
        append(paths, path);
      }
      return part;
    });
  } catch {
    // Either the flaw was found, or the value cannot even be walked: then there is no place to name.
  }
  return flaw;
}

/** Whether a text has brackets enough to nest so deeply. */
function mayNest(json: string, depthMax: number): boolean {
  if (json.length <= 2 * depthMax) {
    return false;
  }
  let opened = 0;
  for (let kind = 0; kind < 2; kind += 1) {
    const bracket = kind === 0 ? '{' : '[';
    for (let at = indexOf(json, bracket); at !== -1; at = indexOf(json, bracket, at + 1)) {
      opened += 1;
      if (opened > depthMax) {
        return true;
      }
    }
  }
  return false;
}

/** Whether parsed JSON has more levels than so many; looked at level by level, so that depth costs no stack. */
function nests(parsed: unknown, depthMax: number): boolean {
  let level: List<unknown> = list();
  append(level, parsed);
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: List<unknown> = list();
    for (let at = 0; at < level.length; at += 1) {
      const part = level[at];
      if (typeof part === 'object' && part !== null) {
        if (depth === depthMax) {
          return true;
        }
        appendParts(next, part);
      }
    }
    level = next;
  }
  return false;
}

function appendParts(to: List<unknown>, of: object): void {
  const keys = keysOf(of);
  for (let at = 0; at < keys.length; at += 1) {
    append(to, (of as Record<string, unknown>)[keys[at] as string]);
  }
}

function cycleOf(part: unknown, holders: List<unknown>, paths: List<string>): string | undefined {
  if (typeof part !== 'object' || part === null) {
    return undefined;
  }
  for (let at = 0; at < holders.length; at += 1) {
    if (holders[at] === part) {
      return `refers back to ${paths[at]}: JSON cannot have a circular structure`;
    }
  }
  return undefined;
}

function pathTo(parent: string, holder: unknown, key: string): string {
  if (isArray(holder)) {
    return `${parent}[${key}]`;
  }
  return matches(/^[A-Za-z_$][\w$]*$/, key) ? `${parent}.${key}` : `${parent}[${jsonStringify(key)}]`;
}
