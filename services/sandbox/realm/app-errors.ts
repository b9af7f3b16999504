/**
 * The errors that a call rejects with. A program tells them apart by `name`, or by `instanceof`: the classes are
 * globals.
 */
import { construct, define, Error, hasOwn } from './primordials.ts';
import { setPosition } from './stack.ts';

export type AppErrorName = 'AppCallDenied' | 'AppCallFailed' | 'AppInputRequired';

type AppErrorClass = new (message: string) => Error;

function makeClass(name: AppErrorName): AppErrorClass {
  const made = { [name]: class extends Error {} }[name] as AppErrorClass;
  define(made.prototype, 'name', name);
  define(globalThis, name, made);
  return made;
}

const classes = {
  AppCallDenied: makeClass('AppCallDenied'),
  AppCallFailed: makeClass('AppCallFailed'),
  AppInputRequired: makeClass('AppInputRequired'),
} as const;

/** What the error is about, beside its message; in the order in which it is shown. */
export interface AppErrorDetails {
  readonly binding: string;
  readonly reason?: string;
  readonly operationId?: string;
}

/** An error of a call, placed where the program made the call. */
export function appError(
  name: AppErrorName,
  message: string,
  details: AppErrorDetails,
  position: string,
): Error {
  // Made by the engine for the class, without running the class: a program may have changed what that does.
  const error = construct(Error, [message], classes[name]) as Error;
  define(error, 'binding', details.binding, true);
  if (hasOwn(details, 'reason')) {
    define(error, 'reason', details.reason, true);
  }
  if (hasOwn(details, 'operationId')) {
    define(error, 'operationId', details.operationId, true);
  }
  setPosition(error, position);
  return error;
}
