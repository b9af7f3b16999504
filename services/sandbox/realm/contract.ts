/**
 * The boundary into the isolate, seen from both sides. Only text and numbers cross it.
 *
 * The realm is one text, evaluated in a fresh context as the body of a strict closure that gets `emit`
 * (the one host callback) and gives back an object of two functions, `start` and `settle`. Both run the
 * program until every microtask is drained: when they return, the program is at rest.
 */

/** What the realm tells its host. Numbers, since they cross the boundary on every call. */
export const emitKind = {
  /** emit(call, index, binding, argumentsJson, position): position is "line:column" of the normalized text, or "". */
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
} as const;

export type Emit = (kind: number, a: number, b: string, c: string, d: string) => void;

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

/** The job as the realm gets it, as JSON text beside the program. */
export interface RealmJob {
  readonly createdAtMs: number;
  /** Four unsigned 32-bit words. */
  readonly seed: readonly [number, number, number, number];
  readonly outputBytes: number;
  readonly logLineBytesMax: number;
  readonly callsMax: number;
  readonly argumentsBytesMax: number;
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
   * For the host at rest: 0 while calls are outstanding, 1 after an end was emitted. With no call outstanding
   * and no end, the program can never go on: the realm emits `threw` from here and gives 1.
   */
  rest(): number;
}
