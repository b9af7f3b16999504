/**
 * Shares a budget among texts: each gets its full form if that fits its share, else what it makes of the share; and
 * what a small one leaves goes to the others. Pure.
 */

export interface Sized {
  readonly bytes: number;
}

export interface Fitting<T extends Sized> {
  full(): T;
  /** The most that fits into `bytes`; undefined if nothing does. */
  within(bytes: number): T | undefined;
}

/** What was chosen for each, by position; undefined where nothing fits. */
export function fit<T extends Sized>(items: readonly Fitting<T>[], bytesMax: number): (T | undefined)[] {
  const chosen: (T | undefined)[] = items.map(() => undefined);
  const fulls = items.map((item, index) => ({ item, index, full: item.full() }));
  const bySize = fulls.sort((a, b) => a.full.bytes - b.full.bytes || a.index - b.index);
  let left = Math.max(0, bytesMax);
  for (const [position, { item, index, full }] of bySize.entries()) {
    const share = Math.floor(left / (bySize.length - position));
    const one = full.bytes <= share ? full : item.within(share);
    chosen[index] = one;
    left -= one?.bytes ?? 0;
  }
  return chosen;
}

/** A text that comes in several forms, the fullest first. */
export function formsOf<T extends Sized>(forms: readonly [() => T, ...(() => T)[]]): Fitting<T> {
  return {
    full: forms[0],
    within: (bytes) => {
      for (const make of forms.slice(1)) {
        const form = make();
        if (form.bytes <= bytes) return form;
      }
      return undefined;
    },
  };
}
