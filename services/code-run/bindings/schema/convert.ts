/**
 * JSON Schema, drafts 04 to 2020-12 mixed as real servers mix them, to types. Pure, and fetches nothing.
 *
 * C1  What a type cannot say becomes `unknown` for that part alone, with the reason; everything else stands.
 * C2  A part that something refers to is a definition: read once, and named where it is shared or recursive.
 * C3  Every schema ends: levels and parts are bounded, and a reference that leads to itself is cut.
 * C4  Only schema positions are read as schemas. A property named "type" or "$ref" is a property.
 */
import { limits } from '../../../shared/limits.ts';
import { Algebra, guessed } from './algebra.ts';
import { docOf, docOrElse } from './doc.ts';
import { isObject, type JsonObject, own, ownList, ownObject } from './json.ts';
import { References, type Target } from './references.ts';
import {
  anyObject,
  anything,
  type Definition,
  type Doc,
  type Field,
  isAnything,
  never,
  noDoc,
  nullType,
  type ObjectType,
  type Type,
  unknownBecause,
} from './type.ts';

/**
 * Of an argument, a field with a default may be left out, since the app fills it in. Of a result, it is there
 * when the schema requires it.
 */
export type Direction = 'argument' | 'result';

export interface Converted {
  readonly type: Type;
  readonly doc: Doc;
  /** Parts read and steps taken: what it cost. */
  readonly steps: number;
}

/** Reads a schema as parsed. */
export function convertSchema(schema: unknown, direction: Direction): Converted {
  return new Converter(schema, direction).convertRoot();
}

const stringKeywords = ['pattern', 'minLength', 'maxLength', 'format', 'contentEncoding', 'contentMediaType'];
const numberKeywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const objectKeywords = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
];
const arrayKeywords = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'minItems',
  'maxItems',
  'uniqueItems',
];

/** Names that a program gave to a definition: "__schema0". */
const saysNothing = /^_*(schema|def|definition|ref|type|model)?_*\d*$/i;

/** Names that servers write although JSON Schema has others. */
const misnamedTypes: Readonly<Record<string, string>> = {
  int: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
  str: 'string',
  text: 'string',
  date: 'string',
  datetime: 'string',
  file: 'string',
  list: 'array',
  dict: 'object',
  map: 'object',
};

class Converter {
  readonly #root: unknown;
  readonly #direction: Direction;
  readonly #references: References;
  readonly #algebra = new Algebra();
  readonly #definitions = new Map<unknown, Definition>();
  /** Many fields may refer to one part. */
  readonly #docs = new Map<JsonObject, Doc>();
  readonly #ones = new Map<JsonObject, unknown>();
  /** Definitions being read between which and here no object or list lies. */
  #unguarded = new Set<Definition>();
  /**
   * Which others a definition is made of without an object or a list between; once it is read, those of them alone that
   * were still being read.
   */
  readonly #bare = new Map<Definition, Set<Definition>>();
  #nodes = 0;
  /** The field that is being read; at first, the whole. */
  #field: string;

  constructor(root: unknown, direction: Direction) {
    this.#root = root;
    this.#direction = direction;
    this.#references = new References(root);
    this.#field = direction === 'argument' ? 'arguments' : 'result';
  }

