/**
 * What a program threw, as text. Anything can be thrown, and reading it may run the program's getters and traps:
 * every look is guarded, and happens inside the isolate, under its limits.
 */
import { helpAfter } from './absent.ts';
import { inspect } from './format.ts';
import { getOwnPropertyDescriptor, isArray, isError, min, startsWith } from './primordials.ts';
import { positionOf } from './stack.ts';
import { cut, utf8Bytes } from './text.ts';

export interface Thrown {
  readonly name: string;
  readonly message: string;
  /** "line:column" of the program as written, or "". */
  readonly position: string;
}

const nameBytesMax = 128;
/** Errors inside an error that are told, and how much of each. */
const innerErrorsMax = 3;
const innerBytesMax = 500;

/** `callsOut`: a call had not settled yet when it was thrown. */
export function describe(thrown: unknown, messageBytesMax: number, callsOut: boolean): Thrown {
  if (!isObject(thrown)) {
    return {
      name: 'Error',
      message: cut(primitiveMessage(thrown, messageBytesMax), messageBytesMax),
      position: '',
    };
  }
  const message = read(thrown, 'message');
  if (message === undefined) {
    return {
      name: 'Error',
      message: cut(`the program threw ${inspect(thrown, messageBytesMax)}`, messageBytesMax),
      position: positionOf(thrown),
    };
  }
  const name = cut(read(thrown, 'name') || 'Error', nameBytesMax);
  const more =
    helpAfter(name, cut(message, messageBytesMax), callsOut) +
    (startsWith(name, 'App') ? guarded(about, thrown) : '') +
    guarded(inner, thrown);
  return {
    name,
    message: cut(message, messageBytesMax - utf8Bytes(more)) + more,
    position: positionOf(thrown),
  };
}

function guarded(tell: (thrown: object) => string, thrown: object): string {
  try {
    return tell(thrown);
  } catch {
    return '';
  }
}

function primitiveMessage(thrown: unknown, charactersMax: number): string {
  return typeof thrown === 'string' ? thrown : `the program threw ${inspect(thrown, charactersMax)}`;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A property that is a string; undefined if it is not, or cannot be read. */
function read(thrown: object, key: string): string | undefined {
  try {
    const value = (thrown as Record<string, unknown>)[key];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Which call it was, for the errors of calls. */
function about(thrown: object): string {
  const binding = ownText(thrown, 'binding');
  if (binding === undefined) {
    return '';
  }
  const reason = ownText(thrown, 'reason');
  return reason === undefined ? ` (${binding})` : ` (${binding}: ${reason})`;
}

/** The errors inside an AggregateError, and the cause of any other. */
function inner(thrown: object): string {
  const errors = ownValue(thrown, 'errors');
  let text = '';
  if (isArray(errors)) {
    const shown = min(errors.length, innerErrorsMax);
    for (let at = 0; at < shown; at += 1) {
      text += `\n- ${short(ownValue(errors, `${at}`))}`;
    }
    if (errors.length > shown) {
      text += `\n- … ${errors.length - shown} more`;
    }
  }
  const cause = ownValue(thrown, 'cause');
  return cause === undefined ? text : `${text}\ncause: ${short(cause)}`;
}

function short(value: unknown): string {
  if (!isErrorObject(value)) {
    return cut(inspect(value, innerBytesMax), innerBytesMax);
  }
  const name = read(value, 'name') ?? 'Error';
  const message = read(value, 'message') ?? '';
  return cut(message === '' ? name : `${name}: ${message}`, innerBytesMax);
}

function isErrorObject(value: unknown): value is object {
  return isObject(value) && isError(value);
}

function ownText(thrown: object, key: string): string | undefined {
  const value = ownValue(thrown, key);
  return typeof value === 'string' ? cut(value, nameBytesMax) : undefined;
}

function ownValue(thrown: object, key: string): unknown {
  try {
    return getOwnPropertyDescriptor(thrown, key)?.value as unknown;
  } catch {
    return undefined;
  }
}
