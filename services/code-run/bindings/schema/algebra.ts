/**
 * The two operations that JSON Schema needs on types: either of some (union) and both of two (intersect). One
 * instance serves one schema.
 *
 * A1  Work is bounded: an operation counts as many steps as it touches parts, and a schema that is made to explode runs
 *     out of them. What is left of it is unknown.
 * A2  Every operation ends. Both of two recursive types is a recursive type: the pair that is being worked out is
 *     referred to where it comes up within itself.
 */
import { limits } from '../../../shared/limits.ts';
import {
  anything,
  type Definition,
  type Field,
  isAnything,
  never,
  noDoc,
  type ObjectType,
  type TupleType,
  type Type,
  unknownBecause,
} from './type.ts';

/** Most pairs for which both-of is worked out member by member; above, it is written with `&`. */
const pairsMax = 256;
/** Operations within operations. What was read is not that deep, but shared parts may follow each other in a row. */
const depthMax = 4 * limits.schemaDepthMax;

/** Both of two types of which one has a name. */
interface Pair {
  type: Type | undefined;
  /** Stands for the pair within itself; made when it is needed. */
  definition: Definition | undefined;
}

export class Algebra {
  /** Number of each type that was met, by what it is made of: the same number, the same type, comments aside. */
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<Type, number>();
  readonly #definitions = new WeakMap<Definition, number>();
  readonly #names = new Map<string, number>();
  readonly #pairs = new Map<string, Pair>();
  #definitionCount = 0;
  #operations = 0;
  #depth = 0;

  /** Steps taken so far. */
  get operations(): number {
    return this.#operations;
  }

  /** Takes as many steps as work of this size is worth; false when they are used up. */
  spend(size: number): boolean {
    this.#operations += size;
    return this.#operations <= limits.schemaOperationsMax;
  }

  /** Either of `types`: flat, without doubles. */
  union(types: readonly Type[]): Type {
    const size = types.reduce((sum, type) => sum + (type.kind === 'union' ? type.members.length : 1), 0);
    if (!this.spend(size)) return unknownBecause('too large');
    const flat = types.flatMap((type) => (type.kind === 'union' ? type.members : [type]));
    const lost = flat.find((type) => type.kind === 'unknown' && type.why !== 'any');
    if (lost !== undefined) return lost;
    if (flat.some(isAnything)) return anything;
    const members = new Map<number, Type>();
    for (const type of flat) {
      const number = this.#numberOf(type);
      if (type.kind !== 'never' && !members.has(number)) members.set(number, type);
    }
    const [first, ...others] = members.values();
    if (first === undefined) return never;
    return others.length === 0 ? first : { kind: 'union', members: [first, ...others] };
  }

  /** Both `a` and `b`. */
  intersect(a: Type, b: Type): Type {
    if (!this.spend(1)) return unknownBecause('too large');
    if (this.#depth >= depthMax) return unknownBecause('nested too deep');
    this.#depth += 1;
    const both = this.#both(a, b);
    this.#depth -= 1;
    return both;
  }

  #both(a: Type, b: Type): Type {
    if (isAnything(a)) return b;
    if (a === b || b.kind === 'unknown') return a;
    if (a.kind === 'unknown') return b;
    if (a.kind === 'never' || b.kind === 'never') return never;
    if (this.#numberOf(a) === this.#numberOf(b)) return a;
    if (a.kind === 'named' || b.kind === 'named') return this.#meetNamed(a, b);
    if (a.kind === 'union' || b.kind === 'union') return this.#distribute(a, b);
    if (a.kind === 'intersection' || b.kind === 'intersection') return this.#written(a, b);
    return this.#intersectPlain(a, b);
  }

  #meetNamed(a: Type, b: Type): Type {
    const left = a.kind === 'named' ? a.definition.type : a;
    const right = b.kind === 'named' ? b.definition.type : b;
    if (left === undefined || right === undefined) return this.#written(a, b);
    const key = `${this.#numberOf(a)}&${this.#numberOf(b)}`;
    const known = this.#pairs.get(key);
    if (known?.type !== undefined) return known.type;
    if (known !== undefined) {
      known.definition ??= { hint: hintOf(a, b), doc: noDoc, type: undefined, recursive: true };
      return { kind: 'named', definition: known.definition };
    }
    const pair: Pair = { type: undefined, definition: undefined };
    this.#pairs.set(key, pair);
    const met = this.intersect(left, right);
    pair.type = met;
    if (pair.definition !== undefined) {
      pair.definition.type = met;
      pair.type = { kind: 'named', definition: pair.definition };
    }
    return pair.type;
  }

