/**
 * What a program uses, read from its tree: names that are not there, modules, names of bindings in brackets and in
 * apps.call, and its own functions that it passes `apps` to. What the compiler cannot see, or says badly. Pure.
 *
 * U1: a name that the program declares anywhere is its own. U2: a name that it asks for first, with `typeof` or on
 * globalThis, may be absent. Both as the realm has it.
 */
import type { CallExpression, Expression, Function as FunctionNode, MemberExpression } from 'acorn';
import type { Parsed } from './parser.ts';

/** A name at an offset of the text. */
export interface NameAt {
  readonly name: string;
  readonly offset: number;
}

export interface Uses {
  /** Names of variables, in any order, that are neither declared nor asked for. */
  readonly free: readonly NameAt[];
  /** Names that it asks for first. */
  readonly asked: ReadonlySet<string>;
  /** import(…) */
  readonly imports: readonly number[];
  /** Where the text that names a module starts: the argument of import() and require(). */
  readonly modules: readonly number[];
  /** apps["name"] */
  readonly connections: readonly NameAt[];
  /** apps.connection["name"] */
  readonly capabilities: readonly (NameAt & { readonly connection: string })[];
  /** apps.call("name") */
  readonly called: readonly NameAt[];
  /** The program's own functions of one name, each with the calls of it. */
  readonly functions: readonly { readonly called: FunctionNode; readonly calls: readonly CallExpression[] }[];
}

type Node = { readonly type: string; readonly start: number; readonly end: number };

export function usesOf(parsed: Parsed): Uses {
  const reader = new Reader();
  reader.read(parsed.kind === 'statements' ? parsed.program : parsed.expression);
  return reader.uses();
}

class Reader {
  readonly #open: Node[] = [];
  readonly #identifiers: NameAt[] = [];
  readonly #declared = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #imports: number[] = [];
  readonly #modules: number[] = [];
  readonly #connections: NameAt[] = [];
  readonly #capabilities: (NameAt & { connection: string })[] = [];
  readonly #called: NameAt[] = [];
  readonly #functions = new Map<string, FunctionNode[]>();
  readonly #calls = new Map<string, CallExpression[]>();

