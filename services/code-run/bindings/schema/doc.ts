/**
 * What a schema says in words: descriptions, defaults, formats, limits, examples. Everything in it was written
 * by an app and ends up in comments alone.
 *
 * D1  No text ends a comment early, and none hides: what shows nothing on a screen is taken out.
 * D2  A text that is cut says so and says how long it was.
 */
import { limits } from '../../../shared/limits.ts';
import { isObject, type JsonObject, own, ownList, ownText, shortJson } from './json.ts';
import { type Doc, noDoc } from './type.ts';

/** Keywords that become tags, in the order they are shown. */
const tagKeywords = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'contentEncoding',
  'contentMediaType',
] as const;

const valueCharsMax = 200;
const briefCharsMax = 140;
const examplesMax = 3;
const valuesShownMax = 5;
const dependenciesMax = 20;
const tagsCharsMax = 4000;

export function docOf(schema: unknown): Doc {
  if (!isObject(schema)) return noDoc;
  const text = ownText(schema, 'description') || ownText(schema, 'title');
  const lines = [
    visible(text).trim(),
    ...valueLines(schema),
    ...choiceLines(schema),
    ...itemLines(schema),
  ].filter((line) => line !== '');
  return { text: lines.join('\n'), tags: tagsOf(schema) };
}

/** A doc, and what that of the part it stands for adds. */
export function docOrElse(doc: Doc, other: Doc): Doc {
  return { text: doc.text || other.text, tags: [...new Set([...doc.tags, ...other.tags])] };
}

function tagsOf(schema: JsonObject): string[] {
  const tags: string[] = [];
  if (own(schema, 'deprecated') === true) tags.push('@deprecated');
  const value = own(schema, 'default');
  if (value !== undefined) tags.push(`@default ${shortJson(value, valueCharsMax) ?? '…'}`);
  if (own(schema, 'type') === 'integer') tags.push('@integer');
  for (const keyword of tagKeywords) {
    const said = own(schema, keyword) ?? (keyword === 'format' ? choiceFormats(schema) : undefined);
    if (typeof said === 'string' || typeof said === 'number')
      tags.push(`@${keyword} ${cut(visible(String(said)), valueCharsMax)}`);
    else if (said === true) tags.push(`@${keyword}`);
  }
  for (const example of examplesOf(schema)) tags.push(`@example ${shortJson(example, valueCharsMax) ?? '…'}`);
  for (const [key, needed] of dependenciesOf(schema).slice(0, dependenciesMax))
    tags.push(cut(`@requires ${needed.join(', ')} beside ${key}`, valueCharsMax * 5));
  return tags.map((tag) => visible(tag).replaceAll('\n', ' '));
}

function examplesOf(schema: JsonObject): readonly unknown[] {
  const examples =
    ownList(schema, 'examples') ?? (Object.hasOwn(schema, 'example') ? [own(schema, 'example')] : []);
  return examples.slice(0, examplesMax);
}

function dependenciesOf(schema: JsonObject): [string, string[]][] {
  const said = own(schema, 'dependentRequired') ?? own(schema, 'dependencies');
  if (!isObject(said)) return [];
  return Object.entries(said).flatMap(([key, needed]): [string, string[]][] =>
    Array.isArray(needed) && needed.every((one) => typeof one === 'string') ? [[key, needed]] : [],
  );
}

/** `anyOf: [{format: "ipv4"}, {format: "ipv6"}]` is a format too. */
function choiceFormats(schema: JsonObject): string | undefined {
  const choices = ownList(schema, 'anyOf') ?? ownList(schema, 'oneOf') ?? [];
  const formats = choices.flatMap((choice) => (isObject(choice) ? ownText(choice, 'format') : '') || []);
  return formats.length === 0 ? undefined : [...new Set(formats)].join(' or ');
}

/** The first of the values that are too many for a type. */
function valueLines(schema: JsonObject): string[] {
  const values = ownList(schema, 'enum') ?? [];
  if (values.length <= limits.enumMembersMax) return [];
  const first = values.slice(0, valuesShownMax).map((value) => shortJson(value, valueCharsMax) ?? '…');
  return [`One of ${values.length.toLocaleString('en-US')} values: ${visible(first.join(', '))}, …`];
}

/** What each of several constants means: `anyOf: [{const: "hot", description: "Most read"}]`. */
function choiceLines(schema: JsonObject): string[] {
  const choices = ownList(schema, 'anyOf') ?? ownList(schema, 'oneOf') ?? [];
  return choices.flatMap((choice) => {
    if (!isObject(choice) || !Object.hasOwn(choice, 'const')) return [];
    const meaning = visible(ownText(choice, 'description') || ownText(choice, 'title')).trim();
    const value = shortJson(own(choice, 'const'), valueCharsMax);
    return meaning === '' || value === undefined ? [] : [`- ${value}: ${meaning}`];
  });
}

/** What the items of a list are, where they are too plain to carry comments themselves. */
function itemLines(schema: JsonObject): string[] {
  const items = own(schema, 'items');
  if (!isObject(items) || Object.hasOwn(items, 'properties')) return [];
  const said = visible(ownText(items, 'description')).trim();
  return said === '' ? [] : [`Each: ${said}`];
}

/** Joiners that stand between letters or signs, where they shape what is seen; and what is never seen. */
const joinerOrHidden =
  /(?<=[\p{L}\p{M}\p{Extended_Pictographic}])([\u200c\u200d])(?=[\p{L}\p{Extended_Pictographic}])|\p{Cf}|\p{Cs}|[\u{e0100}-\u{e01ef}]/gu;

/** Without what cannot be seen: controls, direction marks, zero-width characters, tags. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .replace(joinerOrHidden, '$1');
}

export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text
    .slice(0, charsMax)
    .toWellFormed()
    .replace(/\ufffd$/, '')}… (${text.length.toLocaleString('en-US')} characters)`;
}

/** The first sentence of a text, or its first line. */
export function briefly(text: string): string {
  const [line = ''] = text.split('\n');
  const [sentence = line] = line.match(/^.*?[.!?。！？](?=\s|$)/) ?? [];
  return cut(sentence, briefCharsMax);
}

/** The comment of a doc, with a line break at its end; nothing for nothing. */
export function commentOf(doc: Doc, indent: string, charsMax: number = limits.fieldDocCharsMax): string {
  const text = cut(doc.text, charsMax);
  const tags = cut(doc.tags.join(' '), tagsCharsMax);
  const parts =
    text.includes('\n') && tags !== ''
      ? [text, tags]
      : [[text, tags].filter((part) => part !== '').join(' ')];
  const lines = parts
    .join('\n')
    .replaceAll('*/', '*\\/')
    .split('\n')
    .map((line) => line.trimEnd());
  if (lines.every((line) => line === '')) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`;
}
