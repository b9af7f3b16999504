/**
 * Erases types in place: what is TypeScript becomes spaces, so that every other character keeps its line and
 * column. What would have to be generated (enum, namespace, parameter properties) is an error that says what to
 * write instead.
 *
 * E1: an erased statement or class member becomes an empty one, so that its neighbours are not joined. E2: where
 * a type ended a statement that JavaScript would go on reading, a semicolon stands in its place. E3: an arrow
 * stays on the line of its parameters, since JavaScript allows no break there. E4: the caller reads the result
 * as JavaScript; what was missed is a syntax error, never a different program.
 */
import type { Blank } from './edits.ts';
import { blank } from './edits.ts';
import type { Parsed } from './parser.ts';
import { ProgramProblem } from './problem.ts';
import { hasLineBreak, skipTrivia } from './trivia.ts';

/** A node of the TypeScript tree, of which acorn's types know nothing. */
interface TypedNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: unknown;
  readonly key?: unknown;
  readonly value?: unknown;
  readonly body?: unknown;
  readonly params?: unknown;
  readonly expression?: unknown;
  readonly declaration?: unknown;
  readonly specifiers?: unknown;
  readonly exportKind?: unknown;
  readonly declare?: unknown;
  readonly abstract?: unknown;
  readonly optional?: unknown;
  readonly implements?: unknown;
  readonly typeAnnotation?: unknown;
  readonly returnType?: unknown;
  readonly typeParameters?: unknown;
  readonly typeArguments?: unknown;
  readonly superTypeParameters?: unknown;
  readonly superTypeArguments?: unknown;
}

/** Statements that are types only. */
const typeStatements = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction']);

const modules = new Set(['ImportDeclaration', 'ExportNamedDeclaration', 'ExportDefaultDeclaration']);

/** What TypeScript turns into code, and what to write instead. */
const generated: Readonly<Record<string, string>> = {
  TSEnumDeclaration: 'enum is not possible here. Write an object: const Color = { Red: "red" }',
  TSModuleDeclaration: 'namespace is not possible here. Write an object or plain functions',
  TSParameterProperty:
    'parameter properties are not possible here. Declare the field in the class and assign it in the constructor',
  TSTypeAssertion: 'type assertions in angle brackets are not possible here. Write: value as Type',
  TSExportAssignment: 'export = is not possible here. Write: return value',
  TSImportEqualsDeclaration:
    'import is not possible, there are no modules. Apps are there without import: apps.<connection>.<tool>',
  TSNamespaceExportDeclaration: 'export as namespace is not possible here',
  Decorator: 'decorators are not possible here. Call the function instead',
};

const modifiers = new Set(['public', 'private', 'protected', 'readonly', 'override', 'abstract', 'declare']);

export interface Erased {
  readonly text: string;
  /** What would still have to go if the types stayed: import, export and declare. */
  readonly outside: readonly Blank[];
}

export function eraseTypes(text: string, parsed: Parsed): Erased {
  const root = parsed.kind === 'statements' ? parsed.program : parsed.expression;
  const eraser = new Eraser(text);
  eraser.erase(root as unknown as TypedNode);
  return { text: blank(text, eraser.blanks), outside: eraser.outside };
}

