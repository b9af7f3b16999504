/**
 * Values as readable text, for console and for what a program throws. Close to what Node.js prints.
 *
 * F1  Never throws, whatever the value does: every look into it is guarded. What loops meets the time limit.
 * F2  Never runs a getter.
 * F3  Bounded: depth, entries of each collection, and characters in all.
 */

import { isPromiseLike, nameOf, ownText } from './class-name.ts';
import { keyText, quote, wrap } from './layout.ts';
import {
  append,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isError,
  type List,
  list,
  matches,
  min,
  numberToString,
  ObjectPrototype,
  ownKeys,
  String,
  startsWith,
  symbolToString,
} from './primordials.ts';
import { readers } from './readers.ts';

const depthMax = 6;
const entriesMax = 100;

interface Work {
  /** Characters that may still be made. */
  left: number;
  /** What is being shown, outermost first. */
  readonly within: List<object>;
}

/** One value. A string stands for itself. */
export function format(value: unknown, charactersMax: number): string {
  return typeof value === 'string' ? value : inspect(value, charactersMax);
}

/** One value, strings quoted. An eighth is left for brackets, indents and marks of what was left out. */
export function inspect(value: unknown, charactersMax: number): string {
  return show(value, { left: charactersMax - (charactersMax >> 3), within: list() });
}

function show(value: unknown, work: Work): string {
  try {
    const text = showUnguarded(value, work);
    work.left -= text.length;
    return text;
  } catch {
    return '[unreadable]';
  }
}

function showUnguarded(value: unknown, work: Work): string {
  switch (typeof value) {
    case 'string':
      return quote(value, work.left);
    case 'number':
      return value === 0 && 1 / value < 0 ? '-0' : numberToString(value);
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return symbolToString(value);
    case 'function':
      return showFunction(value, work);
    case 'object':
      return value === null ? 'null' : showObject(value, work);
    default:
      return String(value);
  }
}

function showFunction(value: object, work: Work): string {
  const name = ownText(value, 'name');
  const kind = startsWith(readers.functionText(value), 'class') ? 'class' : 'Function';
  const head = name === undefined || name === '' ? `[${kind} (anonymous)]` : `[${kind}: ${name}]`;
  return withProperties(head, value, work, skipFunction);
}

function showObject(value: object, work: Work): string {
  const { within } = work;
  for (let at = 0; at < within.length; at += 1) {
    if (within[at] === value) {
      return '[Circular]';
    }
  }
  if (isError(value)) {
    return showError(value, work);
  }
  const name = nameOf(value);
  if (within.length >= depthMax || work.left <= 0) {
    return isArray(value) ? '[Array]' : `[${name}]`;
  }
  append(within, value);
  try {
    return showContent(value, name, work);
  } finally {
    within.length -= 1;
  }
}

function showContent(value: object, name: string, work: Work): string {
  if (isArray(value)) {
    return showArray(value, value.length, name === 'Array' ? '' : `${name}(${value.length}) `, work);
  }
  const prototype = getPrototypeOf(value);
  const special =
    prototype !== ObjectPrototype && prototype !== null ? showBuiltIn(value, name, work) : undefined;
  if (special !== undefined) {
    return special;
  }
  const parts: List<string> = list();
  appendProperties(parts, value, work, skipNothing);
  return wrap(name === 'Object' ? '' : `${name} `, '{', parts, '}', work.within.length);
}

/** What has more in it than its properties; undefined if the value has not. Asking costs, so plain objects are not asked. */
function showBuiltIn(value: object, name: string, work: Work): string | undefined {
  const mapSize = readers.mapSize(value);
  if (mapSize !== undefined) {
    return showMap(value, `${name}(${mapSize}) `, work);
  }
  const setSize = readers.setSize(value);
  if (setSize !== undefined) {
    return showSet(value, `${name}(${setSize}) `, work);
  }
  const time = readers.dateText(value);
  if (time !== undefined) {
    return withProperties(time, value, work, skipNothing);
  }
  const pattern = readers.regExpText(value);
  if (pattern !== undefined) {
    return withProperties(pattern, value, work, skipLastIndex);
  }
  const typedLength = readers.typedArrayLength(value);
  if (typedLength !== undefined) {
    return showArray(value, typedLength, `${name}(${typedLength}) `, work);
  }
  const bytes = readers.bufferLength(value);
  if (bytes !== undefined) {
    return `${name} { byteLength: ${bytes} }`;
  }
  const primitive = readers.boxed(value);
  if (primitive !== undefined) {
    return `[${name}: ${show(primitive.value, work)}]`;
  }
  if (isPromiseLike(value)) {
    return 'Promise { not awaited }';
  }
  const text = readers.textOf(value);
  return text === undefined ? undefined : `${name} ${text}`;
}

