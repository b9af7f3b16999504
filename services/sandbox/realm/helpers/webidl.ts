/**
 * Stands in for whatwg-url's webidl-conversions: the two that it uses. The whole of it looks for kinds of
 * buffers that the realm has removed.
 */

export function any(value: unknown): unknown {
  return value;
}

/** A string without lone surrogates. */
export function USVString(value: unknown, options: { readonly context?: string } = {}): string {
  if (typeof value === 'symbol') {
    throw new TypeError(
      `${options.context ?? 'The value'} is a symbol, which cannot be converted to a string.`,
    );
  }
  return String(value).toWellFormed();
}