class Eraser {
  readonly blanks: Blank[] = [];
  readonly outside: Blank[] = [];
  readonly #text: string;
  readonly #open: TypedNode[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  erase(root: TypedNode): void {
    this.#open.push(root);
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) this.#visit(node);
  }

  #visit(node: TypedNode): void {
    if (this.#isErasedWhole(node)) {
      this.blanks.push({ ...rangeOf(node), first: ';' });
      this.#noteOutside(node);
      return;
    }
    const problem = generated[node.type];
    if (problem !== undefined) throw new ProgramProblem(node.start, problem);
    this.#eraseFrom(node);
    this.#openChildren(node);
  }

  /** The hot part: every field of every node. */
  #openChildren(node: TypedNode): void {
    const fields = node as unknown as Readonly<Record<string, unknown>>;
    for (const key in fields) {
      const value = fields[key];
      if (typeof value !== 'object' || value === null || typeKeys.has(key)) continue;
      if (!Array.isArray(value)) {
        if (isNode(value)) this.#open.push(value);
        continue;
      }
      for (const child of value) if (isNode(child)) this.#open.push(child);
    }
  }

  /** Inside a function there is no import, export or declare. */
  #noteOutside(node: TypedNode): void {
    if (node.type === 'ExportNamedDeclaration' && isNode(node.declaration)) {
      this.outside.push({ start: node.start, end: node.start + 'export'.length });
      this.#noteOutside(node.declaration);
    } else if (modules.has(node.type)) {
      this.outside.push(rangeOf(node));
    } else if (node.declare === true && node.type !== 'PropertyDefinition') {
      // A type stays without the word; anything else would promise what is not there.
      const isType = node.type === 'TSTypeAliasDeclaration' || node.type === 'TSInterfaceDeclaration';
      this.outside.push(isType ? { start: node.start, end: node.start + 'declare'.length } : rangeOf(node));
    }
  }

  #isErasedWhole(node: TypedNode): boolean {
    if (typeStatements.has(node.type)) return true;
    if (node.declare === true || node.type === 'TSIndexSignature') return true;
    if (node.type === 'ImportDeclaration') return true;
    if (node.type === 'ExportDefaultDeclaration') {
      return isNode(node.declaration) && typeStatements.has(node.declaration.type);
    }
    if (node.type === 'ExportNamedDeclaration') {
      const { declaration, specifiers } = node;
      if (node.exportKind === 'type') return true;
      if (isNode(declaration)) return this.#isErasedWhole(declaration);
      return (
        nodes(specifiers).length > 0 && nodes(specifiers).every(({ exportKind }) => exportKind === 'type')
      );
    }
    if (node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') {
      return node.abstract === true || (isNode(node.value) && node.value.type === 'TSDeclareMethod');
    }
    return false;
  }

  #eraseFrom(node: TypedNode): void {
    const typeParameters = node.type === 'ArrowFunctionExpression' ? undefined : node.typeParameters;
    const { typeArguments, superTypeParameters, superTypeArguments } = node;
    for (const types of [typeParameters, typeArguments, superTypeParameters, superTypeArguments]) {
      if (isNode(types)) this.blanks.push(rangeOf(types));
    }
    switch (node.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
        this.#eraseOperator(node);
        return;
      case 'TSNonNullExpression':
        this.blanks.push({ start: node.end - 1, end: node.end });
        return;
      case 'ClassDeclaration':
      case 'ClassExpression':
        this.#eraseClassHead(node);
        return;
      case 'MethodDefinition':
      case 'PropertyDefinition':
        this.#eraseModifiers(node);
        this.#eraseMark(node.key);
        this.#eraseFieldType(node);
        return;
      default:
    }
    for (const parameter of nodes(node.params)) this.#eraseParameter(parameter);
    if (node.type === 'ArrowFunctionExpression') this.#eraseArrow(node);
    else this.#eraseAnnotation(node.returnType);
    this.#eraseAnnotation(node.typeAnnotation);
  }

  /** `: T`, with the `?` or `!` before it. */
  #eraseAnnotation(annotation: unknown, first?: string): void {
    if (!isNode(annotation)) return;
    let start = annotation.start;
    const before = this.#text.slice(0, start).trimEnd();
    if (before.endsWith('?') || before.endsWith('!')) start = before.length - 1;
    this.blanks.push({ start, end: annotation.end, ...(first === undefined ? {} : { first }) });
  }

  /** ` as T`. E2 */
  #eraseOperator(node: TypedNode): void {
    const { expression } = node;
    if (!isNode(expression)) return;
    let start = skipTrivia(this.#text, expression.end);
    while (this.#text[start] === ')') start = skipTrivia(this.#text, start + 1);
    const next = skipTrivia(this.#text, node.end);
    const wouldGoOn = /[([`]/.test(this.#text[next] ?? '') && hasLineBreak(this.#text, node.end, next);
    this.blanks.push({ start, end: node.end, ...(wouldGoOn ? { first: ';' } : {}) });
  }

  #eraseParameter(parameter: TypedNode): void {
    if (parameter.type !== 'Identifier') return;
    if (parameter.name === 'this') {
      const next = skipTrivia(this.#text, parameter.end);
      this.blanks.push({ start: parameter.start, end: this.#text[next] === ',' ? next + 1 : parameter.end });
      return;
    }
    if (parameter.optional === true && !isNode(parameter.typeAnnotation)) {
      this.#eraseMarkAt(parameter.start + String(parameter.name).length);
    }
  }

  /** The `?` or `!` after the name of a member. */
  #eraseMark(key: unknown): void {
    if (!isNode(key)) return;
    let at = skipTrivia(this.#text, key.end);
    if (this.#text[at] === ']') at = skipTrivia(this.#text, at + 1);
    this.#eraseMarkAt(at);
  }

  #eraseMarkAt(offset: number): void {
    const at = skipTrivia(this.#text, offset);
    if (this.#text[at] === '?' || this.#text[at] === '!') this.blanks.push({ start: at, end: at + 1 });
  }

  /** A field without a value ends where its type began: `get: T` must not become `get`. */
  #eraseFieldType(node: TypedNode): void {
    this.#eraseAnnotation(node.typeAnnotation, node.value ? undefined : ';');
  }

  #eraseModifiers(node: TypedNode): void {
    const key = node.key;
    if (!isNode(key)) return;
    let at = node.start;
    while (at < key.start) {
      const [word] = /^[a-z]+/.exec(this.#text.slice(at, key.start)) ?? [];
      if (word === undefined) return;
      // A semicolon in the place of a first modifier: what stands before it is not joined with `[key]`.
      if (modifiers.has(word)) {
        const first = at === node.start ? { first: ';' } : {};
        this.blanks.push({ start: at, end: at + word.length, ...first });
      }
      at = skipTrivia(this.#text, at + word.length);
    }
  }

  #eraseClassHead(node: TypedNode): void {
    if (node.abstract === true) this.blanks.push({ start: node.start, end: node.start + 'abstract'.length });
    const [first] = nodes(node.implements);
    const { body } = node;
    if (first === undefined || !isNode(body)) return;
    const keyword = this.#text.slice(0, first.start).lastIndexOf('implements');
    this.blanks.push({ start: keyword, end: body.start });
  }

  /** E3, and `return <\nT\n>(x) => …`: the parenthesis moves to the other end of a type that has line breaks. */
  #eraseArrow({ typeParameters, returnType }: TypedNode): void {
    if (isNode(typeParameters) && this.#hasLineBreak(typeParameters)) {
      const open = skipTrivia(this.#text, typeParameters.end);
      this.blanks.push({ ...rangeOf(typeParameters), first: '(' }, { start: open, end: open + 1 });
    } else if (isNode(typeParameters)) {
      this.blanks.push(rangeOf(typeParameters));
    }
    if (isNode(returnType) && this.#hasLineBreak(returnType)) {
      const close = this.#text.lastIndexOf(')', returnType.start);
      this.blanks.push({ start: close, end: close + 1 }, { ...rangeOf(returnType), last: ')' });
    } else {
      this.#eraseAnnotation(returnType);
    }
  }

  #hasLineBreak({ start, end }: TypedNode): boolean {
    return hasLineBreak(this.#text, start, end);
  }
}

/** Where types are; they are erased as a whole and never looked into. */
const typeKeys = new Set([
  'typeParameters',
  'typeArguments',
  'superTypeParameters',
  'superTypeArguments',
  'typeAnnotation',
  'returnType',
  'implements',
]);

function rangeOf({ start, end }: TypedNode): Blank {
  return { start, end };
}

function isNode(value: unknown): value is TypedNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function nodes(value: unknown): TypedNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
