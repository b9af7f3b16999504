/** What a deployer may choose of the runner. */
import { callRanges, heldBytesRange } from '../../shared/limits.ts';

export interface RunnerSettings {
  /** Name of this instance in leases; unique among all instances that share the store. */
  readonly instance: string;
  /** How long a claim holds without renewal. A dead instance's runs can be taken over after it. */
  readonly leaseMs: number;
  /** How often it is renewed; a cancel at another instance is noticed after this at the latest. */
  readonly renewMs: number;
  /** Sandboxes lost in a row, without a write between, after which a run is Failed / Unavailable. */
  readonly sandboxTriesMax: number;
  /** Delay before the second try; each further one waits four times as long. */
  readonly sandboxRetryMs: number;
  /** A run whose core went away and did not come back for this long is Failed / Unavailable. */
  readonly abandonedAfterMs: number;
  /** How often abandoned runs are looked for. */
  readonly sweepMs: number;
  /** UTF-16 units of results that are held until they can be journaled; past it no more are read. */
  readonly pendingOutcomeCharsMax: number;
  /** Arguments and results that all attempts of the instance hold together, in bytes. */
  readonly heldBytesMax: number;
}

export const runnerDefaults: Omit<RunnerSettings, 'instance'> = {
  leaseMs: 10_000,
  renewMs: 1_000,
  // 50 ms, 200 ms … 13 s: long enough for a sandbox that starts again.
  sandboxTriesMax: 6,
  sandboxRetryMs: 50,
  abandonedAfterMs: 3_600_000,
  sweepMs: 60_000,
  pendingOutcomeCharsMax: callRanges.resultBytesMax.max,
  heldBytesMax: heldBytesRange.initial,
};
