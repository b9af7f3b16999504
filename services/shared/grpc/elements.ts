/**
 * How many parts a message has, found without building it: a message within its size may hold millions of empty
 * parts, and each would become an object.
 *
 * E1  Strings and bytes are stepped over, so that what a count costs goes with the parts and not with the bytes.
 * E2  Counting ends at the limit. Whatever a decoder might read in another way than this is refused: an odd wire
 *     type, a group, a part that ends past its message.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { AppError } from '../errors.ts';

/** The number of fields on the wire, those of messages in messages too; past `max`, some number above it. */
export function countFields(schema: DescMessage, bytes: Uint8Array, max: number): number {
  return new FieldCount(bytes, max).of(schema);
}

class FieldCount {
  readonly #bytes: Uint8Array;
  readonly #max: number;
  #at = 0;
  #count = 0;

  constructor(bytes: Uint8Array, max: number) {
    this.#bytes = bytes;
    this.#max = max;
  }

  of(schema: DescMessage): number {
    this.#message(schema, this.#bytes.length);
    return this.#count;
  }

  #message(schema: DescMessage, end: number): void {
    const kinds = kindsOf(schema);
    while (this.#at < end && this.#count++ < this.#max) {
      const tag = this.#varint();
      const wireType = tag & 7;
      const kind = kinds.get(tag >>> 3);
      if (kind !== undefined && kind.wireType !== wireType) throw malformed();
      if (wireType === 0) this.#varint();
      else if (wireType === 1) this.#at += 8;
      else if (wireType === 5) this.#at += 4;
      else if (wireType === 2) this.#part(kind?.message, end);
      else throw malformed(); // A group: no message has one.
    }
    if (this.#at > end) throw malformed();
  }

  #part(schema: DescMessage | undefined, end: number): void {
    const partEnd = this.#varint() + this.#at;
    if (partEnd > end) throw malformed();
    if (schema !== undefined) this.#message(schema, partEnd);
    this.#at = partEnd;
  }

  /** The low 32 bits. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw malformed();
  }
}

function malformed(): AppError {
  return new AppError('INVALID_ARGUMENT', 'the message cannot be decoded');
}

/** How a field is written, and the message that it holds. */
interface Kind {
  readonly wireType: number;
  readonly message: DescMessage | undefined;
}

const known = new WeakMap<DescMessage, ReadonlyMap<number, Kind>>();

function kindsOf(schema: DescMessage): ReadonlyMap<number, Kind> {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const kinds = new Map(schema.fields.map((field) => [field.number, kindOf(field)]));
  known.set(schema, kinds);
  return kinds;
}

function kindOf(field: DescField): Kind {
  if (field.message !== undefined && field.fieldKind !== 'map')
    return { wireType: 2, message: field.message };
  if (field.fieldKind === 'enum') return { wireType: 0, message: undefined };
  const { scalar } = field;
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return { wireType: 2, message: undefined };
  const fixed = scalar !== undefined && /FIXED|DOUBLE|FLOAT/.test(ScalarType[scalar]);
  // Many numbers in one part would have to be counted in another way.
  if (fixed || field.fieldKind !== 'scalar') throw new Error(`${field}: fields of this kind are not counted`);
  return { wireType: 0, message: undefined };
}

const quote = 0x22;
const backslash = 0x5c;
/** "," "[" "{" */
const beginning = new Set([0x2c, 0x5b, 0x7b]);

/** The number of members, items, objects and arrays of JSON text; past `max`, some number above it. */
export function countJson(text: Buffer, max: number): number {
  let count = 1;
  for (let at = 0; at < text.length && count <= max; at++) {
    const byte = text[at] ?? 0;
    if (byte === quote) at = endOfString(text, at + 1);
    else if (beginning.has(byte)) count++;
  }
  return count;
}

/** Where the string that begins at `from` has its closing quote. */
function endOfString(text: Buffer, from: number): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = at;
    while (before > from && text[before - 1] === backslash) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
