/** A binding in one line: what it does, and how it is called. */
import { briefly, visible } from './schema/doc.ts';
import { isObject, type JsonObject, ownList, ownObject, parsedObject } from './schema/json.ts';
import type { BoundCapability } from './table.ts';
import { templateVariables } from './uri-template.ts';

const argumentsShownMax = 8;

/** The first sentence of what the app says it does; for what says nothing, its source. */
export function summaryOf({ binding, capability }: BoundCapability): string {
  return firstSentence(said(capability)) || `${binding.source.kind} ${visible(binding.source.name)}`.trim();
}

function said(capability: BoundCapability['capability']): readonly [description: string, title: string] {
  switch (capability.kind) {
    case 'tool':
      return [capability.tool.description, capability.tool.title];
    case 'resource':
      return [capability.resource.description, capability.resource.title];
    case 'resourceTemplate':
      return [capability.template.description, capability.template.title];
    case 'prompt':
      return [capability.prompt.description, capability.prompt.title];
  }
}

export function firstSentence(texts: readonly string[]): string {
  const text = texts.map((one) => visible(one).trim()).find((one) => one !== '') ?? '';
  return briefly(text).replaceAll('\t', ' ');
}

/** "list_events(calendar, from?): List events." */
export function lineOf(bound: BoundCapability): string {
  return `${bound.binding.capability}(${argumentsOf(bound)}): ${summaryOf(bound)}`;
}

/** What must be given comes first: it is what must be known. */
function argumentsOf({ capability }: BoundCapability): string {
  const fields = fieldsOf(capability).toSorted((a, b) => Number(a.optional) - Number(b.optional));
  const names = fields.map(({ name, optional }) => `${oneLine(name)}${optional ? '?' : ''}`);
  const more = names.length > argumentsShownMax ? [`… ${names.length - argumentsShownMax} more`] : [];
  return [...names.slice(0, argumentsShownMax), ...more].join(', ');
}

interface NamedField {
  readonly name: string;
  readonly optional: boolean;
}

function fieldsOf(capability: BoundCapability['capability']): readonly NamedField[] {
  switch (capability.kind) {
    case 'tool':
      return fieldsOfSchema(parsedObject(capability.tool.inputSchemaJson));
    case 'resource':
      return [];
    case 'resourceTemplate':
      return templateVariables(capability.template.uriTemplate);
    case 'prompt':
      return capability.prompt.arguments.map(({ name, required }) => ({ name, optional: !required }));
  }
}

/** Of the schema itself and of the parts it consists of, without reading it as a whole: a line must cost little. */
function fieldsOfSchema(schema: JsonObject): NamedField[] {
  const [choice] = [...(ownList(schema, 'anyOf') ?? []), ...(ownList(schema, 'oneOf') ?? [])];
  const parts = [schema, ...(ownList(schema, 'allOf') ?? []), choice].filter(isObject);
  const required = new Set(parts.flatMap((part) => ownList(part, 'required') ?? []));
  const fields = new Map<string, NamedField>();
  for (const part of parts) {
    for (const [name, field] of Object.entries(ownObject(part, 'properties') ?? {})) {
      const hasDefault = isObject(field) && Object.hasOwn(field, 'default');
      if (!fields.has(name)) fields.set(name, { name, optional: hasDefault || !required.has(name) });
    }
  }
  return [...fields.values()];
}

export function oneLine(text: string): string {
  return visible(text).replaceAll(/\s+/g, ' ').trim();
}
