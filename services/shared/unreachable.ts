/** Marks the end of an exhaustive switch. Compiles only if every case was handled. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
