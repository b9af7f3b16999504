/**
 * Time stands still: every way to ask for it gives the time at which the run was created. What takes a time
 * keeps working as it does.
 *
 * The prototypes stay the engine's, so that `instanceof` and old references hold; the engine's own constructors
 * can no longer be reached from them.
 */
import {
  apply,
  construct,
  define,
  defineAccessor,
  defineFixed,
  getOwnPropertyDescriptor,
  SafeWeakMap,
} from './primordials.ts';

let now = 0;

export function setNow(ms: number): void {
  now = ms;
}

export function installClock(): void {
  installDate();
  installIntl();
  installTemporal();
}

function installDate(): void {
  const Native = Date;
  const nativeToString = Native.prototype.toString;

  function FixedDate(this: unknown, ...parts: unknown[]): unknown {
    if (new.target === undefined) {
      return apply(nativeToString, construct(Native, [now]), []);
    }
    return construct(Native, parts.length === 0 ? [now] : parts, new.target);
  }
  define(FixedDate, 'name', 'Date');
  define(FixedDate, 'length', 7);
  defineFixed(FixedDate, 'prototype', Native.prototype);
  define(FixedDate, 'now', { now: () => now }.now);
  define(FixedDate, 'parse', Native.parse);
  define(FixedDate, 'UTC', Native.UTC);
  define(Native.prototype, 'constructor', FixedDate);
  define(globalThis, 'Date', FixedDate);
}

/** A formatter that is asked for no date in particular shows the present. */
function installIntl(): void {
  const prototype = Intl.DateTimeFormat.prototype;
  const nativeFormat = getOwnPropertyDescriptor(prototype, 'format')?.get;
  const nativeFormatToParts = prototype.formatToParts;
  if (nativeFormat === undefined) {
    throw new Error('Intl.DateTimeFormat has no format');
  }
  type Format = (date?: unknown) => string;
  const wrapped = new SafeWeakMap<Format, Format>();

  const methods = {
    // The same function each time for the same formatter, as the language wants it.
    format(this: Intl.DateTimeFormat): Format {
      const native = apply(nativeFormat, this, []) as Format;
      let format = wrapped.get(native);
      if (format === undefined) {
        format = (date?: unknown) => native(date === undefined ? now : date);
        define(format, 'name', '');
        wrapped.set(native, format);
      }
      return format;
    },
    formatToParts(this: Intl.DateTimeFormat, date?: Date | number) {
      return apply(nativeFormatToParts, this, [date === undefined ? now : date]);
    },
  };
  defineAccessor(prototype, 'format', methods.format as () => unknown);
  define(prototype, 'formatToParts', methods.formatToParts);
}

function installTemporal(): void {
  const { Instant, Now, ZonedDateTime } = Temporal;
  const fromEpochMilliseconds = Instant.fromEpochMilliseconds;
  const { toZonedDateTimeISO } = Instant.prototype;
  const { toPlainDate, toPlainTime, toPlainDateTime } = ZonedDateTime.prototype;
  const instant = () => apply(fromEpochMilliseconds, Instant, [now]) as Temporal.Instant;
  const zoned = (zone: unknown) =>
    apply(toZonedDateTimeISO, instant(), [zone === undefined ? 'UTC' : zone]) as Temporal.ZonedDateTime;
  const fixed = {
    instant: () => instant(),
    timeZoneId: () => 'UTC',
    zonedDateTimeISO: (zone?: unknown) => zoned(zone),
    plainDateISO: (zone?: unknown) => apply(toPlainDate, zoned(zone), []),
    plainTimeISO: (zone?: unknown) => apply(toPlainTime, zoned(zone), []),
    plainDateTimeISO: (zone?: unknown) => apply(toPlainDateTime, zoned(zone), []),
  };
  for (const name of Object.keys(fixed) as (keyof typeof fixed)[]) {
    define(Now, name, fixed[name]);
  }
}
