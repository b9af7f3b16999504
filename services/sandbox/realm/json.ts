/**
 * The two ways from values of the program to text: arguments of a call and the returned value. What JSON cannot
 * say is refused by its path; what JSON says nothing about (undefined, a function in a result) is as JSON has it.
 *
 * The fast way is the engine's own. Only if it fails is the value walked again, to name the place.
 */
import {
  append,
  getPrototypeOf,
  isArray,
  isError,
  jsonStringify,
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

/** JSON text of a call's arguments. Throws a TypeError that names the place of what is not JSON. */
export function argumentsToJson(value: unknown): string | undefined {
  return toJson(value, 'args', flawOfArgument);
}

/** JSON text of the returned value, undefined if JSON has none. Throws a TypeError for a cycle or a BigInt. */
export function resultToJson(value: unknown): string | undefined {
  return toJson(value, 'result', undefined);
}

/** What in a returned value JSON shows as `{}` though there is more to it. Undefined if there is nothing. */
export function lossInResult(value: unknown): string | undefined {
  const flaw = findFlaw(value, 'result', lossOf);
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

function toJson(value: unknown, root: string, flawOf: FlawOf | undefined): string | undefined {
  try {
    if (flawOf === undefined) {
      return jsonStringify(value);
    }
    return jsonStringify(value, (_, part: unknown) => {
      if (flawOf(part) !== undefined) {
        throw stop;
      }
      return part;
    });
  } catch (thrown) {
    const flaw = findFlaw(value, root, flawOf ?? flawOfBigInt);
    if (flaw !== undefined) {
      throw new TypeError(`${flaw.path} ${flaw.what}`);
    }
    throw thrown === stop ? new TypeError(`${root} cannot be written as JSON`) : thrown;
  }
}

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

/**
 * Writes the value once more with a replacer that keeps the path: `this` is the holder of each part, so the way
 * back up to it is known.
 */
function findFlaw(value: unknown, root: string, flawOf: FlawOf): Flaw | undefined {
  const holders: List<unknown> = list();
  const paths: List<string> = list();
  let flaw: Flaw | undefined;
  try {
    jsonStringify(value, function (this: unknown, key: string, part: unknown) {
      while (holders.length > 0 && holders[holders.length - 1] !== this) {
        holders.length -= 1;
        paths.length -= 1;
      }
      const path = holders.length === 0 ? root : pathTo(paths[paths.length - 1] as string, this, key);
      const what = flawOf(part) ?? cycleOf(part, holders, paths);
      if (what !== undefined) {
        flaw = { path, what };
        throw stop;
      }
      if (typeof part === 'object' && part !== null) {
        append(holders, part);
        append(paths, path);
      }
      return part;
    });
  } catch {
    // Either the flaw was found, or the value cannot even be walked: then there is no place to name.
  }
  return flaw;
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
