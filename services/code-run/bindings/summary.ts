/** A binding in one line: what it does, and how it is called. */
import { type Declaration, declare } from './declare.ts';
import { briefly, visible } from './schema/doc.ts';
import type { Type } from './schema/type.ts';
import type { BoundCapability } from './table.ts';

const argumentsShownMax = 8;

/** The first sentence of what the app says it does; for what says nothing, its source. */
export function summaryOf({ binding, capability }: BoundCapability): string {
  return firstSentence(said(capability)) || `${binding.source.kind} ${visible(binding.source.name)}`;
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

const lines = new WeakMap<BoundCapability, string>();

/** "list_events(calendar, from?): List events." Kept as long as the binding: it takes a whole schema to make. */
export function lineOf(bound: BoundCapability): string {
  const known = lines.get(bound);
  if (known !== undefined) return known;
  const line = `${bound.binding.capability}(${argumentsOf(declare(bound))}): ${summaryOf(bound)}`;
  lines.set(bound, line);
  return line;
}

function argumentsOf({ argument }: Declaration): string {
  const fields = fieldsOf(argument);
  // What must be given comes first: it is what must be known.
  const names = [...fields]
    .sort((a, b) => Number(a.optional) - Number(b.optional))
    .map((field) => field.text);
  const more = names.length > argumentsShownMax ? [`… ${names.length - argumentsShownMax} more`] : [];
  return [...names.slice(0, argumentsShownMax), ...more].join(', ');
}

function fieldsOf(type: Type): { text: string; optional: boolean }[] {
  switch (type.kind) {
    case 'object':
      return [...type.fields].map(([key, field]) => ({
        text: `${visible(key).replaceAll('\n', ' ')}${field.optional ? '?' : ''}`,
        optional: field.optional,
      }));
    case 'named':
      return type.definition.type === undefined ? [] : fieldsOf(type.definition.type);
    case 'union':
      return fieldsOf(type.members[0] ?? { kind: 'never' });
    default:
      return [];
  }
}
