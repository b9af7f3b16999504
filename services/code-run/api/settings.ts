/**
 * The platform's settings as this instance knows them.
 *
 * P1  A value that is used was read from the store at most `freshMs` before: an update on any instance counts
 *     everywhere within that time. Reads that come together share one look into the store.
 * P2  An update names the version it was made for; another version there is ABORTED and changes nothing.
 * P3  An update to the values that are there changes nothing, and the version stays.
 */
import { AppError } from '../../shared/errors.ts';
import { type CallLimits, settingRanges } from '../../shared/limits.ts';
import type { RunLimits } from '../core/model.ts';
import type { CodeRunStore, PlatformSettings } from '../store/contract.ts';
import { stored } from './stored.ts';
import { Fields } from './validate.ts';

/** New values; what is absent stays. */
export interface SettingsChange {
  readonly enabled?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly memoryMb?: number | undefined;
  readonly outputBytes?: number | undefined;
}

/** How a transport writes the names of the fields: "code_mode.timeout_ms" or "codeMode.timeoutMs". */
export type FieldName = (name: keyof typeof settingRanges | 'expectedVersion') => string;

/** Versions count changes: no larger number is exact, and another version than the one sent would be named. */
export const expectedVersionRule = `must be the version that the change was made for, a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;

/** Well below the second that an update may take to count. */
const freshMs = 500;

export class Settings {
  readonly #store: Pick<CodeRunStore, 'settings' | 'replaceSettings'>;
  readonly #now: () => number;
  #known: { readonly value: PlatformSettings; readonly readAtMs: number } | undefined;
  #reading: Promise<PlatformSettings> | undefined;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(store: Pick<CodeRunStore, 'settings' | 'replaceSettings'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async current(): Promise<PlatformSettings> {
    if (this.#known !== undefined && this.#now() - this.#known.readAtMs < freshMs) return this.#known.value;
    this.#reading ??= this.read().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  /** Straight from the store. */
  async read(): Promise<PlatformSettings> {
    const readAtMs = this.#now(); // Before the read: its answer may be as old as that.
    const value = await stored(this.#store.settings());
    this.#known = { value, readAtMs };
    return value;
  }

  async update(expectedVersion: number, change: SettingsChange, field: FieldName): Promise<PlatformSettings> {
    checkRanges(expectedVersion, change, field);
    const before = await this.read();
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const next: PlatformSettings = { ...before, ...given, version: before.version + 1 };
    if (before.version === expectedVersion && sameValues(before, next)) return before;
    if (before.version !== expectedVersion || !(await stored(this.#store.replaceSettings(next)))) {
      const { version } = await this.read();
      throw new AppError(
        'ABORTED',
        `the settings are at version ${version}, not ${expectedVersion}: read them again and repeat the change`,
      );
    }
    this.#known = { value: next, readAtMs: this.#now() };
    return next;
  }

  /** The limits of a new run. Throws UNAVAILABLE while Code Mode is off. */
  async limitsForNewRun(): Promise<Omit<RunLimits, keyof CallLimits>> {
    const { timeoutMs, memoryMb, outputBytes } = await this.requireEnabled();
    return { timeoutMs, memoryMb, outputBytes };
  }

  async requireEnabled(): Promise<PlatformSettings> {
    const settings = await this.current();
    if (settings.enabled) return settings;
    throw new AppError('UNAVAILABLE', 'Code Mode is off: an administrator can turn it on in the settings', {
      retryable: false,
    });
  }
}

/** Settings that nobody ever set are never the same: setting them to their first values makes them set. */
function sameValues(before: PlatformSettings, next: PlatformSettings): boolean {
  const values = ({ enabled, timeoutMs, memoryMb, outputBytes }: PlatformSettings) =>
    JSON.stringify([enabled, timeoutMs, memoryMb, outputBytes]);
  return before.version > 0 && values(before) === values(next);
}

function checkRanges(expectedVersion: number, change: SettingsChange, field: FieldName): void {
  const fields = new Fields();
  if (!Number.isSafeInteger(expectedVersion) || expectedVersion < 0)
    fields.wrong(field('expectedVersion'), expectedVersionRule);
  for (const name of ['timeoutMs', 'memoryMb', 'outputBytes'] as const) {
    const value = change[name];
    const { min, max } = settingRanges[name];
    if (value !== undefined) fields.range(field(name), value, min, max);
  }
  fields.done();
}
