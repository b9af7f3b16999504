/**
 * What is taken out of the language: threads, real time, garbage collection made visible, memory that the
 * isolate's limit does not count, and code made from strings.
 *
 * Code from strings is refused since it has no position in the program and models use it only to probe. The
 * program itself is compiled with the engine's own constructor, kept by the realm.
 */
import {
  construct,
  define,
  defineAccessor,
  defineFixed,
  deleteProperty,
  EvalError,
  TypeError,
} from './primordials.ts';

const globals = [
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'WeakRef',
  'FinalizationRegistry',
  'console',
] as const;

export function removeBuiltIns(): void {
  for (const name of globals) {
    remove(globalThis, name);
  }
  remove(Intl, 'v8BreakIterator');
  refuseBuffersThatGrow();
  refuseCodeFromStrings();
}

function remove(owner: object, name: string): void {
  if (!deleteProperty(owner, name)) {
    throw new TypeError(`cannot remove ${name}`);
  }
}

/**
 * The isolate's count leaves out what a resizable buffer grows by; nothing but the constructor makes one. A
 * buffer that moves (`transfer`) is counted, and stays.
 */
function refuseBuffersThatGrow(): void {
  const Native = ArrayBuffer;
  const { prototype } = Native;
  function FixedArrayBuffer(length: unknown, options?: { readonly maxByteLength?: unknown }): unknown {
    if (new.target === undefined) {
      throw new TypeError("Constructor ArrayBuffer requires 'new'");
    }
    if (isObject(options) && options.maxByteLength !== undefined) {
      throw new TypeError(
        'An ArrayBuffer cannot be made to grow here: leave out maxByteLength, and get a larger one with transfer(newLength).',
      );
    }
    return construct(Native, [length], new.target);
  }
  define(FixedArrayBuffer, 'name', 'ArrayBuffer');
  define(FixedArrayBuffer, 'length', 1);
  defineFixed(FixedArrayBuffer, 'prototype', prototype);
  define(FixedArrayBuffer, 'isView', Native.isView);
  defineAccessor(
    FixedArrayBuffer,
    Symbol.species,
    {
      get(this: unknown) {
        return this;
      },
    }.get,
  );
  define(prototype, 'constructor', FixedArrayBuffer);
  define(globalThis, 'ArrayBuffer', FixedArrayBuffer);
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function refuseCodeFromStrings(): void {
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}] as const;
  for (const kind of kinds) {
    const prototype = Object.getPrototypeOf(kind) as { constructor: { name: string } };
    const { name } = prototype.constructor;
    const refusing = refuser(name);
    define(refusing, 'length', 1);
    defineFixed(refusing, 'prototype', prototype);
    define(prototype, 'constructor', refusing);
    if (name === 'Function') {
      define(globalThis, 'Function', refusing);
    }
  }
  const evaluate = { eval: () => refuser('eval')() };
  define(globalThis, 'eval', evaluate.eval);
}

/** A function that can be called with and without `new`, and throws. */
function refuser(name: string): () => never {
  function refuse(): never {
    throw new EvalError(`${name} cannot make code from strings here: write the code in the program itself.`);
  }
  define(refuse, 'name', name);
  return refuse;
}