  #distribute(a: Type, b: Type): Type {
    const left = a.kind === 'union' ? a.members : [a];
    const right = b.kind === 'union' ? b.members : [b];
    if (left.length * right.length > pairsMax) return this.#written(a, b);
    const met = this.union(left.flatMap((one) => right.map((other) => this.intersect(one, other))));
    if (met.kind !== 'never') return met;
    // What was only inferred gives way to what was said.
    return right.every(isInferred) ? a : left.every(isInferred) ? b : met;
  }

  #intersectPlain(a: Type, b: Type): Type {
    if (a.kind === 'primitive' && b.kind === 'primitive' && a.name === b.name) return a.inferred ? b : a;
    if (a.kind === 'literal' && b.kind === 'primitive' && typeof a.value === b.name) return a;
    if (b.kind === 'literal' && a.kind === 'primitive' && typeof b.value === a.name) return b;
    if (isInferred(b)) return a;
    if (isInferred(a)) return b;
    const met = this.#meetStructures(a, b);
    if (met.kind !== 'never') return isGuessed(a) && isGuessed(b) ? guessed(met) : met;
    // A guess binds its own kind alone.
    if (isGuessed(a) && isGuessed(b)) return this.union([a, b]);
    return isGuessed(a) ? b : isGuessed(b) ? a : never;
  }

  #meetStructures(a: Type, b: Type): Type {
    if (a.kind === 'object' && b.kind === 'object') return this.#mergeObjects(a, b);
    if (a.kind === 'array' && b.kind === 'array') {
      return { kind: 'array', element: this.intersect(a.element, b.element) };
    }
    if (a.kind === 'tuple' && b.kind === 'array') return this.#narrowTuple(a, b.element);
    if (b.kind === 'tuple' && a.kind === 'array') return this.#narrowTuple(b, a.element);
    if (a.kind === 'tuple' && b.kind === 'tuple') return this.#written(a, b);
    return never;
  }

  #narrowTuple(tuple: TupleType, element: Type): Type {
    return {
      kind: 'tuple',
      required: tuple.required,
      elements: tuple.elements.map((one) => this.intersect(one, element)),
      rest: tuple.rest === undefined ? undefined : this.intersect(tuple.rest, element),
    };
  }

  #mergeObjects(a: ObjectType, b: ObjectType): Type {
    if (!this.spend(a.fields.size + b.fields.size)) return unknownBecause('too large');
    const fields = new Map(a.fields);
    for (const [key, field] of b.fields) {
      const other = fields.get(key);
      fields.set(key, other === undefined ? field : this.#mergeFields(other, field));
    }
    const rest =
      a.rest === undefined ? b.rest : b.rest === undefined ? a.rest : this.intersect(a.rest, b.rest);
    return { kind: 'object', fields, rest, closed: a.closed || b.closed };
  }

  #mergeFields(a: Field, b: Field): Field {
    this.spend(a.doc.tags.length + b.doc.tags.length);
    return {
      type: this.intersect(a.type, b.type),
      optional: a.filled === true || b.filled === true || (a.optional && b.optional),
      ...(a.filled === true || b.filled === true ? { filled: true } : {}),
      doc: { text: a.doc.text || b.doc.text, tags: [...new Set([...a.doc.tags, ...b.doc.tags])] },
    };
  }

  #numberOf(type: Type): number {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const number = numberIn(this.#numbers, this.#keyOf(type));
    this.#known.set(type, number);
    return number;
  }

  #keyOf(type: Type): string {
    switch (type.kind) {
      case 'unknown':
      case 'never':
        return type.kind;
      case 'primitive':
        return type.name;
      case 'literal':
        return JSON.stringify(type.value);
      case 'array':
        return `${mark(type)}[${this.#numberOf(type.element)}…]`;
      case 'tuple':
        return `${mark(type)}[${type.required}:${this.#numbersOf(type.elements)};${type.rest === undefined ? '' : this.#numberOf(type.rest)}]`;
      case 'object': {
        this.spend(type.fields.size);
        // Names by number: a long one is not to be copied into every key.
        const fields = [...type.fields].map(
          ([name, field]) =>
            `${numberIn(this.#names, name)}${field.optional ? '?' : ''}${field.filled === true ? '=' : ''}:${this.#numberOf(field.type)}`,
        );
        return `${mark(type)}{${fields.join()};${type.closed};${type.rest === undefined ? '' : this.#numberOf(type.rest)}}`;
      }
      case 'union':
        return `(|${this.#numbersOf(type.members)})`;
      case 'intersection':
        return `(&${this.#numbersOf(type.members)})`;
      case 'named':
        return `#${this.#definitionNumber(type.definition)}`;
    }
  }

  #numbersOf(types: readonly Type[]): string {
    this.spend(types.length);
    return types.map((type) => this.#numberOf(type)).join();
  }

  #definitionNumber(definition: Definition): number {
    const number = this.#definitions.get(definition) ?? this.#definitionCount++;
    this.#definitions.set(definition, number);
    return number;
  }

  #written(...types: readonly Type[]): Type {
    const members = types.flatMap((type) => (type.kind === 'intersection' ? type.members : [type]));
    return this.spend(members.length) ? { kind: 'intersection', members } : unknownBecause('too large');
  }
}

/** The number of a text: the next one for one that was not met. */
function numberIn(numbers: Map<string, number>, text: string): number {
  const number = numbers.get(text) ?? numbers.size;
  numbers.set(text, number);
  return number;
}

function hintOf(...types: readonly Type[]): string {
  return types.map((type) => (type.kind === 'named' ? type.definition.hint : '')).join(' ');
}

function isGuessed(type: Type): boolean {
  return (type.kind === 'object' || type.kind === 'array' || type.kind === 'tuple') && type.guessed === true;
}

function mark(type: Type): string {
  return isGuessed(type) ? '~' : '';
}

/** The same where nothing says that it is of its kind. */
export function guessed(type: Type): Type {
  return type.kind === 'object' || type.kind === 'array' || type.kind === 'tuple'
    ? { ...type, guessed: true }
    : type;
}

function isInferred(type: Type): boolean {
  return type.kind === 'primitive' && type.inferred === true;
}