function showArray(value: object, length: number, prefix: string, work: Work): string {
  const parts: List<string> = list();
  const shown = min(length, entriesMax);
  let at = 0;
  for (; at < shown && work.left > 0; at += 1) {
    append(parts, showProperty(value, numberToString(at), work) ?? 'empty');
  }
  if (length > at) {
    append(parts, `… ${length - at} more items`);
  }
  if (isArray(value)) {
    appendProperties(parts, value, work, skipElements);
  }
  return wrap(prefix, '[', parts, ']', work.within.length);
}

function showMap(value: object, prefix: string, work: Work): string {
  const parts: List<string> = list();
  let count = 0;
  readers.mapEach(value, (entry, key) => {
    count += 1;
    if (count <= entriesMax && work.left > 0) {
      append(parts, `${show(key, work)} => ${show(entry, work)}`);
    }
  });
  if (count > parts.length) {
    append(parts, `… ${count - parts.length} more items`);
  }
  return wrap(prefix, '{', parts, '}', work.within.length);
}

function showSet(value: object, prefix: string, work: Work): string {
  const parts: List<string> = list();
  let count = 0;
  readers.setEach(value, (entry) => {
    count += 1;
    if (count <= entriesMax && work.left > 0) {
      append(parts, show(entry, work));
    }
  });
  if (count > parts.length) {
    append(parts, `… ${count - parts.length} more items`);
  }
  return wrap(prefix, '{', parts, '}', work.within.length);
}

/** The stack, which begins with name and message; then what else the error carries. */
function showError(value: object, work: Work): string {
  if (work.within.length >= depthMax) {
    return '[Error]';
  }
  append(work.within, value);
  try {
    return withProperties(errorHead(value), value, work, skipError) + showCause(value, work);
  } finally {
    work.within.length -= 1;
  }
}

function errorHead(value: object): string {
  const stack = readers.stack(value);
  const own = ownText(value, 'stack');
  return own ?? stack ?? readers.errorText(value);
}

function showCause(value: object, work: Work): string {
  const cause = getOwnPropertyDescriptor(value, 'cause');
  return cause !== undefined && hasOwn(cause, 'value') ? `\n  cause: ${show(cause.value, work)}` : '';
}

// ---- Properties --------------------------------------------------------------------------------

type Skip = (key: string) => boolean;
const skipNothing: Skip = () => false;
const skipLastIndex: Skip = (key) => key === 'lastIndex';
const skipFunction: Skip = (key) => key === 'prototype' || key === 'name' || key === 'length';
const skipError: Skip = (key) => key === 'stack' || key === 'message' || key === 'cause' || key === 'name';
const skipElements: Skip = (key) => matches(/^\d+$/, key);

function withProperties(head: string, value: object, work: Work, skip: Skip): string {
  const parts: List<string> = list();
  if (work.left > 0) {
    appendProperties(parts, value, work, skip);
  }
  return parts.length === 0 ? head : wrap(`${head} `, '{', parts, '}', work.within.length);
}

/** Own enumerable properties, and those whose key is a symbol. */
function appendProperties(parts: List<string>, value: object, work: Work, skip: Skip): void {
  const keys = ownKeys(value);
  let shown = 0;
  let more = 0;
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string | symbol;
    if (typeof key === 'string' && skip(key)) {
      continue;
    }
    if (shown >= entriesMax || work.left <= 0) {
      more = keys.length - at;
      break;
    }
    const text = showProperty(value, key, work);
    if (text !== undefined) {
      shown += 1;
      append(parts, `${keyText(key)}: ${text}`);
    }
  }
  if (more > 0) {
    append(parts, `… ${more} more`);
  }
}

function showProperty(value: object, key: string | symbol, work: Work): string | undefined {
  const property = getOwnPropertyDescriptor(value, key);
  if (property === undefined || property.enumerable !== true) {
    return undefined;
  }
  if (hasOwn(property, 'value')) {
    return show(property.value, work);
  }
  return property.get === undefined ? '[Setter]' : '[Getter]';
}
