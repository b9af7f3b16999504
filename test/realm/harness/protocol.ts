/** What a test and the host process say to each other. */
import type { RealmJob } from '../../../services/sandbox/realm/contract.ts';

/** How a call settles: the arguments of the contract's `settle` behind the index. */
export interface Outcome {
  readonly kind: number;
  readonly a: string;
  readonly b: string;
}

export interface Request {
  readonly program: string;
  readonly job: RealmJob;
  readonly memoryMb: number;
  /** Outcome of each call by index; without one a call gives back its arguments. */
  readonly outcomes: readonly Outcome[];
  /** Order in which the calls settle; by index if absent. */
  readonly order?: readonly number[];
}

/** Everything that the realm told its host, in order. */
export interface Transcript {
  readonly calls: { index: number; binding: string; argumentsJson: string; position: string }[];
  readonly logs: { level: string; text: string }[];
  readonly ends: { kind: number; a: number; b: string; c: string; d: string }[];
  rests: number;
  unhandled: number;
}

/** JSON on one line for every reader of lines: some end a line at U+2028 and U+2029 too. */
export function toLine(value: unknown): string {
  const json = JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `${json}\n`;
}