  convertRoot(): Converted {
    const type = this.#convert(this.#root, 0);
    // What went past its limit was passed over.
    const parts = Math.min(this.#nodes, limits.schemaNodesMax);
    const operations = Math.min(this.#algebra.operations, limits.schemaOperationsMax);
    return { type, doc: this.#docOf(this.#root), steps: parts + operations };
  }

  #convert(schema: unknown, depth: number): Type {
    if (schema === true) return anything;
    if (schema === false) return never;
    if (!isObject(schema)) return unknownBecause('malformed');
    const hint = this.#references.targets.get(schema);
    return hint === undefined ? this.#read(schema, depth) : this.#define(schema, hint, depth);
  }

  #define(schema: JsonObject, hint: string, depth: number): Type {
    const known = this.#definitions.get(schema);
    if (known !== undefined) {
      if (this.#leadsBack(known, new Set())) return unknownBecause('reference loop');
      this.#noteBare(known);
      if (known.type === undefined) known.recursive = true;
      return { kind: 'named', definition: known };
    }
    const definition: Definition = {
      hint: saysNothing.test(hint) ? this.#field : hint,
      doc: this.#docOf(schema),
      type: undefined,
      recursive: false,
    };
    this.#definitions.set(schema, definition);
    this.#noteBare(definition);
    this.#unguarded.add(definition);
    definition.type = this.#read(schema, depth);
    this.#unguarded.delete(definition);
    const open = new Set<Definition>();
    this.#gatherOpen(definition, open, new Set());
    this.#bare.set(definition, open);
    return { kind: 'named', definition };
  }

  /** Of the definition that is being read right here. */
  #noteBare(part: Definition): void {
    const whole = [...this.#unguarded].at(-1);
    if (whole === undefined) return;
    const parts = this.#bare.get(whole) ?? new Set();
    this.#bare.set(whole, parts.add(part));
  }

  #gatherOpen(definition: Definition, open: Set<Definition>, seen: Set<Definition>): void {
    for (const part of this.#bare.get(definition) ?? []) {
      if (seen.has(part)) continue;
      seen.add(part);
      if (part.type === undefined) open.add(part);
      else this.#gatherOpen(part, open, seen);
    }
  }

  /** Whether a definition, be it read already, is made of one that is being read: a type cannot be a part of itself. */
  #leadsBack(definition: Definition, seen: Set<Definition>): boolean {
    if (this.#unguarded.size === 0 || seen.has(definition)) return false;
    seen.add(definition);
    if (this.#unguarded.has(definition)) return true;
    return [...(this.#bare.get(definition) ?? [])].some((part) => this.#leadsBack(part, seen));
  }

  /** A part below an object or a list: a definition may lead back to itself through it. */
  #below(schema: unknown, depth: number): Type {
    const unguarded = this.#unguarded;
    this.#unguarded = new Set();
    const type = this.#convert(schema, depth + 1);
    this.#unguarded = unguarded;
    return type;
  }

  /** All that a schema says holds at once. */
  #read(schema: JsonObject, depth: number): Type {
    this.#nodes += 1;
    if (depth > limits.schemaDepthMax) return unknownBecause('nested too deep');
    if (this.#nodes > limits.schemaNodesMax) return unknownBecause('too large');
    const guesses = this.#guesses(schema, depth);
    // One is where everything starts from; of several, each is about another kind of value.
    const [only = anything, ...more] = guesses;
    let type = more.length === 0 ? only : anything;
    type = this.#algebra.intersect(this.#plain(schema, depth), type);
    const target = this.#references.resolve(schema);
    if (target !== undefined) type = this.#algebra.intersect(type, this.#refer(target, depth));
    for (const part of ownList(schema, 'allOf') ?? [])
      type = this.#algebra.intersect(type, this.#convert(part, depth + 1));
    for (const keyword of ['anyOf', 'oneOf']) {
      const choices = ownList(schema, keyword);
      if (choices === undefined) continue;
      type = this.#algebra.intersect(
        type,
        this.#algebra.union(choices.map((choice) => this.#convert(choice, depth + 1))),
      );
    }
    if (more.length > 0) {
      type = isAnything(type)
        ? this.#algebra.union(guesses)
        : guesses.reduce((met, guess) => this.#algebra.intersect(met, guess), type);
    }
    type = this.#conditions(schema, type, depth);
    type = this.#exclude(schema, type);
    if (isAnything(type)) type = this.#inferred(schema);
    return own(schema, 'nullable') === true ? this.#algebra.union([type, nullType]) : type;
  }

  #refer(target: Target, depth: number): Type {
    switch (target.tag) {
      case 'External':
        return unknownBecause('external reference');
      case 'Missing':
        return unknownBecause('missing reference');
      case 'Found':
        return this.#convert(target.schema, depth + 1);
    }
  }

  /**
   * Then or else, and what depends on a key: with it or without it. Which of them holds is for the app to judge;
   * a branch that is not there leaves the type as it is.
   */
  #conditions(schema: JsonObject, type: Type, depth: number): Type {
    const dependent = own(schema, 'dependentSchemas') ?? own(schema, 'dependencies');
    const parts = (isObject(dependent) ? Object.values(dependent) : []).filter(isObject);
    let met = type;
    for (const part of parts)
      met = this.#algebra.union([this.#algebra.intersect(met, this.#convert(part, depth + 1)), met]);
    if (Object.hasOwn(schema, 'if')) {
      const branches = ['then', 'else'].map((keyword) =>
        Object.hasOwn(schema, keyword)
          ? this.#algebra.intersect(met, this.#convert(own(schema, keyword), depth + 1))
          : met,
      );
      met = this.#algebra.union(branches);
      parts.push(schema);
    }
    return parts.length > 0 && isAnything(met) ? unknownBecause('condition') : met;
  }

  #exclude(schema: JsonObject, type: Type): Type {
    const excluded = own(schema, 'not');
    if (excluded === undefined || excluded === false) return type;
    if (excluded === true || (isObject(excluded) && Object.keys(excluded).length === 0)) return never;
    return isAnything(type) ? unknownBecause('not') : type;
  }

