/**
 * The declaration of one binding: what it takes, what it gives, what the app says about it. Made from the
 * catalog on demand; one broken schema costs its own types and nothing else.
 */
import type { Tool } from '../../../gen/openbot/codemode/v1/catalog_pb.js';
import { limits } from '../../shared/limits.ts';
import { wordsOf } from './names.ts';
import { Algebra } from './schema/algebra.ts';
import { type Converted, convertSchema, type Direction } from './schema/convert.ts';
import { visible } from './schema/doc.ts';
import { type Detail, methodText, Printer } from './schema/print.ts';
import {
  anyObject,
  type Definition,
  type Doc,
  type Field,
  noDoc,
  type ObjectType,
  type Type,
  type UnknownReason,
  unknownBecause,
} from './schema/type.ts';
import type { BoundCapability } from './table.ts';
import { templateVariables } from './uri-template.ts';

/** The wrappers of the Model Context Protocol, as declared in world.ts. */
export type ResultName = 'ToolResult' | 'ReadResourceResult' | 'GetPromptResult';

export interface Declaration {
  readonly bound: BoundCapability;
  readonly doc: Doc;
  /** The one argument, an object. */
  readonly argument: Type;
  readonly argumentDoc: Doc;
  /** It may be left out. */
  readonly argumentOptional: boolean;
  readonly resultName: ResultName;
  /** The type of structuredContent, where the app says one. */
  readonly structured: Type | undefined;
  /** What reading its schemas cost. */
  readonly steps: number;
}

const string: Type = { kind: 'primitive', name: 'string' };

export function declare(bound: BoundCapability): Declaration {
  try {
    return read(bound);
  } catch {
    return declareLoosely(bound, 'unreadable');
  }
}

function read(bound: BoundCapability): Declaration {
  const { capability } = bound;
  switch (capability.kind) {
    case 'tool':
      return declareTool(bound, capability.tool);
    case 'resource': {
      const { uri, title, description, mimeType } = capability.resource;
      return declaration(
        bound,
        docFrom(title, description, [`Resource ${uri}`, mimeType]),
        anyObject,
        'ReadResourceResult',
      );
    }
    case 'resourceTemplate': {
      const { uriTemplate, title, description, mimeType } = capability.template;
      const fields = templateVariables(uriTemplate).map(({ name, optional, several }): [string, Field] => [
        name,
        { type: several ? severalStrings : string, optional, doc: noDoc },
      ]);
      const doc = docFrom(title, description, [`Resource ${uriTemplate}`, mimeType]);
      return declaration(bound, doc, objectOf(fields), 'ReadResourceResult');
    }
    case 'prompt': {
      const { title, description } = capability.prompt;
      const fields = capability.prompt.arguments.map(
        ({ name, description: said, required }): [string, Field] => [
          name,
          { type: string, optional: !required, doc: docFrom('', said, []) },
        ],
      );
      return declaration(bound, docFrom(title, description, ['Prompt']), objectOf(fields), 'GetPromptResult');
    }
  }
}

const severalStrings: Type = { kind: 'union', members: [string, { kind: 'array', element: string }] };

function declareTool(bound: BoundCapability, tool: Tool): Declaration {
  const input = converted(tool.inputSchemaJson, 'argument');
  const output = tool.outputSchemaJson === '' ? undefined : converted(tool.outputSchemaJson, 'result');
  const argument = new Algebra().intersect(input.type, anyObject);
  return {
    ...declaration(
      bound,
      docFrom(tool.title, tool.description, hintsOf(tool)),
      argument.kind === 'never' ? anyObject : argument,
      'ToolResult',
    ),
    argumentDoc: input.doc,
    structured: output?.type,
    steps: input.steps + (output?.steps ?? 0),
  };
}

function declaration(bound: BoundCapability, doc: Doc, argument: Type, resultName: ResultName): Declaration {
  return {
    bound,
    doc,
    argument,
    argumentDoc: noDoc,
    argumentOptional: mayBeEmpty(argument),
    resultName,
    structured: undefined,
    steps: 1,
  };
}

/** What is no JSON is no schema; and whatever goes wrong with one, the others stand. */
function converted(schemaJson: string, direction: Direction): Converted {
  if (schemaJson === '') return { type: anyObject, doc: noDoc, steps: 1 };
  try {
    return convertSchema(JSON.parse(schemaJson), direction);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'malformed' : 'unreadable';
    return { type: unknownBecause(why), doc: noDoc, steps: 1 };
  }
}

/** Whether `{}` is of a type. Its parts are shared: each is looked at once, and what leads too far says no. */
function mayBeEmpty(type: Type, known: Map<Type | Definition, boolean> = new Map(), depth = 0): boolean {
  const key = type.kind === 'named' ? type.definition : type;
  const before = known.get(key);
  if (before !== undefined) return before;
  known.set(key, false);
  const inner = (part: Type) => depth < emptyDepthMax && mayBeEmpty(part, known, depth + 1);
  const is = emptyIn(type, inner);
  known.set(key, is);
  return is;
}

