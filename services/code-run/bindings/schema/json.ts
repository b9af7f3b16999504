/** Readings of parsed JSON that is not trusted: own properties only, one type at a time. Pure. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A property of its own; never one that every object inherits. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function ownText(object: JsonObject, key: string): string {
  const value = own(object, key);
  return typeof value === 'string' ? value : '';
}

export function ownObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = own(object, key);
  return isObject(value) ? value : undefined;
}

export function ownList(object: JsonObject, key: string): readonly unknown[] | undefined {
  const value = own(object, key);
  return Array.isArray(value) ? value : undefined;
}

/** JSON text of a value of at most `nodesMax` parts, shortened to `charsMax`; absent when it has more. */
export function shortJson(value: unknown, charsMax: number, nodesMax = 100): string | undefined {
  const open: unknown[] = [value];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen >= nodesMax) return undefined;
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const part of Object.values(next).slice(0, nodesMax)) open.push(part);
  }
  const text = JSON.stringify(value);
  return text === undefined ? undefined : text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}

/** An object from JSON text; an empty one from anything else. */
export function parsedObject(json: string): JsonObject {
  try {
    const value: unknown = json === '' ? undefined : JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
