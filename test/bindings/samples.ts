/**
 * Samples of JSON Schemas, made without the converter under test, and judged by Ajv. `full` has every field to a
 * bounded depth, `least` only what must be there.
 */
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';

interface Schema {
  [keyword: string]: unknown;
  $ref?: unknown;
  $schema?: unknown;
  additionalProperties?: unknown;
  allOf?: unknown;
  anyOf?: unknown;
  const?: unknown;
  default?: unknown;
  enum?: unknown;
  examples?: unknown;
  format?: unknown;
  items?: unknown;
  maxLength?: unknown;
  minItems?: unknown;
  minLength?: unknown;
  not?: unknown;
  oneOf?: unknown;
  pattern?: unknown;
  prefixItems?: unknown;
  properties?: unknown;
  required?: unknown;
  type?: unknown;
}

const options = {
  strict: false,
  logger: false,
  validateFormats: true,
  // Real catalogs hold schemas that the meta-schemas refuse; what is judged here is the samples.
  validateSchema: false,
  addUsedSchema: false,
  code: { optimize: false },
} as const;
const older = withFormats(new Ajv(options));
const newer = withFormats(new Ajv2020(options));

function withFormats<T extends Ajv | Ajv2020>(ajv: T): T {
  (formats as unknown as (ajv: T) => void)(ajv);
  return ajv;
}

/** A validator that takes what real servers send: mixed drafts, `nullable`, boolean limits of draft 04, required fields with defaults. */
export function validatorOf(schemaJson: string): ValidateFunction {
  const schema = tamed(JSON.parse(schemaJson));
  const isNewer = String(schema.$schema ?? '').includes('2020-12') || schemaJson.includes('"prefixItems"');
  delete schema.$schema;
  return (isNewer ? newer : older).compile(schema as AnySchema);
}

export function accepts(validate: ValidateFunction, sample: unknown): boolean {
  return validate(structuredClone(sample)) as boolean;
}

function tamed(schema: unknown): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    for (const [exclusive, limit] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (typeof value[exclusive] !== 'boolean') continue;
      if (value[exclusive] === true && typeof value[limit] === 'number') value[exclusive] = value[limit];
      else delete value[exclusive];
    }
    // What has a default may be left out: the app fills it in.
    if (Array.isArray(value.required) && typeof value.properties === 'object') {
      value.required = value.required.filter((key: string) => value.properties[key]?.default === undefined);
    }
    if (value.nullable === true && typeof value.type === 'string') value.type = [value.type, 'null'];
    delete value.nullable;
    return value;
  }) as Schema;
}

export type Fullness = 'full' | 'least';

const levelsMax = 4;
const otherKey = 'other';
/** Nothing that fits: the part is left out if it may be. */
const nothing = Symbol('nothing');

export function sampleOf(schemaJson: string, fullness: Fullness): unknown {
  const root = tamed(JSON.parse(schemaJson));
  const sample = new Sampler(root, fullness).make(root, 0);
  return sample === nothing ? undefined : sample;
}

class Sampler {
  readonly #root: unknown;
  readonly #fullness: Fullness;

  constructor(root: unknown, fullness: Fullness) {
    this.#root = root;
    this.#fullness = fullness;
  }

  make(given: unknown, level: number): unknown {
    if (level > 12) return nothing;
    if (given === true || typeof given !== 'object' || given === null)
      return given === false ? nothing : 'anything';
    const schema = this.#flat(given as Schema, 0);
    if (schema === undefined) return nothing;
    if ('const' in schema) return schema.const;
    if (Array.isArray(schema.enum)) {
      const values = schema.enum.filter((value) => isOfType(value, schema.type));
      return values.length === 0 ? nothing : values[0];
    }
    switch (typeOf(schema)) {
      case 'string':
        return text(schema);
      case 'integer':
      case 'number':
        return number(schema);
      case 'boolean':
        return true;
      case 'null':
        return null;
      case 'array':
        return this.#list(schema, level);
      case 'object':
        return this.#object(schema, level);
      default:
        return 'anything';
    }
  }

