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

/** Buffers that grow or move escape the isolate's count of memory. */
const bufferMethods = ['resize', 'maxByteLength', 'resizable', 'transfer', 'transferToFixedLength'] as const;

export function removeBuiltIns(): void {
  for (const name of globals) {
    remove(globalThis, name);
  }
  remove(Intl, 'v8BreakIterator');
  for (const name of bufferMethods) {
    remove(ArrayBuffer.prototype, name);
  }
  fixBufferSizes();
  refuseCodeFromStrings();
}

function remove(owner: object, name: string): void {
  if (!deleteProperty(owner, name)) {
    throw new TypeError(`cannot remove ${name}`);
  }
}

/** An ArrayBuffer without options: nothing makes a resizable one. */
function fixBufferSizes(): void {
  const Native = ArrayBuffer;
  const { prototype } = Native;
  function FixedArrayBuffer(length: unknown): unknown {
    if (new.target === undefined) {
      throw new TypeError("Constructor ArrayBuffer requires 'new'");
    }
    return construct(Native, [length], new.target);
  }
  define(FixedArrayBuffer, 'name', 'ArrayBuffer');
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
