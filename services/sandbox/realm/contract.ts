/**
 * The boundary into the isolate, seen from both sides. Only text and numbers cross it.
 *
 * The realm is one text, evaluated in a fresh context as the body of a strict closure that gets `emit`
 * (the one host callback) and gives back a `RealmApi`. `start` and `settle` run the program until every
 * microtask is drained: when the host has them back, the program is at rest. The host then asks `rest`, which
 * alone emits the end.
 *
 * The engine reports a rejection that nobody handled as an exception of what was entered, after the drain and
 * in place of what it gives. Unless the isolate is gone, the host hands its text to `unhandled` and goes on.
 * Of several in one entry it reports the first alone, and none whose promise was collected before.
 */

/** What the realm tells its host. Numbers, since they cross the boundary on every call. */
export const emitKind = {
  /** emit(call, index, binding, argumentsJson, position): position is "line:column" of the program as written, or "". */
  call: 1,
  /** emit(log, level, text, "", ""): level is an index into `logLevels`. */
  log: 2,
  /** emit(returned, 0, valueJson, "", ""): the program returned and every call it issued has settled. */
  returned: 3,
  /** emit(returnedUndefined, 0, "", "", ""). */
  returnedUndefined: 4,
  /** emit(threw, 0, errorName, message, position): the program threw and every call it issued has settled. */
  threw: 5,
  /** emit(outputTooLarge, bytes, "", "", ""): the return value is `bytes` of JSON, more than outputBytes. */
  outputTooLarge: 6,
  /**
   * emit(locate, 0, script, "", "") asks where the first syntax error of a script is: "line:column", or "" if
   * there is none. The host compiles the script and never runs it. Only asked when a program does not compile.
   */
  locate: 7,
} as const;

/** Answers text to `locate`, and nothing to all else. A log line must be on its way when it returns. */
export type Emit = (kind: number, a: number, b: string, c: string, d: string) => string | undefined;

/** What the realm may say about a full log, beside outputBytes of lines. An empty line counts as one byte. */
export const logEndBytesMax = 256;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** How a call settles. */
export const settleKind = {
  /** settle(index, completed, valueJson, ""). */
  completed: 1,
  /** settle(index, failed, reason, message): AppCallFailed. */
  failed: 2,
  /** settle(index, denied, message, ""): AppCallDenied. */
  denied: 3,
  /** settle(index, inputRequired, operationId, ""): AppInputRequired. */
  inputRequired: 4,
} as const;

/** What `rest` answers. */
export const restKind = {
  /** Calls are with the host. */
  waiting: 0,
  /** An end was emitted. */
  ended: 1,
  /** A call that never went out is to be settled, by `settleRefused`; then the host asks again. */
  refused: 2,
} as const;

/** The job as the realm gets it, as JSON text beside the program. */
export interface RealmJob {
  readonly createdAtMs: number;
  /** Four unsigned 32-bit words. */
  readonly seed: readonly [number, number, number, number];
  readonly outputBytes: number;
  readonly logLineBytesMax: number;
  /** Most of an error's message that is kept. */
  readonly messageBytesMax: number;
  readonly callsMax: number;
  readonly argumentsBytesMax: number;
  /** Levels of arguments, and of the returned value. */
  readonly jsonDepthMax: number;
  /** [connection, capability, connection raw name, capability raw name] of every binding. */
  readonly bindings: readonly (readonly [string, string, string, string])[];
  /** [line, column, length] of what normalization inserted; the realm undoes it in every position it shows. */
  readonly columnShifts: readonly (readonly [number, number, number])[];
}

export interface RealmApi {
  /** Compiles and runs the program. A syntax error is a `threw`. */
  start(jobJson: string, program: string): void;
  /** Settles a call. False if no such call is outstanding. */
  settle(index: number, kind: number, a: string, b: string): boolean;
  /**
   * Logs a warning about a rejection that nobody handled. `text` is the stack of the exception that the host
   * got, or the exception itself as text if it is no error.
   */
  unhandled(text: string): void;
  /** Settles the next call that never went out, and runs the program to its next rest. */
  settleRefused(): void;
  /**
   * For the host at rest: a `restKind`. With no call to settle and no end, the program can never go on: the
   * realm emits `threw` from here.
   */
  rest(): number;
}
