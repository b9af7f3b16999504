/**
 * What the realm itself uses of the language, taken before any program runs. A program may replace, delete or
 * trap every global and every prototype; the bridge must not notice.
 *
 * P1  After the program has started, code of the bridge calls built-ins only through this file.
 * P2  It iterates nothing with the iterator protocol (no for-of, no spread, no array patterns).
 * P3  It writes only to objects without a prototype, or through `define`: an ordinary write looks for setters
 *     on Object.prototype.
 */

const { bind, call } = Function.prototype;

/** `uncurry(f)(self, ...args)` is `f.call(self, ...args)` without a look at `f` or at Function.prototype. */
export function uncurry<Self, Args extends unknown[], Result>(
  method: (this: Self, ...args: Args) => Result,
): (self: Self, ...args: Args) => Result {
  return bind.call(call, method) as (self: Self, ...args: Args) => Result;
}

function getterOf(owner: object, key: PropertyKey): (this: never) => unknown {
  const getter = Object.getOwnPropertyDescriptor(owner, key)?.get;
  if (getter === undefined) {
    throw new Error(`no getter ${String(key)}`);
  }
  return getter;
}

export const { apply, construct, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, deleteProperty } =
  Reflect;
export const { freeze, setPrototypeOf } = Object;
export const { isArray } = Array;
export const { min, max, imul } = Math;
export const { isFinite, isNaN } = Number;
export const { stringify: jsonStringify, parse: jsonParse } = JSON;
export const { Error, TypeError, ReferenceError, EvalError, Promise, Proxy, String } = globalThis;
export const { isError } = Error;
export const ObjectPrototype = Object.prototype;
export const PromisePrototype = Promise.prototype;
export const MapPrototype: object = Map.prototype;
export const SetPrototype: object = Set.prototype;

const NativeMap = Map;
const NativeWeakMap = WeakMap;
const defineProperty = Object.defineProperty;

/** Sets an own, plain, invisible property, past every setter. */
export function define(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  defineProperty(target, key, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
    enumerable,
  } as PropertyDescriptor);
}

/** Sets an own property that a program can neither write nor delete. */
export function defineFixed(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  defineProperty(target, key, {
    __proto__: null,
    value,
    writable: false,
    configurable: false,
    enumerable,
  } as PropertyDescriptor);
}

export function defineAccessor(
  target: object,
  key: PropertyKey,
  get: () => unknown,
  set?: (value: unknown) => void,
): void {
  defineProperty(target, key, {
    __proto__: null,
    get,
    set,
    configurable: true,
    enumerable: false,
  } as PropertyDescriptor);
}

export const hasOwn = Object.hasOwn;
/** Own enumerable names. */
export const keysOf = Object.keys;

/** A growing list whose writes meet no setter. */
export interface List<T> {
  [index: number]: T;
  length: number;
}

export function list<T>(): List<T> {
  return setPrototypeOf([], null) as List<T>;
}

export function append<T>(to: List<T>, value: T): void {
  to[to.length] = value;
}

// ---- Strings -----------------------------------------------------------------------------------
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const startsWith = uncurry(String.prototype.startsWith);
export const toLowerCase = uncurry(String.prototype.toLowerCase);
export const repeat = uncurry(String.prototype.repeat);
export const padStart = uncurry(String.prototype.padStart);
export const padEnd = uncurry(String.prototype.padEnd);
export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const symbolToString = uncurry(Symbol.prototype.toString);
export const numberToString = uncurry(Number.prototype.toString);

/** RegExp.prototype.exec by itself looks at nothing that a program can change, unlike test, match or replace. */
const exec = uncurry(RegExp.prototype.exec);
export function matches(pattern: RegExp, text: string): boolean {
  return exec(pattern, text) !== null;
}
/** The whole match and the groups, without a prototype. */
export function match(pattern: RegExp, text: string): List<string | undefined> | undefined {
  const found = exec(pattern, text);
  return found === null ? undefined : (setPrototypeOf(found, null) as List<string | undefined>);
}

// ---- Maps --------------------------------------------------------------------------------------
const mapGet = uncurry(NativeMap.prototype.get);
const mapSet = uncurry(NativeMap.prototype.set);
const mapDelete = uncurry(NativeMap.prototype.delete);
const mapHas = uncurry(NativeMap.prototype.has);
const mapSize = uncurry(getterOf(NativeMap.prototype, 'size'));

/** A Map that a program cannot reach into. */
export class SafeMap<K, V> {
  readonly #map = new NativeMap<K, V>();
  get(key: K): V | undefined {
    return mapGet(this.#map, key) as V | undefined;
  }
  set(key: K, value: V): void {
    mapSet(this.#map, key, value);
  }
  has(key: K): boolean {
    return mapHas(this.#map, key);
  }
  delete(key: K): boolean {
    return mapDelete(this.#map, key);
  }
  get size(): number {
    return mapSize(this.#map as never) as number;
  }
}

const weakGet = uncurry(NativeWeakMap.prototype.get);
const weakSet = uncurry(NativeWeakMap.prototype.set);
const weakHas = uncurry(NativeWeakMap.prototype.has);

/** A WeakMap that a program cannot reach into. */
export class SafeWeakMap<K extends WeakKey, V> {
  readonly #map = new NativeWeakMap<K, V>();
  get(key: K): V | undefined {
    return weakGet(this.#map, key) as V | undefined;
  }
  set(key: K, value: V): void {
    weakSet(this.#map, key, value);
  }
  has(key: K): boolean {
    return weakHas(this.#map, key);
  }
}

// ---- Promises ----------------------------------------------------------------------------------
/** Promise.withResolvers of the engine's own Promise. */
export const promiseWithResolvers = bind.call(
  Promise.withResolvers,
  Promise,
) as () => PromiseWithResolvers<unknown>;

/** Promise.prototype.then, for promises whose `constructor` is their own. */
export const thenOf = uncurry(PromisePrototype.then) as (
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => void,
  rejected?: (reason: unknown) => void,
) => void;

/**
 * Runs one of two functions when a promise settles. The promise must be the realm's own: a `constructor` of
 * its own keeps the engine from asking Promise.prototype and its species, which a program may have changed.
 */
export function whenSettled(
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  define(promise, 'constructor', undefined);
  thenOf(promise, fulfilled, rejected);
}

// ---- Errors ------------------------------------------------------------------------------------
export const errorToString = uncurry(Error.prototype.toString);
/** What V8 adds to the language's Error. */
export const V8Error = Error as ErrorConstructor & {
  stackTraceLimit: number;
  captureStackTrace(target: object, above?: unknown): void;
};
export const { captureStackTrace } = V8Error;
const stackGetter = getOwnPropertyDescriptor(new Error(), 'stack')?.get;
if (stackGetter === undefined) {
  throw new Error('this engine keeps no stack getter');
}
/** The engine's own reader of `stack`: formats the trace of an error, whatever a program did to the property. */
export const readStack = uncurry(stackGetter);

export const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...args: unknown[]) => Promise<unknown>;
