/**
 * Types as TypeScript text. Everything an app wrote is inside a comment or a string literal. Pure.
 *
 * P1  Types share parts, so that one may be far smaller than its text: whatever walks them is bounded, here by the
 *     characters and the parts written and by the levels gone down. What is left is unknown.
 */

import { limits } from '../../../shared/limits.ts';
import { wordsOf } from '../names.ts';
import { Algebra } from './algebra.ts';
import { briefly, commentOf } from './doc.ts';
import {
  type Definition,
  type Doc,
  type Field,
  never,
  noDoc,
  type ObjectType,
  partsOf,
  type Type,
} from './type.ts';

/** How much is said. */
export interface Detail {
  /** All comments; one sentence each; none. */
  readonly docs: 'full' | 'brief' | 'none';
  /** Objects within objects that are written out. */
  readonly levelsMax: number;
}

export const fullDetail: Detail = { docs: 'full', levelsMax: Number.POSITIVE_INFINITY };

const lineCharsMax = 90;
/** A shared part that is shorter is written where it stands. */
const namedCharsMin = 50;
const hintCharsMax = 60;
/** Parts that are written to tell whether a shared one is long. */
const namedPartsMin = 100;
/** Levels of text. What was read is not that deep, but shared parts may follow each other in a row. */
const depthMax = 4 * limits.schemaDepthMax;
const indentStep = '  ';

/** What TypeScript takes for properties of every object. */
const inheritedNames = new Set([
  'constructor',
  'toString',
  'toLocaleString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
]);

/** Writes the types of one declaration, and the definitions they need under the names that `nameOf` gives. */
export class Printer {
  readonly #detail: Detail;
  readonly #prefix: string;
  readonly #names = new Map<Definition, string>();
  readonly #taken: Set<string>;
  /** Definitions whose names were written. */
  readonly #written = new Set<Definition>();
  /** By name without a number, the number to try next. */
  readonly #nextNumbers = new Map<string, number>();
  readonly #algebra = new Algebra();
  readonly #wide = new Map<ObjectType, Type>();
  #namesWritten = 0;
  #level = 0;
  #depth = 0;
  #chars = 0;
  #parts = 0;
  #charsMax: number = limits.declarationCharsMax;
  #partsMax: number = limits.declarationPartsMax;

