/**
 * The calls of the run: issued in order with an index each, settled once each by the host.
 *
 * C1  An index is given only when the call is certain to reach the host: everything that can fail comes before.
 * C2  A call that cannot go out is refused like an outcome: at a rest, one at a time. The engine tells of one
 *     unhandled rejection for each entry, so each refusal must have an entry of its own.
 * C3  What the program gets is the engine's own promise; `then` of it works however the program has changed
 *     Promise.
 */
import { type AppErrorName, appError } from './app-errors.ts';
import { type Emit, emitKind, settleKind } from './contract.ts';
import { argumentsToJson } from './json.ts';
import {
  append,
  charCodeAt,
  defineAccessor,
  Error,
  isArray,
  jsonParse,
  type List,
  list,
  PromisePrototype,
  promiseWithResolvers,
  SafeMap,
  setPrototypeOf,
  TypeError,
} from './primordials.ts';
import { currentPosition } from './stack.ts';
import { needStackRoom } from './stack-room.ts';
import { isLonger } from './text.ts';

interface Outstanding {
  readonly binding: string;
  readonly position: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Refused {
  readonly error: unknown;
  readonly reject: (reason: unknown) => void;
}

interface TooMany {
  readonly binding: string;
  readonly error: Error;
}

const outstanding = new SafeMap<number, Outstanding>();
/** Calls that never went out, from `refusedSettled` on. */
const refused: List<Refused | undefined> = list();
let refusedSettled = 0;
let tooMany: TooMany | undefined;
let emit: Emit;
let issued = 0;
let callsMax = 0;
let argumentsBytesMax = 0;
let jsonDepthMax = 0;

export function openCalls(
  to: Emit,
  limits: { readonly callsMax: number; readonly argumentsBytesMax: number; readonly jsonDepthMax: number },
): void {
  emit = to;
  callsMax = limits.callsMax;
  argumentsBytesMax = limits.argumentsBytesMax;
  jsonDepthMax = limits.jsonDepthMax;
}

/** Calls that have not settled: those with the host, and those that never went out. */
export function unsettledCalls(): number {
  return outstanding.size + refusedCalls();
}

export function refusedCalls(): number {
  return refused.length - refusedSettled;
}

/** Settles the next call that never went out. */
export function settleRefused(): void {
  const call = refused[refusedSettled];
  if (call !== undefined) {
    refused[refusedSettled] = undefined;
    refusedSettled += 1;
    call.reject(call.error);
  }
}

/** Issues a call. `below` is the function that the program called. Failures of the arguments reject. */
export function issueCall(binding: string, args: unknown, below: unknown): Promise<unknown> {
  needStackRoom();
  const { promise, resolve, reject } = promiseWithResolvers();
  setPrototypeOf(promise, callPromisePrototype);
  let json: string;
  try {
    json = checkedArguments(binding, args);
  } catch (error) {
    append(refused, { __proto__: null, error, reject } as Refused);
    return promise;
  }
  const position = currentPosition(below);
  const index = issued;
  issued += 1;
  outstanding.set(index, { __proto__: null, binding, position, resolve, reject } as Outstanding);
  emit(emitKind.call, index, binding, json, position);
  return promise;
}

function checkedArguments(binding: string, args: unknown): string {
  const json = args === undefined ? '{}' : jsonOf(binding, args);
  // Behind what may run code of the program: a toJSON can make calls of its own.
  if (issued >= callsMax) {
    throw tooManyCalls(binding);
  }
  return json;
}

/** One error for all such calls in a row: a hundred thousand of them would take the program's memory. */
function tooManyCalls(binding: string): Error {
  if (tooMany?.binding !== binding) {
    const message = `apps.${binding}: this run has made ${issued} calls, the most that a run may make`;
    tooMany = { __proto__: null, binding, error: new Error(message) } as TooMany;
  }
  return tooMany.error;
}

function jsonOf(binding: string, args: unknown): string {
  if (typeof args !== 'object' || args === null || isArray(args)) {
    throw new TypeError(`apps.${binding} takes one object of named arguments, not ${kindOf(args)}`);
  }
  const json = argumentsToJson(args, binding, jsonDepthMax);
  if (json === undefined || charCodeAt(json, 0) !== 0x7b) {
    throw new TypeError(`apps.${binding} takes one object of named arguments, not what its toJSON gives`);
  }
  if (isLonger(json, argumentsBytesMax)) {
    throw new Error(
      `apps.${binding}: the arguments have more than ${argumentsBytesMax} bytes of JSON, the most that a call may have`,
    );
  }
  return json;
}

function kindOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (typeof value === 'object') {
    return 'an array';
  }
  return `a ${typeof value}`;
}

/** Settles a call as the host says. False if it is not outstanding. */
export function settleCall(index: number, kind: number, a: string, b: string): boolean {
  const call = outstanding.get(index);
  if (call === undefined) {
    return false;
  }
  outstanding.delete(index);
  switch (kind) {
    case settleKind.completed:
      complete(call, a);
      break;
    case settleKind.failed:
      fail(call, 'AppCallFailed', b, { reason: a });
      break;
    case settleKind.denied:
      fail(call, 'AppCallDenied', a, {});
      break;
    case settleKind.inputRequired:
      fail(
        call,
        'AppInputRequired',
        'the app needs more input: answer it outside the program, then run again',
        {
          operationId: a,
        },
      );
      break;
    default:
      fail(call, 'AppCallFailed', `the host settled the call in an unknown way (${kind})`, {
        reason: 'Internal',
      });
  }
  return true;
}

function complete(call: Outstanding, json: string): void {
  let value: unknown;
  try {
    value = jsonParse(json);
  } catch {
    fail(call, 'AppCallFailed', 'the result of the call is not JSON', { reason: 'Internal' });
    return;
  }
  call.resolve(value);
}

function fail(
  call: Outstanding,
  name: AppErrorName,
  message: string,
  details: { readonly reason?: string; readonly operationId?: string },
): void {
  call.reject(
    appError(name, message, { __proto__: null, binding: call.binding, ...details } as never, call.position),
  );
}

// ---- Forgotten awaits --------------------------------------------------------------------------

/** What the results of tools, resources and prompts have, and a promise has not. */
const resultFields = ['content', 'structuredContent', 'isError', 'contents', 'messages'] as const;

/** Where a program reads a field of a result from the promise of it, it forgot to await: say so right there. */
const callPromisePrototype = Object.create(PromisePrototype) as object;
for (const field of resultFields) {
  defineAccessor(callPromisePrototype, field, () => {
    throw new TypeError(
      `Cannot read '${field}' of a call that was not awaited: a call gives a promise, so write (await apps.…(…)).${field}`,
    );
  });
}