const emptyDepthMax = 4 * limits.schemaDepthMax;

function emptyIn(type: Type, inner: (part: Type) => boolean): boolean {
  switch (type.kind) {
    case 'object':
      return type.fields.values().every((field) => field.optional);
    case 'union':
      return type.members.some(inner);
    case 'intersection':
      return type.members.every(inner);
    case 'named':
      return type.definition.type !== undefined && inner(type.definition.type);
    default:
      return false;
  }
}

function objectOf(fields: readonly (readonly [string, Field])[]): ObjectType {
  return { kind: 'object', fields: new Map(fields), rest: undefined, closed: true };
}

function docFrom(title: string, description: string, tags: readonly string[]): Doc {
  const said = visible(description).trim();
  const called = visible(title).trim();
  const text = said === '' ? called : said;
  return { text, tags: tags.filter((tag) => tag !== '').map((tag) => visible(tag).replaceAll('\n', ' ')) };
}

/** What the app says of itself; nobody checked it. */
function hintsOf(tool: Tool): string[] {
  const { hints } = tool;
  const said = [
    hints?.readOnly === true ? 'read-only' : '',
    hints?.destructive === true && hints.readOnly !== true ? 'destructive' : '',
    hints?.idempotent === true && hints.readOnly !== true ? 'idempotent' : '',
  ].filter((hint) => hint !== '');
  return said.length === 0 ? [] : [`(${said.join(', ')})`];
}

/** A binding without its schemas: it takes and gives anything. */
export function declareLoosely(bound: BoundCapability, why: UnknownReason = 'too large'): Declaration {
  const resultNames = {
    tool: 'ToolResult',
    resource: 'ReadResourceResult',
    resourceTemplate: 'ReadResourceResult',
    prompt: 'GetPromptResult',
  } as const;
  const open: ObjectType = { ...anyObject, rest: unknownBecause(why) };
  return declaration(bound, noDoc, open, resultNames[bound.capability.kind]);
}

/** The text of a declaration: its named types, and its member of `apps.<connection>`. */
export interface DeclarationText {
  readonly types: string;
  readonly member: string;
}

interface PrintOptions {
  /** Goes before the names of types. */
  readonly prefix: string;
  /** Names that others have; gets those given here. */
  readonly taken?: Set<string>;
  readonly indent: string;
}

export function printDeclaration(
  declaration: Declaration,
  detail: Detail,
  options: PrintOptions,
): DeclarationText {
  try {
    return printed(declaration, detail, options);
  } catch {
    return printed(declareLoosely(declaration.bound, 'unreadable'), detail, options);
  }
}

function printed(declaration: Declaration, detail: Detail, options: PrintOptions): DeclarationText {
  const { argument, structured, doc, resultName } = declaration;
  const printer = new Printer(
    structured === undefined ? [argument] : [argument, structured],
    detail,
    options.prefix,
    options.taken,
  );
  const { indent } = options;
  const comment = printer.comment(doc, indent, limits.capabilityDocCharsMax);
  const name = methodText(declaration.bound.binding.capability);
  // First: what is too large to be written whole is to be missing in the result.
  const taken = parameter(declaration, printer, indent);
  const result = structured === undefined ? resultName : `${resultName}<${printer.type(structured, indent)}>`;
  const member = `${comment}${indent}${name}(${taken}): Promise<${result}>;\n`;
  return { types: printer.definitions(), member };
}

function parameter({ argument, argumentOptional }: Declaration, printer: Printer, indent: string): string {
  const empty = argument.kind === 'object' && argument.fields.size === 0 && argument.rest === undefined;
  const type = empty && !argument.closed ? '{}' : printer.type(argument, indent);
  return `args${argumentOptional ? '?' : ''}: ${type}`;
}

/** Where a name of a type may go on after: unique for a binding, whatever its connection and capability are called. */
export function typePrefix({ binding }: BoundCapability): string {
  return `${typePart(binding.connection)}$${typePart(binding.capability)}$`;
}

/** Names hold no `$`. What is not ASCII is written as its code units, after an empty part. */
export function typePart(name: string): string {
  if (/^\w+$/.test(name)) return name;
  return `$${[...Array(name.length).keys()].map((at) => name.charCodeAt(at).toString(16).padStart(4, '0')).join('')}`;
}

/**
 * "ListEvents_": a short prefix for texts that show few bindings. The line keeps its names apart from those of a longer
 * prefix ("ListEventsBy_") and from what the language and the world declare, which have none.
 */
export function shortTypePrefix({ binding }: BoundCapability): string {
  const words = wordsOf(binding.capability).map((word) => word.replace(/[^a-z0-9]/g, ''));
  return `${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}_`;
}
