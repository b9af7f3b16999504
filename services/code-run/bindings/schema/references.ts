/**
 * Where the references of one schema lead. Only inside the document: nothing is ever fetched, and a reference
 * that leaves it is told apart from one that leads nowhere.
 */
import { isObject, type JsonObject, own } from './json.ts';

export type Target =
  | { readonly tag: 'Found'; readonly schema: unknown; readonly hint: string }
  | { readonly tag: 'External' }
  | { readonly tag: 'Missing' };

const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/** Keywords and positions that say nothing about what a part is. */
const dullSegments = new Set([
  '$defs',
  'definitions',
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'additionalProperties',
  'patternProperties',
  'prefixItems',
  'components',
  'schemas',
]);

export class References {
  readonly #root: unknown;
  /** By `$anchor`, `$dynamicAnchor` and the `#name` ids of draft 04. */
  readonly #byAnchor = new Map<string, JsonObject>();
  /** By `$id` and `id`, as written. */
  readonly #byId = new Map<string, JsonObject>();
  /** Every object that some reference leads to. */
  readonly targets = new Map<unknown, string>();

  constructor(root: unknown) {
    this.#root = root;
    const written = this.#index();
    for (const reference of written) {
      const target = this.resolve(reference);
      if (target.tag === 'Found' && isObject(target.schema)) this.targets.set(target.schema, target.hint);
    }
  }

  resolve(reference: string): Target {
    const hash = reference.indexOf('#');
    const document = hash < 0 ? reference : reference.slice(0, hash);
    const fragment = hash < 0 ? '' : reference.slice(hash + 1);
    const embedded = this.#byId.get(reference) ?? this.#byId.get(document) ?? this.#byId.get(`${document}#`);
    if (document !== '' && embedded === undefined) return { tag: 'External' };
    const start = document === '' ? this.#root : embedded;
    const named = this.#byAnchor.get(fragment);
    if (fragment !== '' && !fragment.startsWith('/')) {
      return named === undefined ? { tag: 'Missing' } : { tag: 'Found', schema: named, hint: fragment };
    }
    return walk(start, fragment, document);
  }

  /** Notes anchors and ids; gives every reference. Not recursive, so no depth is too deep for it. */
  #index(): Set<string> {
    const written = new Set<string>();
    const open: unknown[] = [this.#root];
    while (open.length > 0) {
      const part = open.pop();
      if (typeof part !== 'object' || part === null) continue;
      for (const value of Object.values(part)) if (typeof value === 'object') open.push(value);
      if (!isObject(part)) continue;
      for (const keyword of referenceKeywords) {
        const reference = own(part, keyword);
        if (typeof reference === 'string') written.add(reference);
      }
      this.#note(part);
    }
    return written;
  }

  #note(part: JsonObject): void {
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = own(part, keyword);
      if (typeof anchor === 'string') this.#byAnchor.set(anchor, part);
    }
    for (const keyword of ['$id', 'id']) {
      const id = own(part, keyword);
      if (typeof id !== 'string' || id === '') continue;
      if (id.startsWith('#')) this.#byAnchor.set(id.slice(1), part);
      else this.#byId.set(id, part);
    }
  }
}

/** Follows a JSON pointer, percent-encoded as in a URI fragment. */
function walk(start: unknown, pointer: string, document: string): Target {
  let part = start;
  let hint = document.split('/').at(-1) ?? '';
  for (const segment of pointer.split('/').slice(1)) {
    const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(part)) part = part[/^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1];
    else if (isObject(part)) part = own(part, key);
    else part = undefined;
    if (part === undefined) return { tag: 'Missing' };
    if (!dullSegments.has(key) && !/^\d+$/.test(key)) hint = key;
  }
  return isObject(part) || typeof part === 'boolean'
    ? { tag: 'Found', schema: part, hint }
    : { tag: 'Missing' };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The reference of a schema, whatever the draft calls it. */
export function referenceOf(schema: JsonObject): string | undefined {
  for (const keyword of referenceKeywords) {
    const reference = own(schema, keyword);
    if (typeof reference === 'string') return reference;
  }
  return undefined;
}
