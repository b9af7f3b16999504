/**
 * Where the references of one schema lead. Only inside the document: nothing is ever fetched, and a reference
 * that leaves it is told apart from one that leads nowhere.
 *
 * R1  A schema with an id is a document within the document: references in it, pointers and anchors start from it, and
 *     its name is resolved against that of the one around it.
 */
import { isObject, type JsonObject, own, ownText } from './json.ts';

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

/** Keywords whose values hold schemas by name, so that no name in them is a keyword. */
const mapKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose values are no schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples', 'example']);

/** Stands for where a document without a name of its own is. */
const nowhere = 'schema:///';
/** A longer one is not resolved: it would be copied for every reference. */
const uriCharsMax = 2000;

/** A schema with a name of its own, and what is in it up to the next one: R1. */
interface Resource {
  readonly uri: string;
  readonly root: unknown;
  /** By `$anchor`, `$dynamicAnchor` and the `#name` ids of draft 04. */
  readonly anchors: Map<string, JsonObject>;
}

/** A part that is still to be looked at. */
interface Open {
  readonly part: unknown;
  readonly resource: Resource;
  readonly as: 'schema' | 'map' | 'data';
}

export class References {
  readonly #document: Resource;
  readonly #byUri = new Map<string, Resource>();
  /** Of every part with a reference, the resource that it is in. */
  readonly #resources = new Map<JsonObject, Resource>();
  /** `id` names a schema up to draft 04; after it, it is any field. */
  readonly #readsOldIds: boolean;
  /** Every object that some reference leads to. */
  readonly targets = new Map<unknown, string>();

  constructor(root: unknown) {
    const dialect = isObject(root) ? ownText(root, '$schema') : '';
    this.#readsOldIds = dialect === '' || /draft-0[34]/.test(dialect);
    this.#document = this.#index(root);
    for (const part of this.#resources.keys()) {
      const target = this.resolve(part);
      if (target?.tag === 'Found' && isObject(target.schema)) this.targets.set(target.schema, target.hint);
    }
  }

  /** Where the reference of a part leads; undefined if it has none. */
  resolve(part: JsonObject): Target | undefined {
    const keyword = referenceKeywords.find((one) => typeof own(part, one) === 'string');
    if (keyword === undefined) return undefined;
    const resource = this.#resources.get(part) ?? this.#document;
    const [document, fragment] = divided(ownText(part, keyword));
    const within = document === '' ? resource : this.#byUri.get(resolvedUri(document, resource.uri));
    if (within === undefined) return { tag: 'External' };
    const name = decode(fragment);
    if (keyword !== '$ref') {
      const outer = this.#outermost(keyword, within, name);
      if (outer !== undefined) return { tag: 'Found', schema: outer, hint: name };
    }
    if (name === '' || name.startsWith('/')) return walk(within.root, fragment, document);
    const named = within.anchors.get(name);
    return named === undefined ? { tag: 'Missing' } : { tag: 'Found', schema: named, hint: name };
  }

  /** What a dynamic reference means: the whole document comes first on every way to it. */
  #outermost(keyword: string, within: Resource, name: string): unknown {
    if (keyword === '$recursiveRef') {
      const recurs = (root: unknown) => isObject(root) && own(root, '$recursiveAnchor') === true;
      return recurs(within.root) && recurs(this.#document.root) ? this.#document.root : undefined;
    }
    const isDynamic = (part: JsonObject | undefined) =>
      part !== undefined && own(part, '$dynamicAnchor') === name;
    const outer = this.#document.anchors.get(name);
    return isDynamic(within.anchors.get(name)) && isDynamic(outer) ? outer : undefined;
  }

  /** Notes resources, anchors and references. Not recursive, so no depth is too deep for it. */
  #index(root: unknown): Resource {
    const document = this.#resourceOf(root, nowhere) ?? { uri: nowhere, root, anchors: new Map() };
    this.#byUri.set(document.uri, document);
    const open: Open[] = [{ part: root, resource: document, as: 'schema' }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { part, as } = next;
      if (Array.isArray(part)) {
        for (const one of part)
          if (isParent(one))
            open.push({ part: one, resource: next.resource, as: as === 'data' ? as : 'schema' });
      } else if (isObject(part)) {
        const resource = as === 'schema' ? this.#note(part, next.resource) : next.resource;
        if (as !== 'map' && referenceOf(part) !== undefined) this.#resources.set(part, resource);
        for (const key of Object.keys(part)) {
          const value = part[key];
          if (isParent(value)) open.push({ part: value, resource, as: roleOf(key, as) });
        }
      }
    }
    return document;
  }

  /** The resource that a part is in, which may begin with it. */
  #note(part: JsonObject, around: Resource): Resource {
    const resource = part === around.root ? around : (this.#resourceOf(part, around.uri) ?? around);
    if (!this.#byUri.has(resource.uri)) this.#byUri.set(resource.uri, resource);
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownText(part, keyword);
      if (anchor !== '' && !resource.anchors.has(anchor)) resource.anchors.set(anchor, part);
    }
    const [, name] = divided(this.#idOf(part));
    if (name !== '' && !resource.anchors.has(name)) resource.anchors.set(name, part);
    return resource;
  }

  #resourceOf(part: unknown, base: string): Resource | undefined {
    const [document] = isObject(part) ? divided(this.#idOf(part)) : [''];
    if (document === '') return undefined;
    const uri = resolvedUri(document, base);
    return uri === base ? undefined : { uri, root: part, anchors: new Map() };
  }

  #idOf(part: JsonObject): string {
    return ownText(part, '$id') || (this.#readsOldIds ? ownText(part, 'id') : '');
  }
}

function roleOf(key: string, parent: Open['as']): Open['as'] {
  if (parent === 'map') return 'schema';
  if (parent === 'data' || dataKeywords.has(key)) return 'data';
  return mapKeywords.has(key) ? 'map' : 'schema';
}

function isParent(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function divided(reference: string): [document: string, fragment: string] {
  const hash = reference.indexOf('#');
  return hash < 0 ? [reference, ''] : [reference.slice(0, hash), reference.slice(hash + 1)];
}

/** As RFC 3986 says; what cannot be resolved stays as it is written. */
function resolvedUri(reference: string, base: string): string {
  if (reference.length + base.length > uriCharsMax) return reference;
  return URL.parse(reference, base)?.href ?? reference;
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
function referenceOf(schema: JsonObject): string | undefined {
  for (const keyword of referenceKeywords) {
    const reference = own(schema, keyword);
    if (typeof reference === 'string') return reference;
  }
  return undefined;
}
