/**
 * What stands in clear in a database may have been changed there to anything: other types, numbers that are none, a
 * status that nobody knows. What comes from a database passes here.
 *
 * H1  Every field that comes out has the type and the range that the store writes. What does not fit is made up, and
 *     named: such a run is unreadable, and harms no other.
 */
import type { BatchHead, RowStatus, RunRow } from './rows.ts';

type Fits = (value: unknown) => boolean;
type Shape<Row> = { readonly [Field in Exclude<keyof Row, 'malformed'>]-?: readonly [Fits, Row[Field]] };

const nothing = new Uint8Array(0);
/** Counts and epochs travel as 32 bits. */
const countMax = 2 ** 31 - 1;
/** The last that a Date takes. */
const timeMax = 8.64e15;

const statuses: Readonly<Record<RowStatus, true>> = {
  Running: true,
  Waiting: true,
  Completed: true,
  Failed: true,
  Cancelled: true,
  Released: true,
  Deleted: true,
};

const isText: Fits = (value) => typeof value === 'string';
const isBytes: Fits = (value) => value instanceof Uint8Array;
export const isCount: Fits = (value) => isInteger(value) && value <= countMax;
export const isTime: Fits = (value) => isInteger(value) && value <= timeMax;
const isStatus: Fits = (value) => typeof value === 'string' && Object.hasOwn(statuses, value);
const isKind: Fits = (value) => value === 'entries' || value === 'fence';

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const runShape: Shape<RunRow> = {
  id: [isText, ''],
  session: [isText, ''],
  turn: [isText, ''],
  callId: [isText, ''],
  owner: [isText, ''],
  status: [isStatus, 'Running'],
  createdAtMs: [isTime, 0],
  updatedAtMs: [isTime, 0],
  leaseOwner: [isText, ''],
  epoch: [isCount, 0],
  leaseExpiresAtMs: [isTime, 0],
  journalLength: [isCount, 0],
  logLines: [isCount, 0],
  waiting: [isText, ''],
  attempts: [isText, ''],
  keyId: [isText, ''],
  wrappedKey: [isBytes, nothing],
  start: [isBytes, nothing],
  end: [isBytes, nothing],
};

const headShape: Shape<BatchHead> = {
  runId: [isText, ''],
  slot: [isCount, 0],
  kind: [isKind, 'fence'],
  epoch: [isCount, 0],
  first: [isCount, 0],
  count: [isCount, 0],
  logLines: [isCount, 0],
  atMs: [isTime, 0],
};

type RunField = Exclude<keyof RunRow, 'malformed'>;
type HeadField = Exclude<keyof BatchHead, 'malformed'>;

export const runFields = Object.keys(runShape) as RunField[];
const headFields = Object.keys(headShape) as HeadField[];

/** `given` gives what the database has for a field. */
export function shapedRun(given: (field: RunField) => unknown): RunRow {
  return shaped<RunRow>(runFields, runShape, given);
}

export function shapedHead(given: (field: HeadField) => unknown): BatchHead {
  return shaped<BatchHead>(headFields, headShape, given);
}

/** Empty where it is none: what is sealed never is. */
export function shapedBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : nothing;
}

export function shapedTime(value: unknown): number {
  return isTime(value) ? (value as number) : 0;
}

function shaped<Row extends { readonly malformed?: readonly string[] }>(
  fields: readonly Exclude<keyof Row, 'malformed'>[],
  shape: Shape<Row>,
  given: (field: Exclude<keyof Row, 'malformed'>) => unknown,
): Row {
  const row: Record<string, unknown> = {};
  let malformed: string[] | undefined;
  for (const field of fields) {
    const value = given(field);
    const [fits, madeUp] = shape[field];
    if (fits(value)) row[field as string] = value;
    else {
      row[field as string] = madeUp;
      malformed = [...(malformed ?? []), field as string];
    }
  }
  return (malformed === undefined ? row : { ...row, malformed }) as unknown as Row;
}
