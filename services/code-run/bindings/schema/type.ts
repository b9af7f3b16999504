/** TypeScript types as values. What is done with them: algebra.ts and print.ts. */

/** Why a part of a schema became `unknown`. Only `any` is what the schema says; the others are losses. */
export type UnknownReason =
  /** The schema says nothing about the value. */
  | 'any'
  /** A reference that leaves the document; never fetched. */
  | 'external reference'
  /** A reference to nothing in the document. */
  | 'missing reference'
  /** A reference that leads to itself and says nothing. */
  | 'reference loop'
  /** Only what the value must not be. */
  | 'not'
  /** Only what holds under a condition. */
  | 'condition'
  /** Not a schema at all, or a type that JSON Schema does not have. */
  | 'malformed'
  /** Reading it failed. */
  | 'unreadable'
  | 'nested too deep'
  | 'too large';

export interface Doc {
  /** What it is, in the app's words. */
  readonly text: string;
  /** "@default 10". */
  readonly tags: readonly string[];
}

export interface Field {
  readonly type: Type;
  readonly optional: boolean;
  /** The app fills it in, whatever requires it. */
  readonly filled?: true;
  readonly doc: Doc;
}

/** A shared part of a schema. Its type is set when it is known; a part may lead back to itself. */
export interface Definition {
  /** "RichText": what its name is made from. */
  readonly hint: string;
  doc: Doc;
  type: Type | undefined;
  recursive: boolean;
}

export type Type =
  | { readonly kind: 'unknown'; readonly why: UnknownReason }
  | { readonly kind: 'never' }
  | { readonly kind: 'primitive'; readonly name: PrimitiveName; readonly inferred?: true }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | ObjectType
  | { readonly kind: 'array'; readonly element: Type; readonly guessed?: true }
  | TupleType
  | { readonly kind: 'union'; readonly members: readonly Type[] }
  | { readonly kind: 'intersection'; readonly members: readonly Type[] }
  | { readonly kind: 'named'; readonly definition: Definition };

export type PrimitiveName = 'string' | 'number' | 'boolean' | 'null';

export interface ObjectType {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
  /** Values of the other keys, as far as the schema speaks of them. */
  readonly rest: Type | undefined;
  /** It says that there are no others. */
  readonly closed: boolean;
  /** Nothing says that it is an object: keywords of objects bind objects alone. The same for lists. */
  readonly guessed?: true;
}

export interface TupleType {
  readonly kind: 'tuple';
  readonly elements: readonly Type[];
  /** How many of the elements must be there. */
  readonly required: number;
  readonly rest: Type | undefined;
  readonly guessed?: true;
}

export const noDoc: Doc = { text: '', tags: [] };
export const anything: Type = { kind: 'unknown', why: 'any' };
export const never: Type = { kind: 'never' };
export const nullType: Type = { kind: 'primitive', name: 'null' };
/** `type: object` and not a word more. */
export const anyObject: ObjectType = { kind: 'object', fields: new Map(), rest: undefined, closed: false };

export function unknownBecause(why: UnknownReason): Type {
  return { kind: 'unknown', why };
}

export function isAnything(type: Type): boolean {
  return type.kind === 'unknown' && type.why === 'any';
}

/** The types right inside a type. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'array':
      return [type.element];
    case 'tuple':
      return type.rest === undefined ? type.elements : [...type.elements, type.rest];
    case 'object': {
      const fields = [...type.fields.values()].map((field) => field.type);
      return type.rest === undefined ? fields : [...fields, type.rest];
    }
    case 'union':
    case 'intersection':
      return type.members;
    default:
      return [];
  }
}
