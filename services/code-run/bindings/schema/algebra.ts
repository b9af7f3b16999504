/**
 * The two operations that JSON Schema needs on types: either of some (union) and both of two (intersect). One
 * instance serves one schema; a schema that is made to explode runs out of operations and becomes unknown.
 */
import { limits } from '../../../shared/limits.ts';
import {
  anything,
  type Field,
  isAnything,
  never,
  type ObjectType,
  type TupleType,
  type Type,
  unknownBecause,
} from './type.ts';

/** Most pairs for which both-of is worked out member by member; above, it is written with `&`. */
const pairsMax = 256;

export class Algebra {
  /** Number of each type that was met, by what it is made of: the same number, the same type, comments aside. */
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<Type, number>();
  #operations = 0;

  /** Steps taken so far. */
  get operations(): number {
    return this.#operations;
  }

  /** Either of `types`: flat, without doubles. */
  union(types: readonly Type[]): Type {
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
    this.#operations += 1;
    if (this.#operations > limits.schemaOperationsMax) return unknownBecause('too large');
    if (isAnything(a)) return b;
    if (a === b || b.kind === 'unknown') return a;
    if (a.kind === 'unknown') return b;
    if (a.kind === 'never' || b.kind === 'never') return never;
    if (this.#numberOf(a) === this.#numberOf(b)) return a;
    if (a.kind === 'named') {
      const known = a.definition.type;
      return known === undefined ? written(a, b) : this.intersect(known, b);
    }
    if (b.kind === 'named') {
      const known = b.definition.type;
      return known === undefined ? written(a, b) : this.intersect(a, known);
    }
    if (a.kind === 'union' || b.kind === 'union') return this.#distribute(a, b);
    if (a.kind === 'intersection' || b.kind === 'intersection') return written(a, b);
    return this.#intersectPlain(a, b);
  }

  #distribute(a: Type, b: Type): Type {
    const left = a.kind === 'union' ? a.members : [a];
    const right = b.kind === 'union' ? b.members : [b];
    if (left.length * right.length > pairsMax) return written(a, b);
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
    if (a.kind === 'object' && b.kind === 'object') return this.#mergeObjects(a, b);
    if (a.kind === 'array' && b.kind === 'array') {
      return { kind: 'array', element: this.intersect(a.element, b.element) };
    }
    if (a.kind === 'tuple' && b.kind === 'array') return this.#narrowTuple(a, b.element);
    if (b.kind === 'tuple' && a.kind === 'array') return this.#narrowTuple(b, a.element);
    if (a.kind === 'tuple' && b.kind === 'tuple') return written(a, b);
    return never;
  }

  #narrowTuple(tuple: TupleType, element: Type): Type {
    return {
      ...tuple,
      elements: tuple.elements.map((one) => this.intersect(one, element)),
      rest: tuple.rest === undefined ? undefined : this.intersect(tuple.rest, element),
    };
  }

  #mergeObjects(a: ObjectType, b: ObjectType): Type {
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
    return {
      type: this.intersect(a.type, b.type),
      optional: a.optional && b.optional,
      doc: { text: a.doc.text || b.doc.text, tags: [...new Set([...a.doc.tags, ...b.doc.tags])] },
    };
  }

  #numberOf(type: Type): number {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const key = this.#keyOf(type);
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
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
        return `[${this.#numberOf(type.element)}…]`;
      case 'tuple':
        return `[${type.required}:${this.#numbersOf(type.elements)};${type.rest === undefined ? '' : this.#numberOf(type.rest)}]`;
      case 'object': {
        const fields = [...type.fields].map(
          ([name, field]) =>
            `${JSON.stringify(name)}${field.optional ? '?' : ''}:${this.#numberOf(field.type)}`,
        );
        return `{${fields.join()};${type.closed};${type.rest === undefined ? '' : this.#numberOf(type.rest)}}`;
      }
      case 'union':
        return `(|${this.#numbersOf(type.members)})`;
      case 'intersection':
        return `(&${this.#numbersOf(type.members)})`;
      case 'named':
        return `#${type.definition.number}`;
    }
  }

  #numbersOf(types: readonly Type[]): string {
    return types.map((type) => this.#numberOf(type)).join();
  }
}

function isInferred(type: Type): boolean {
  return type.kind === 'primitive' && type.inferred === true;
}

function written(...types: readonly Type[]): Type {
  return {
    kind: 'intersection',
    members: types.flatMap((type) => (type.kind === 'intersection' ? type.members : [type])),
  };
}