  /** type, enum, const and what belongs to a single type. */
  #plain(schema: JsonObject, depth: number): Type {
    const typed = this.#typed(schema, depth);
    if (Object.hasOwn(schema, 'const')) return this.#eitherOr(this.#literal(own(schema, 'const'), 0), typed);
    const values = ownList(schema, 'enum');
    return values === undefined ? typed : this.#eitherOr(this.#enum(values), typed);
  }

  #typed(schema: JsonObject, depth: number): Type {
    const said = own(schema, 'type');
    if (typeof said === 'string') return this.#ofType(said, schema, depth);
    const names = Array.isArray(said) ? said : [];
    return names.length === 0
      ? anything
      : this.#algebra.union(names.map((name) => this.#ofType(name, schema, depth)));
  }

  /** What keywords of objects and of lists make of a schema without a type. */
  #guesses(schema: JsonObject, depth: number): Type[] {
    const said = own(schema, 'type');
    if (typeof said === 'string' || (Array.isArray(said) && said.length > 0)) return [];
    const guesses: Type[] = [];
    if (objectKeywords.some((keyword) => Object.hasOwn(schema, keyword)))
      guesses.push(guessed(this.#object(schema, depth)));
    if (arrayKeywords.some((keyword) => Object.hasOwn(schema, keyword)))
      guesses.push(guessed(this.#array(schema, depth)));
    return guesses;
  }

  #ofType(name: unknown, schema: JsonObject, depth: number): Type {
    // Draft 03 and 04 documents hold schemas in type lists.
    if (typeof name !== 'string') return this.#convert(name, depth + 1);
    switch (Object.hasOwn(misnamedTypes, name.toLowerCase()) ? misnamedTypes[name.toLowerCase()] : name) {
      case 'string':
        return { kind: 'primitive', name: 'string' };
      case 'integer':
      case 'number':
        return { kind: 'primitive', name: 'number' };
      case 'boolean':
        return { kind: 'primitive', name: 'boolean' };
      case 'null':
        return nullType;
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'any':
        return anything;
      default:
        return unknownBecause('malformed');
    }
  }

  #object(schema: JsonObject, depth: number): Type {
    const required = new Set((ownList(schema, 'required') ?? []).filter((key) => typeof key === 'string'));
    const rest = this.#rest(schema, depth);
    const fields = new Map<string, Field>();
    for (const [key, part] of Object.entries(ownObject(schema, 'properties') ?? {})) {
      if (this.#nodes > limits.schemaNodesMax) {
        fields.set(key, { type: unknownBecause('too large'), optional: !required.has(key), doc: noDoc });
        continue;
      }
      this.#field = key;
      const filled = this.#direction === 'argument' && this.#hasDefault(part);
      fields.set(key, {
        type: this.#below(part, depth),
        optional: filled || !required.has(key),
        ...(filled ? { filled } : {}),
        doc: docOrElse(this.#docOf(part), this.#docBehind(part)),
      });
    }
    for (const key of required) {
      if (!fields.has(key)) fields.set(key, { type: rest ?? anything, optional: false, doc: noDoc });
    }
    const closed = own(schema, 'additionalProperties') === false && rest === undefined;
    return this.#withNamedKeys(schema, { kind: 'object', fields, rest, closed }, depth);
  }

  #docOf(schema: unknown): Doc {
    if (!isObject(schema)) return noDoc;
    const known = this.#docs.get(schema);
    if (known !== undefined) return known;
    const doc = docOf(schema);
    this.#docs.set(schema, doc);
    return doc;
  }

  /** Values of the keys that are not named. */
  #rest(schema: JsonObject, depth: number): Type | undefined {
    const patterns = Object.values(ownObject(schema, 'patternProperties') ?? {}).map((part) =>
      this.#below(part, depth),
    );
    const others = own(schema, 'additionalProperties') ?? own(schema, 'unevaluatedProperties');
    if (others !== undefined && others !== false) patterns.push(this.#below(others, depth));
    // Keys that must not be are not all the others.
    const possible = patterns.filter((type) => type.kind !== 'never');
    return possible.length === 0 ? undefined : this.#algebra.union(possible);
  }

  /** A dictionary whose keys are a known few has those keys. */
  #withNamedKeys(schema: JsonObject, object: ObjectType, depth: number): Type {
    const { rest } = object;
    if (object.closed || !Object.hasOwn(schema, 'propertyNames')) return object;
    const keys = literalsOf(resolved(this.#below(own(schema, 'propertyNames'), depth)));
    if (keys === undefined) return object;
    if (!this.#algebra.spend(object.fields.size + keys.length)) return object;
    const fields = new Map(object.fields);
    for (const key of keys)
      if (!fields.has(key)) fields.set(key, { type: rest ?? anything, optional: true, doc: noDoc });
    return { kind: 'object', fields, rest: undefined, closed: true };
  }

  #array(schema: JsonObject, depth: number): Type {
    const items = own(schema, 'items') ?? own(schema, 'unevaluatedItems');
    const listed = ownList(schema, 'prefixItems') ?? ownList(schema, 'items');
    if (listed === undefined)
      return { kind: 'array', element: items === undefined ? anything : this.#below(items, depth) };
    const others = Array.isArray(items) ? own(schema, 'additionalItems') : items;
    const elements = listed.map((part) => this.#below(part, depth));
    const least = own(schema, 'minItems');
    return {
      kind: 'tuple',
      elements,
      required: typeof least === 'number' ? Math.min(least, elements.length) : elements.length,
      rest: others === undefined || others === false ? undefined : this.#below(others, depth),
    };
  }

  #hasDefault(schema: unknown): boolean {
    return this.#behind(schema).some((part) => Object.hasOwn(part, 'default'));
  }

  /** The doc of what a part stands for. */
  #docBehind(schema: unknown): Doc {
    const [, ...others] = this.#behind(schema);
    return others.map((other) => this.#docOf(other)).reduce(docOrElse, noDoc);
  }

  /** A schema and those it stands for: through references, and through wrappers of one, null aside. */
  #behind(schema: unknown): JsonObject[] {
    const parts: JsonObject[] = [];
    let next = schema;
    while (isObject(next) && !parts.includes(next) && parts.length < 8) {
      parts.push(next);
      if (!this.#ones.has(next)) this.#ones.set(next, this.#one(next));
      next = this.#ones.get(next);
    }
    return parts;
  }

  #one(schema: JsonObject): unknown {
    const target = this.#references.resolve(schema);
    if (target !== undefined) return target.tag === 'Found' ? target.schema : undefined;
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const parts = ownList(schema, keyword) ?? [];
      const others = keyword === 'allOf' ? parts : parts.filter((part) => !isNull(part));
      if (others.length === 1) return others[0];
    }
    return undefined;
  }

  /** Both, or what was written out when nothing is both: the app then says one thing and means the other. */
  #eitherOr(values: Type, typed: Type): Type {
    const both = this.#algebra.intersect(values, typed);
    return both.kind === 'never' ? values : both;
  }

  /** The type that limits belong to, where no type is said. */
  #inferred(schema: JsonObject): Type {
    const types: Type[] = [];
    if (stringKeywords.some((keyword) => Object.hasOwn(schema, keyword))) {
      types.push({ kind: 'primitive', name: 'string', inferred: true });
    }
    if (numberKeywords.some((keyword) => Object.hasOwn(schema, keyword))) {
      types.push({ kind: 'primitive', name: 'number', inferred: true });
    }
    return types.length === 0 ? anything : this.#algebra.union(types);
  }

  #enum(values: readonly unknown[]): Type {
    if (values.length <= limits.enumMembersMax)
      return this.#algebra.union(values.map((value) => this.#literal(value, 0)));
    return this.#algebra.union(values.map(wideOf));
  }

  #literal(value: unknown, depth: number): Type {
    if (depth > limits.schemaDepthMax) return unknownBecause('nested too deep');
    if (value === null) return nullType;
    if (typeof value === 'string' || typeof value === 'boolean') return { kind: 'literal', value };
    if (typeof value === 'number') {
      return Number.isFinite(value) ? { kind: 'literal', value } : { kind: 'primitive', name: 'number' };
    }
    if (typeof value !== 'object') return unknownBecause('malformed');
    this.#nodes += Object.keys(value).length;
    if (this.#nodes > limits.schemaNodesMax) return unknownBecause('too large');
    if (Array.isArray(value)) {
      const elements = value.map((one) => this.#literal(one, depth + 1));
      return { kind: 'tuple', elements, required: elements.length, rest: undefined };
    }
    const fields = Object.entries(value).map(([key, one]): [string, Field] => [
      key,
      { type: this.#literal(one, depth + 1), optional: false, doc: noDoc },
    ]);
    return { kind: 'object', fields: new Map(fields), rest: undefined, closed: true };
  }
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && own(schema, 'type') === 'null';
}

/** The type of a value, not the value. */
function wideOf(value: unknown): Type {
  if (value === null) return nullType;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'primitive', name: typeof value as 'string' | 'number' | 'boolean' };
  }
  return Array.isArray(value) ? { kind: 'array', element: anything } : anyObject;
}

function resolved(type: Type): Type {
  return type.kind === 'named' && type.definition.type !== undefined ? type.definition.type : type;
}

/** The texts of a union of texts. */
function literalsOf(type: Type): string[] | undefined {
  const members = type.kind === 'union' ? type.members : [type];
  const texts = members.flatMap((member) =>
    member.kind === 'literal' && typeof member.value === 'string' ? [member.value] : [],
  );
  return texts.length === members.length ? texts : undefined;
}
