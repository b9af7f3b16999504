/**
 * Differences between two JSON texts by path, cut to what a person reads.
 */

export interface Difference {
  /** "arguments.to[0]"; keys that are no identifiers are quoted. */
  readonly path: string;
  readonly recorded: string;
  readonly attempted: string;
}

const valueCharsMax = 80;
const absent = 'nothing';

/** At most `max` differences, in the order of the recorded text; `more` counts the rest up to ten times `max`. */
export function jsonDifferences(
  root: string,
  recordedJson: string,
  attemptedJson: string,
  max: number,
): { readonly differences: readonly Difference[]; readonly more: number } {
  if (recordedJson === attemptedJson) return { differences: [], more: 0 };
  const found: Difference[] = [];
  const pending: [path: string, recorded: unknown, attempted: unknown][] = [
    [root, parsed(recordedJson), parsed(attemptedJson)],
  ];
  for (let next = pending.pop(); next !== undefined && found.length < max * 10; next = pending.pop()) {
    const [path, recorded, attempted] = next;
    const children = childrenOf(path, recorded, attempted);
    if (children !== undefined) pending.push(...children.reverse());
    else if (!sameLeaf(recorded, attempted)) {
      found.push({ path, recorded: shown(recorded), attempted: shown(attempted) });
    }
  }
  if (found.length === 0) {
    const difference = { path: root, recorded: cut(recordedJson), attempted: cut(attemptedJson) };
    return { differences: [difference], more: 0 };
  }
  return { differences: found.slice(0, max), more: Math.max(0, found.length - max) };
}

function childrenOf(
  path: string,
  recorded: unknown,
  attempted: unknown,
): [string, unknown, unknown][] | undefined {
  if (Array.isArray(recorded) && Array.isArray(attempted)) {
    return Array.from({ length: Math.max(recorded.length, attempted.length) }, (_, index) => [
      `${path}[${index}]`,
      recorded[index],
      attempted[index],
    ]);
  }
  if (isRecord(recorded) && isRecord(attempted)) {
    return [...new Set([...Object.keys(recorded), ...Object.keys(attempted)])].map((key) => [
      keyPath(path, key),
      own(recorded, key),
      own(attempted, key),
    ]);
  }
  return undefined;
}

function keyPath(path: string, key: string): string {
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key)
    ? `${path}.${key}`
    : `${path}[${JSON.stringify(key)}]`;
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function sameLeaf(recorded: unknown, attempted: unknown): boolean {
  return Object.is(recorded, attempted);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function shown(value: unknown): string {
  return value === undefined ? absent : cut(JSON.stringify(value));
}

/** Cut at a whole character. */
function cut(text: string): string {
  if (text.length <= valueCharsMax) return text;
  const end = text.codePointAt(valueCharsMax - 1);
  const whole = end !== undefined && end > 0xffff ? valueCharsMax - 1 : valueCharsMax;
  return `${text.slice(0, whole)}… (${text.length} characters)`;
}