  read(root: Node): void {
    this.#open.push(root);
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) this.#visit(node);
  }

  uses(): Uses {
    const isFree = ({ name }: NameAt) => !this.#declared.has(name) && !this.#asked.has(name);
    // With an `apps` of its own the program may mean something else.
    const ofApps = <T>(found: readonly T[]) => (this.#declared.has('apps') ? [] : found);
    const functions = [...this.#functions].flatMap(([name, [called, another]]) =>
      called === undefined || another !== undefined ? [] : [{ called, calls: this.#calls.get(name) ?? [] }],
    );
    return {
      free: this.#identifiers.filter(isFree),
      asked: this.#asked,
      imports: this.#imports,
      modules: this.#modules,
      connections: ofApps(this.#connections),
      capabilities: ofApps(this.#capabilities),
      called: ofApps(this.#called),
      functions,
    };
  }

  #visit(node: Node): void {
    const fields = node as unknown as Readonly<Record<string, unknown>>;
    switch (node.type) {
      case 'Identifier':
        this.#identifiers.push({ name: String(fields['name']), offset: node.start });
        return;
      case 'VariableDeclarator':
        this.#declare(fields['id']);
        if (isNode(fields['init'])) this.#define(fields['id'], fields['init']);
        break;
      case 'FunctionDeclaration':
        this.#define(fields['id'], node);
        this.#declareFunction(fields);
        break;
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        this.#declareFunction(fields);
        break;
      case 'ClassDeclaration':
      case 'ClassExpression':
        this.#declare(fields['id']);
        break;
      case 'CatchClause':
        this.#declare(fields['param']);
        break;
      case 'UnaryExpression':
        if (fields['operator'] === 'typeof') this.#ask(fields['argument']);
        break;
      case 'ImportExpression':
        this.#imports.push(node.start);
        if (isNode(fields['source'])) this.#modules.push(fields['source'].start);
        break;
      case 'CallExpression':
        this.#call(node as CallExpression);
        break;
      case 'MemberExpression':
        this.#member(node as MemberExpression);
        break;
      default:
    }
    this.#openChildren(node, fields);
  }

  #openChildren(node: Node, fields: Readonly<Record<string, unknown>>): void {
    for (const key in fields) {
      // A name that is written out after a dot or before a colon is no variable.
      if (ownNames.has(`${node.type}.${key}`) && fields['computed'] !== true) continue;
      const value = fields[key];
      if (Array.isArray(value)) for (const child of value) if (isNode(child)) this.#open.push(child);
      if (isNode(value)) this.#open.push(value);
    }
  }

  #declareFunction(fields: Readonly<Record<string, unknown>>): void {
    this.#declare(fields['id']);
    for (const parameter of fields['params'] as readonly unknown[]) this.#declare(parameter);
  }

  /** Every name in a pattern. */
  #declare(pattern: unknown): void {
    const open = [pattern];
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      if (!isNode(part)) continue;
      const fields = part as unknown as Readonly<Record<string, unknown>>;
      if (part.type === 'Identifier') this.#declared.add(String(fields['name']));
      else if (part.type === 'ObjectPattern') open.push(...(fields['properties'] as readonly unknown[]));
      else if (part.type === 'ArrayPattern')
        open.push(...(fields['elements'] as readonly unknown[]).filter(isNode));
      else open.push(fields[{ Property: 'value', AssignmentPattern: 'left' }[part.type] ?? 'argument']);
    }
  }

  #define(id: unknown, value: Node): void {
    const isFunction = /^(?:Arrow)?Function(?:Declaration|Expression)$/.test(value.type);
    if (!isFunction || !isNamed(id)) return;
    const known = this.#functions.get(id.name);
    if (known === undefined) this.#functions.set(id.name, [value as FunctionNode]);
    else known.push(value as FunctionNode);
  }

  #ask(argument: unknown): void {
    if (isNamed(argument)) this.#asked.add(argument.name);
  }

  #call(node: CallExpression): void {
    const { callee } = node;
    const [first] = node.arguments;
    if (callee.type === 'Identifier') {
      const known = this.#calls.get(callee.name);
      if (known === undefined) this.#calls.set(callee.name, [node]);
      else known.push(node);
      if (callee.name === 'require' && first !== undefined) this.#modules.push(first.start);
      return;
    }
    if (callee.type !== 'MemberExpression' || !isApps(callee.object) || first?.type === 'SpreadElement')
      return;
    const name = first === undefined ? undefined : textOf(first);
    if (propertyOf(callee) === 'call' && name !== undefined && first !== undefined) {
      this.#called.push({ name, offset: first.start });
    }
  }

  #member(node: MemberExpression): void {
    const { object, property } = node;
    const name = propertyOf(node);
    if (name === undefined) return;
    if (object.type === 'Identifier' && object.name === 'globalThis') this.#asked.add(name);
    if (!node.computed) return;
    if (isApps(object)) this.#connections.push({ name, offset: property.start });
    if (object.type !== 'MemberExpression' || !isApps(object.object)) return;
    const connection = propertyOf(object);
    if (connection !== undefined) this.#capabilities.push({ name, connection, offset: property.start });
  }
}

/** Fields that hold a name, not a variable. */
const ownNames: ReadonlySet<string> = new Set([
  'MemberExpression.property',
  'Property.key',
  'MethodDefinition.key',
  'PropertyDefinition.key',
  'LabeledStatement.label',
  'BreakStatement.label',
  'ContinueStatement.label',
  'MetaProperty.meta',
  'MetaProperty.property',
  'ExportSpecifier.exported',
]);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function isNamed(value: unknown): value is { readonly name: string } {
  return isNode(value) && value.type === 'Identifier';
}

function isApps(node: { readonly type: string }): boolean {
  return isNamed(node) && node.name === 'apps';
}

/** The name of a property where it is written out: after a dot, or as text in brackets. */
function propertyOf({ property, computed }: MemberExpression): string | undefined {
  if (computed) return property.type === 'PrivateIdentifier' ? undefined : textOf(property);
  return isNamed(property) ? property.name : undefined;
}

function textOf(node: Expression): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  const [only, another] = node.type === 'TemplateLiteral' ? node.quasis : [];
  return another === undefined ? (only?.value.cooked ?? undefined) : undefined;
}
