/**
 * structuredClone: deep copies of what the standard can copy, cycles and shared parts kept. A buffer that is to
 * be transferred is copied too, and detached when all of the copy is made.
 */
import { readers } from '../readers.ts';
import { named } from './named-error.ts';

const errorConstructors: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

type Copies = Map<object, object>;

export function structuredClone(
  value: unknown,
  options?: { readonly transfer?: Iterable<unknown> },
): unknown {
  const transferred = transferList(options?.transfer ?? []);
  const made = copy(value, new Map());
  for (const buffer of transferred) {
    buffer.transfer(0);
  }
  return made;
}

function transferList(transfer: Iterable<unknown>): ReadonlySet<ArrayBuffer> {
  const buffers = new Set<ArrayBuffer>();
  for (const item of transfer) {
    const isBuffer = typeof item === 'object' && item !== null && readers.bufferLength(item) !== undefined;
    if (!isBuffer) {
      throw refusal('only an ArrayBuffer can be transferred');
    }
    const buffer = item as ArrayBuffer;
    if (buffer.detached || buffers.has(buffer)) {
      throw refusal(`a buffer ${buffer.detached ? 'that is detached' : 'twice'} cannot be transferred`);
    }
    buffers.add(buffer);
  }
  return buffers;
}

function refusal(message: string): Error {
  return named('DataCloneError', `structuredClone: ${message}`);
}

function copy(value: unknown, copies: Copies): unknown {
  if (typeof value === 'symbol') {
    throw refusal(`${String(value)} cannot be copied`);
  }
  if (typeof value === 'function') {
    throw refusal('a function cannot be copied');
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const known = copies.get(value);
  return known ?? copyObject(value, copies);
}

function copyObject(value: object, copies: Copies): object {
  const simple = copySimple(value, copies);
  if (simple !== undefined) {
    copies.set(value, simple);
    return simple;
  }
  const tag = Object.prototype.toString.call(value);
  if (tag === '[object Promise]' || tag === '[object WeakMap]' || tag === '[object WeakSet]') {
    throw refusal(`a ${tag.slice(8, -1)} cannot be copied`);
  }
  if (readers.mapSize(value) !== undefined) {
    const made = new Map<unknown, unknown>();
    copies.set(value, made);
    readers.mapEach(value, (entry, key) => made.set(copy(key, copies), copy(entry, copies)));
    return made;
  }
  if (readers.setSize(value) !== undefined) {
    const made = new Set<unknown>();
    copies.set(value, made);
    readers.setEach(value, (entry) => made.add(copy(entry, copies)));
    return made;
  }
  if (Error.isError(value)) {
    return copyError(value, copies);
  }
  const made: object = Array.isArray(value) ? new Array(value.length) : {};
  copies.set(value, made);
  for (const key of Object.keys(value)) {
    Object.defineProperty(made, key, {
      value: copy((value as Record<string, unknown>)[key], copies),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return made;
}

/** Copies of what holds nothing else: undefined if the value is of another kind. */
function copySimple(value: object, copies: Copies): object | undefined {
  if (readers.dateText(value) !== undefined) {
    return new Date((value as Date).getTime());
  }
  if (readers.regExpText(value) !== undefined) {
    const { source, flags } = value as RegExp;
    return new RegExp(source, flags);
  }
  if (readers.bufferLength(value) !== undefined) {
    if ((value as ArrayBuffer).detached) {
      throw refusal('a detached ArrayBuffer cannot be copied');
    }
    return (value as ArrayBuffer).slice(0);
  }
  if (ArrayBuffer.isView(value)) {
    return copyView(value, copies);
  }
  const boxed = readers.boxed(value);
  if (boxed !== undefined) {
    if (typeof boxed.value === 'symbol') {
      throw refusal('a symbol cannot be copied');
    }
    return Object(boxed.value) as object;
  }
  return undefined;
}

function copyView(value: ArrayBufferView, copies: Copies): object {
  const buffer = copy(value.buffer, copies) as ArrayBuffer;
  const length = readers.typedArrayLength(value);
  if (length === undefined) {
    return new DataView(buffer, value.byteOffset, value.byteLength);
  }
  const name = readers.typedArrayName(value) as 'Uint8Array';
  return new globalThis[name](buffer, value.byteOffset, length);
}

function copyError(value: Error, copies: Copies): Error {
  const constructor = errorConstructors[value.name] ?? Error;
  const made = new constructor(value.message);
  copies.set(value, made);
  for (const key of ['stack', 'cause'] as const) {
    if (Object.hasOwn(value, key)) {
      Object.defineProperty(made, key, {
        value: copy(value[key], copies),
        configurable: true,
        enumerable: false,
        writable: true,
      });
    }
  }
  return made;
}