  /** `types` is all that will be written; `prefix` goes before the names of definitions, none of which is in `taken`. */
  constructor(types: readonly Type[], detail: Detail, prefix: string, taken: Set<string> = new Set()) {
    this.#detail = detail;
    this.#prefix = prefix;
    this.#taken = taken;
    const uses = countUses(types);
    for (const definition of uses.keys()) if (definition.recursive) this.#name(definition);
    for (const [definition, count] of uses) {
      if (!definition.recursive && count > 1 && this.#isLong(definition)) this.#name(definition);
    }
    this.#written.clear();
  }

  /** The definitions that were named in what was written, and those they name: "type Node = …;" each. */
  definitions(): string {
    const texts = new Map<Definition, string>();
    // What is written while this goes on comes at the end of it.
    for (const definition of this.#written) {
      this.#level = 1;
      const text = this.type(definition.type ?? never, '');
      const comment = this.#isSpent ? '' : this.comment(definition.doc, '');
      this.#chars += comment.length;
      texts.set(definition, `${comment}type ${this.#names.get(definition)} = ${text};\n`);
    }
    this.#level = 0;
    return [...this.#names.keys()].map((definition) => texts.get(definition) ?? '').join('');
  }

  comment(doc: Doc, indent: string, charsMax?: number): string {
    switch (this.#detail.docs) {
      case 'full':
        return commentOf(doc, indent, charsMax);
      case 'brief':
        return commentOf({ text: briefly(doc.text), tags: [] }, indent, charsMax);
      case 'none':
        return '';
    }
  }

  /** The text of a type. Past the limit on one declaration, what is left of it is unknown. */
  type(type: Type, indent: string): string {
    if (this.#isSpent) return 'unknown /* too large */';
    if (this.#depth >= depthMax) return 'unknown /* nested too deep */';
    this.#parts += 1;
    this.#depth += 1;
    const text = this.#text(type, indent);
    this.#depth -= 1;
    return text;
  }

  get #isSpent(): boolean {
    return this.#chars > this.#charsMax || this.#parts > this.#partsMax;
  }

  #text(type: Type, indent: string): string {
    switch (type.kind) {
      case 'unknown':
        return type.why === 'any' ? 'unknown' : `unknown /* ${type.why} */`;
      case 'never':
        return 'never';
      case 'primitive':
        this.#chars += type.name.length;
        return type.name;
      case 'literal': {
        const text = literalText(type.value);
        this.#chars += text.length;
        return text;
      }
      case 'array':
        return `${this.#grouped(type.element, indent)}[]`;
      case 'tuple': {
        const elements = type.elements.map((element, index) =>
          index < type.required ? this.type(element, indent) : `${this.#grouped(element, indent)}?`,
        );
        const rest = type.rest === undefined ? [] : [`...${this.#grouped(type.rest, indent)}[]`];
        return `[${[...elements, ...rest].join(', ')}]`;
      }
      case 'object':
        return this.#object(type, indent);
      case 'union':
        return this.#union(type.members, indent);
      case 'intersection':
        return type.members.map((member) => this.#grouped(member, indent)).join(' & ');
      case 'named': {
        const name = this.#names.get(type.definition);
        if (name === undefined) return this.type(type.definition.type ?? never, indent);
        if (this.#level >= this.#detail.levelsMax) return 'unknown /* cut to fit */';
        this.#namesWritten += 1;
        this.#written.add(type.definition);
        return name;
      }
    }
  }

  #name(definition: Definition): void {
    const plain = `${this.#prefix}${typeNameOf(definition.hint)}`;
    let number = this.#nextNumbers.get(plain) ?? 1;
    let name = number === 1 ? plain : `${plain}${number}`;
    while (this.#taken.has(name)) {
      number += 1;
      name = `${plain}${number}`;
    }
    this.#nextNumbers.set(plain, number + 1);
    this.#taken.add(name);
    this.#names.set(definition, name);
  }

  #isLong(definition: Definition): boolean {
    const chars = this.#chars;
    const parts = this.#parts;
    this.#charsMax = chars + namedCharsMin;
    this.#partsMax = parts + namedPartsMin;
    const text = this.type(definition.type ?? never, '');
    const isLong = this.#isSpent || text.length >= namedCharsMin;
    this.#chars = chars;
    this.#parts = parts;
    this.#charsMax = limits.declarationCharsMax;
    this.#partsMax = limits.declarationPartsMax;
    return isLong;
  }

  #union(members: readonly Type[], indent: string): string {
    const texts = members.map((member) => this.type(member, indent));
    const both = texts.includes('true') && texts.includes('false');
    const plain = both ? ['boolean', ...texts.filter((text) => text !== 'true' && text !== 'false')] : texts;
    return [...new Set(plain)].join(' | ');
  }

  #grouped(type: Type, indent: string): string {
    const text = this.type(type, indent);
    const shown = type.kind === 'named' && !this.#names.has(type.definition) ? type.definition.type : type;
    return shown?.kind === 'union' || shown?.kind === 'intersection' ? `(${text})` : text;
  }