  /** References followed, allOf merged, the first possible choice taken. */
  #flat(schema: Schema, depth: number): Schema | undefined {
    if (depth > 20) return undefined;
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    let flat: Schema | undefined = own;
    if (typeof $ref === 'string') flat = merge(flat, this.#flat(this.#resolve($ref), depth + 1));
    for (const part of Array.isArray(allOf) ? allOf : []) flat = merge(flat, this.#flat(part, depth + 1));
    for (const choices of [anyOf, oneOf]) {
      if (!Array.isArray(choices)) continue;
      const before: Schema | undefined = flat;
      flat = choices
        .filter((choice) => typeof choice === 'object' && !isImpossible(choice))
        .map((choice) => merge(before, this.#flat(choice, depth + 1)))
        .find((met) => met !== undefined);
    }
    return flat;
  }

  #resolve(reference: string): Schema {
    let part: unknown = this.#root;
    for (const key of reference.split('/').slice(1)) {
      part = (part as Schema)[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return part as Schema;
  }

  #list(schema: Schema, level: number): unknown {
    const prefix = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined);
    if (Array.isArray(prefix)) return prefix.map((part) => this.make(part, level + 1));
    const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
    if (level >= levelsMax && least === 0) return [];
    const count = Math.max(least, this.#fullness === 'full' ? 1 : 0);
    const items = Array.from({ length: count }, (_, index) =>
      vary(this.make(schema.items ?? true, level + 1), index),
    );
    return items.includes(nothing) ? [] : items;
  }

  #object(schema: Schema, level: number): unknown {
    const required = new Set((schema.required as string[] | undefined) ?? []);
    const sample: Schema = {};
    for (const [key, part] of Object.entries((schema.properties ?? {}) as Schema)) {
      const defaulted = typeof part === 'object' && part !== null && 'default' in part;
      const needed = required.has(key) && !defaulted;
      if (!needed && (this.#fullness === 'least' || level >= levelsMax)) continue;
      const value = this.make(part, level + 1);
      if (value === nothing && needed) return nothing;
      if (value !== nothing)
        Object.defineProperty(sample, key, { value, enumerable: true, configurable: true, writable: true });
    }
    const others = schema.additionalProperties;
    for (const key of required) {
      if (Object.hasOwn(sample, key) || Object.hasOwn((schema.properties ?? {}) as Schema, key)) continue;
      sample[key] = this.make(others ?? true, level + 1);
    }
    if (
      this.#fullness === 'full' &&
      level < levelsMax &&
      typeof others === 'object' &&
      !('propertyNames' in schema)
    ) {
      const value = this.make(others, level + 1);
      if (value !== nothing) sample[otherKey] = value;
    }
    return sample;
  }
}

function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? type[0];
  if (typeof type === 'string') return type;
  if ('properties' in schema || 'required' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('pattern' in schema || 'format' in schema || 'minLength' in schema) return 'string';
  return 'minimum' in schema || 'maximum' in schema ? 'number' : undefined;
}

function isImpossible(choice: Schema): boolean {
  return 'not' in choice && typeof choice.not === 'object' && Object.keys(choice.not ?? {}).length === 0;
}

function isOfType(value: unknown, type: unknown): boolean {
  const name = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const types = type === undefined ? [name] : [type].flat();
  return types.includes(name) || (name === 'number' && types.includes('integer'));
}

function merge(a: Schema | undefined, b: Schema | undefined): Schema | undefined {
  if (a === undefined || b === undefined) return undefined;
  const both: Schema = { ...a, ...b };
  if ('type' in a && 'type' in b) {
    const allowed = [b.type].flat();
    const types = [a.type].flat().filter((type) => allowed.includes(type));
    if (types.length === 0) return undefined;
    both.type = types;
  }
  if ('properties' in a && 'properties' in b) {
    const properties: Schema = { ...(a.properties as Schema) };
    for (const [key, part] of Object.entries(b.properties as Schema)) {
      properties[key] = key in properties ? { allOf: [properties[key], part] } : part;
    }
    both.properties = properties;
  }
  if ('required' in a && 'required' in b) both.required = [a.required, b.required].flat();
  if (Array.isArray(a.enum) && Array.isArray(b.enum)) {
    const allowed = b.enum;
    both.enum = a.enum.filter((value) => allowed.includes(value));
  }
  return both;
}

const byFormat: Readonly<Record<string, string>> = {
  date: '2026-11-30',
  time: '10:00:00Z',
  'date-time': '2026-11-30T10:00:00Z',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  email: 'ada@example.com',
  uri: 'https://example.com/a',
  url: 'https://example.com/a',
  'uri-reference': '/a',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
  duration: 'P1D',
  byte: 'aGk=',
};

function text(schema: Schema): unknown {
  const { pattern, format, minLength, maxLength } = schema;
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : 1000;
  if (typeof pattern === 'string') {
    const known = [
      'text',
      byFormat[String(format)],
      schema.default,
      ...((schema.examples as unknown[]) ?? []),
    ];
    const expression = new RegExp(pattern, 'u');
    const fits = (one: unknown): boolean =>
      typeof one === 'string' && expression.test(one) && one.length >= least && one.length <= most;
    const made = known.find(fits) ?? fc.sample(stringMatching(pattern), { numRuns: 50, seed: 7 }).find(fits);
    return made ?? nothing;
  }
  if (typeof format === 'string' && byFormat[format] !== undefined) return byFormat[format];
  return 'text'.padEnd(least, 'x').slice(0, Math.max(most, least));
}

function stringMatching(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'));
  } catch {
    return fc.constant('');
  }
}

function number(schema: Schema): number {
  const low = Math.max(
    limit(schema, 'minimum') ?? -Infinity,
    (limit(schema, 'exclusiveMinimum') ?? -Infinity) + 1,
  );
  const high = Math.min(
    limit(schema, 'maximum') ?? Infinity,
    (limit(schema, 'exclusiveMaximum') ?? Infinity) - 1,
  );
  const step = limit(schema, 'multipleOf') ?? 1;
  const start = Number.isFinite(low) ? low : Number.isFinite(high) ? Math.min(high, step) : step;
  const rounded = Math.ceil(start / step) * step;
  return Number.isFinite(high) && rounded > high ? start : rounded;
}

function limit(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
}

/** Tells items apart where they must be unique. */
function vary(value: unknown, index: number): unknown {
  if (index === 0) return value;
  return typeof value === 'string' ? `${value}${index}` : typeof value === 'number' ? value + index : value;
}

/** Samples with one thing wrong that a type can tell: a field is missing, or is of another type. */
export function brokenSamples(schemaJson: string, validate: ValidateFunction): Schema[] {
  const sample = sampleOf(schemaJson, 'full') as Schema;
  const properties = (JSON.parse(schemaJson) as Schema).properties ?? {};
  const known = Object.keys(sample).filter((key) => Object.hasOwn(properties, key));
  return [missing(sample, known), wrong(sample, known)].flatMap((candidates) => {
    for (const [one, keywords] of candidates) if (isRefused(validate, one, keywords)) return [one];
    return [];
  });
}

type Candidate = readonly [sample: Schema, keywords: readonly string[]];

function* missing(sample: Schema, keys: readonly string[]): Generator<Candidate> {
  for (const key of keys) {
    yield [Object.fromEntries(Object.entries(sample).filter(([other]) => other !== key)), ['required']];
  }
}

function* wrong(sample: Schema, keys: readonly string[]): Generator<Candidate> {
  for (const key of keys) {
    for (const value of [{ wrong: [1] }, 12.5, 'wrong value', [[['wrong']]], true]) {
      yield [{ ...sample, [key]: value }, ['type', 'enum', 'const']];
    }
  }
}

function isRefused(validate: ValidateFunction, sample: Schema, keywords: readonly string[]): boolean {
  return (
    !accepts(validate, sample) && (validate.errors ?? []).every((error) => keywords.includes(error.keyword))
  );
}
