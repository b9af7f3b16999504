/**
 * The engine's own readers of what lies inside built-in objects. Each knows its kind by the inner slot, not by
 * anything that a program can fake, and gives undefined for every other value.
 */
import {
  append,
  errorToString,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isNaN,
  type List,
  list,
  readStack,
  uncurry,
} from './primordials.ts';

function getter(owner: object, key: PropertyKey): (value: unknown) => unknown {
  const get = getOwnPropertyDescriptor(owner, key)?.get;
  if (get === undefined) {
    throw new Error(`no getter ${String(key)}`);
  }
  return uncurry(get) as (value: unknown) => unknown;
}

/** Asks a reader that throws for values of another kind. */
function ask<T>(read: (value: unknown) => unknown): (value: object) => T | undefined {
  return (value) => {
    try {
      return read(value) as T;
    } catch {
      return undefined;
    }
  };
}

const typedArray = getPrototypeOf(Uint8Array.prototype) as object;
const typedArrayName = getter(typedArray, Symbol.toStringTag);
const typedLength = getter(typedArray, 'length');
const dateTime = uncurry(Date.prototype.getTime) as (value: unknown) => number;
const dateIso = uncurry(Date.prototype.toISOString) as (value: unknown) => string;
const regExpSource = getter(RegExp.prototype, 'source');
const regExpFlags = getter(RegExp.prototype, 'flags');
const functionToString = uncurry(Function.prototype.toString) as (value: unknown) => string;
const mapForEach = uncurry(Map.prototype.forEach) as (
  map: unknown,
  each: (value: unknown, key: unknown) => void,
) => void;
const setForEach = uncurry(Set.prototype.forEach) as (set: unknown, each: (value: unknown) => void) => void;
const unbox = [
  ask(uncurry(Number.prototype.valueOf) as (value: unknown) => unknown),
  ask(uncurry(String.prototype.valueOf) as (value: unknown) => unknown),
  ask(uncurry(Boolean.prototype.valueOf) as (value: unknown) => unknown),
  ask(uncurry(BigInt.prototype.valueOf) as (value: unknown) => unknown),
  ask(uncurry(Symbol.prototype.valueOf) as (value: unknown) => unknown),
] as const;

const texts: List<(value: object) => string | undefined> = list();
for (const name of Object.getOwnPropertyNames(Temporal) as (keyof typeof Temporal)[]) {
  const prototype: unknown = (Temporal[name] as { prototype?: unknown }).prototype;
  if (prototype !== undefined) {
    append(texts, ask(uncurry((prototype as Date).toString) as (value: unknown) => unknown));
  }
}

/** Adds a reader of the text of a kind of values that is made late. It throws for every other kind. */
export function addTextReader(read: (this: never) => unknown): void {
  append(texts, ask(uncurry(read) as (value: unknown) => unknown));
}

export const readers = {
  mapSize: ask<number>(getter(Map.prototype, 'size')),
  setSize: ask<number>(getter(Set.prototype, 'size')),
  mapEach: mapForEach,
  setEach: setForEach,
  bufferLength: ask<number>(getter(ArrayBuffer.prototype, 'byteLength')),
  stack: ask<string>(readStack as (value: unknown) => unknown),
  functionText(value: object): string {
    return functionToString(value);
  },
  errorText(value: object): string {
    return errorToString(value as Error);
  },
  /** "Uint8Array", or undefined if it is none. */
  typedArrayName: typedArrayName as (value: object) => string | undefined,
  typedArrayLength(value: object): number | undefined {
    return typedArrayName(value) === undefined ? undefined : (typedLength(value) as number);
  },
  dateText: ask<string>((value) => (isNaN(dateTime(value)) ? 'Invalid Date' : dateIso(value))),
  regExpText: ask<string>((value) => `/${regExpSource(value)}/${regExpFlags(value)}`),
  /** The text of what is best shown as text: a moment, a duration, a URL. */
  textOf(value: object): string | undefined {
    for (let at = 0; at < texts.length; at += 1) {
      const text = (texts[at] as (value: object) => string | undefined)(value);
      if (text !== undefined) {
        return text;
      }
    }
    return undefined;
  },
  /** The primitive in a wrapper object. */
  boxed(value: object): { readonly value: unknown } | undefined {
    for (let at = 0; at < unbox.length; at += 1) {
      const primitive = (unbox[at] as (value: object) => unknown)(value);
      if (primitive !== undefined) {
        return { value: primitive };
      }
    }
    return undefined;
  },
} as const;