  #object(type: ObjectType, indent: string): string {
    if (type.fields.size === 0) return this.#dictionary(type, indent);
    if (this.#level >= this.#detail.levelsMax) return `object /* ${type.fields.size} fields, cut to fit */`;
    this.#level += 1;
    const inner = indent + indentStep;
    const lines: { comment: string; text: string }[] = [];
    for (const [key, field] of type.fields) {
      if (this.#isSpent) break;
      const text = `${keyText(key)}${field.optional ? '?' : ''}: ${this.#field(key, field, inner)};`;
      const comment = this.comment(field.doc, inner);
      this.#chars += key.length + comment.length + inner.length;
      lines.push({ comment, text });
    }
    const left = type.fields.size - lines.length;
    if (left > 0)
      lines.push({ comment: '', text: `[key: string]: unknown /* ${left} fields, too large */;` });
    else if (type.rest !== undefined) lines.push(this.#others(type, inner));
    this.#level -= 1;
    if (lines.every(({ comment, text }) => comment === '' && !text.includes('\n'))) {
      const line = `{ ${lines.map(({ text }) => text).join(' ')}`.replace(/;$/, ' }');
      if (line.length <= lineCharsMax) return line;
    }
    return `{\n${lines.map(({ comment, text }) => `${comment}${inner}${text}\n`).join('')}${indent}}`;
  }

  /** Every object literal inherits some names, so that a field of such a name is never left out. */
  #field(key: string, field: Field, indent: string): string {
    const text = this.type(field.type, indent);
    return field.optional && inheritedNames.has(key) ? `${text} | Function` : text;
  }

  #dictionary(type: ObjectType, indent: string): string {
    if (type.rest === undefined) return `Record<string, ${type.closed ? 'never' : 'unknown'}>`;
    const before = this.#namesWritten;
    const value = this.type(type.rest, indent);
    // A type may lead back to itself through an index signature, not through Record.
    return this.#namesWritten > before ? `{ [key: string]: ${value} }` : `Record<string, ${value}>`;
  }

  /** In TypeScript the other keys must be wide enough for the named ones; the comment says what they are. */
  #others(type: ObjectType, indent: string): { comment: string; text: string } {
    const rest = type.rest ?? never;
    const fields = [...type.fields.values()];
    const wide = this.#wide.get(type) ?? this.#algebra.union([rest, ...fields.map((field) => field.type)]);
    this.#wide.set(type, wide);
    const narrow = this.type(rest, indent);
    const parts = [this.type(wide, indent)];
    if (wide.kind !== 'unknown' && fields.some((field) => field.optional)) parts.push('undefined');
    const text = parts.join(' | ');
    const doc =
      text === narrow || narrow.includes('\n') ? noDoc : { text: `Other keys: ${narrow}`, tags: [] };
    return { comment: this.comment(doc, indent), text: `[key: string]: ${text};` };
  }
}

/** How often each definition is referred to; one that another needs comes before it, as far as they form no cycle. */
function countUses(types: readonly Type[]): Map<Definition, number> {
  const uses = new Map<Definition, number>();
  const finished: Definition[] = [];
  const seen = new Set<Type>();
  const open: (Type | { readonly kind: 'end'; readonly definition: Definition })[] = types.toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'end') {
      finished.push(next.definition);
    } else if (next.kind === 'named') {
      const { definition } = next;
      const count = uses.get(definition) ?? 0;
      uses.set(definition, count + 1);
      if (count === 0) open.push({ kind: 'end', definition }, definition.type ?? never);
    } else if (!seen.has(next)) {
      seen.add(next);
      for (const part of partsOf(next).toReversed()) open.push(part);
    }
  }
  return new Map(finished.map((definition) => [definition, uses.get(definition) ?? 0]));
}

/** "RichText" from any text; "Part" where nothing of it is ASCII. */
function typeNameOf(hint: string): string {
  const words = wordsOf(hint.slice(0, hintCharsMax)).map((word) => word.replace(/[^a-z0-9]/g, ''));
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(name) ? name : `Part${name}`;
}

/** A property name as it stands before a colon. */
export function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : textLiteral(key);
}

/** The name of a method: a bare `new` would say how to construct. */
export function methodText(name: string): string {
  return name === 'new' ? textLiteral(name) : keyText(name);
}

/** A text between quotes; what cannot be seen in it is escaped. */
export function textLiteral(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (hidden) =>
    [...Array(hidden.length).keys()]
      .map((at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function literalText(value: string | number | boolean): string {
  return typeof value === 'string' ? textLiteral(value) : String(value);
}
