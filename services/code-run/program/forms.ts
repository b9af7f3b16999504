/**
 * What is inserted into a program that parses, so that the body of an async function gives back what the agent
 * meant. A program without one of these forms gets nothing:
 *
 *   F1  its last statement is an expression: the value is the result. A function there, as written or by the
 *       name of one at the top level, is called: nobody wants a function as the result.
 *   F2  it is one function declaration, or one constant that is a function: it is called.
 *   F3  it has `export default`: that value, or what that function gives, is the result. Any other `export` of
 *       something declared here is only the keyword too much.
 *   F4  it is no list of statements but an object or a function without a name: as F1.
 *
 * What a called function gets is said in parameters.ts.
 */
import type { Expression, Function as FunctionNode, ModuleDeclaration, Program, Statement } from 'acorn';
import type { Blank, Insertion } from './edits.ts';
import { importProblem } from './grammar.ts';
import { argumentsFor } from './parameters.ts';
import type { Parsed } from './parser.ts';
import { ProgramProblem } from './problem.ts';
import { skipTrivia } from './trivia.ts';

export interface Changes {
  readonly blanks: readonly Blank[];
  readonly insertions: readonly Insertion[];
  /** The function that is called, if it stands in the program. */
  readonly called: FunctionNode | undefined;
}

type TopLevel = Statement | ModuleDeclaration;
type DefaultExport = Extract<TopLevel, { type: 'ExportDefaultDeclaration' }>;

export function changesFor(text: string, parsed: Parsed): Changes {
  if (parsed.kind === 'expression') {
    const { expression } = parsed;
    return { blanks: [], ...give(expression, expression.start, expression.end) };
  }
  const { body } = parsed.program;
  const functions = functionsOf(body);
  const named = body.flatMap((statement) => namedExport(statement));
  const asDefault = body.find((statement) => statement.type === 'ExportDefaultDeclaration');
  if (asDefault !== undefined) {
    const changes = defaultExport(text, asDefault, body, functions);
    return { ...changes, blanks: [...named, ...changes.blanks] };
  }
  return { blanks: named, ...resultOf(text, body, functions) };
}

/** Whether the text is one block that can only be meant as an object: `{ total: 3 }`. */
export function looksLikeObject({ body }: Program): boolean {
  const [block, ...others] = body.filter((statement) => statement.type !== 'EmptyStatement');
  if (block?.type !== 'BlockStatement' || others.length > 0 || block.body.length === 0) return false;
  return block.body.every(
    (statement) => statement.type === 'LabeledStatement' && statement.body.type === 'ExpressionStatement',
  );
}

function resultOf(text: string, body: readonly TopLevel[], functions: Functions): Giving {
  const statements = body.filter((statement) => statement.type !== 'EmptyStatement');
  const renamed = statements.flatMap(defaultNameOf)[0];
  const last = statements.at(-1);
  if (last === undefined) return nothing;
  if (renamed !== undefined) return giveName(renamed, last.end, functions);
  const [only, another] = statements.filter((statement) => !isDirective(statement));
  const name = another === undefined && only !== undefined ? nameOfFunction(only) : undefined;
  if (name !== undefined) return giveName(name, last.end, functions);
  if (last.type !== 'ExpressionStatement') return nothing;
  return give(last.expression, last.start, endWithoutSemicolon(text, last), functions);
}

function defaultExport(
  text: string,
  statement: DefaultExport,
  body: readonly TopLevel[],
  functions: Functions,
): Changes {
  const { declaration } = statement;
  const keywordEnd = skipTrivia(text, statement.start + 'export'.length) + 'default'.length;
  const start = skipTrivia(text, keywordEnd);
  const blanks = [{ start: statement.start, end: keywordEnd }];
  const last = body.at(-1) ?? statement;
  if (declaration.type === 'ClassDeclaration') {
    throw new ProgramProblem(statement.start, 'export default of a class: there is nothing to run');
  }
  if (declaration.type === 'FunctionDeclaration' && declaration.id !== null) {
    return { blanks, ...giveName(declaration.id.name, last.end, functions) };
  }
  const end =
    declaration.type === 'FunctionDeclaration' ? statement.end : endWithoutSemicolon(text, statement);
  if (last === statement) return { blanks, ...give(declaration, start, end, functions) };
  const name = unusedName(text);
  const called = calledFunction(declaration, functions);
  const insertions = [
    { at: start, text: `const ${name} = (` },
    { at: end, text: ')' },
    { at: last.end, text: `;return ${name}${called === undefined ? '' : callOf(called)};` },
  ];
  return { blanks, insertions, called };
}

// ---- Giving back ---------------------------------------------------------------------------------

type Functions = ReadonlyMap<string, FunctionNode>;
type Given = Expression | FunctionNode;
type Giving = Omit<Changes, 'blanks'>;

const nothing: Giving = { insertions: [], called: undefined };

/** Gives back the expression that stands at [start, end), or calls it if it is a function. */
function give(expression: Given, start: number, end: number, functions: Functions = new Map()): Giving {
  const called = calledFunction(expression, functions);
  if (called === undefined) return { insertions: [{ at: start, text: 'return ' }], called };
  const insertions = [
    { at: start, text: 'return (' },
    { at: end, text: `)${callOf(called)}` },
  ];
  return { insertions, called };
}

function giveName(name: string, at: number, functions: Functions): Giving {
  const called = functions.get(name);
  return {
    insertions: [{ at, text: `;return ${name}${called === undefined ? '' : callOf(called)};` }],
    called,
  };
}

function callOf(called: FunctionNode): string {
  if (called.generator) {
    throw new ProgramProblem(
      called.start,
      'the program is a generator function, and nobody would ask it for values: write an async function',
    );
  }
  return argumentsFor(called);
}

function calledFunction(expression: Given, functions: Functions): FunctionNode | undefined {
  if (isFunction(expression)) return expression;
  return expression.type === 'Identifier' ? functions.get(expression.name) : undefined;
}

function isFunction(node: { readonly type: string }): node is FunctionNode {
  return (
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionExpression' ||
    node.type === 'FunctionDeclaration'
  );
}

// ---- What stands at the top level ----------------------------------------------------------------

function functionsOf(body: readonly TopLevel[]): Functions {
  const functions = new Map<string, FunctionNode>();
  for (const statement of body) {
    const declared = 'declaration' in statement ? statement.declaration : statement;
    if (declared?.type === 'FunctionDeclaration' && declared.id !== null)
      functions.set(declared.id.name, declared);
    if (declared?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declared.declarations) {
      if (id.type === 'Identifier' && init && isFunction(init)) functions.set(id.name, init);
    }
  }
  return functions;
}

/** The function that a statement declares, if it declares nothing else. */
function nameOfFunction(statement: TopLevel): string | undefined {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (declared?.type === 'FunctionDeclaration') return declared.id.name;
  if (declared?.type !== 'VariableDeclaration') return undefined;
  const [first, second] = declared.declarations;
  if (first === undefined || second !== undefined || !first.init || !isFunction(first.init)) return undefined;
  return first.id.type === 'Identifier' ? first.id.name : undefined;
}

/** What is blanked of an export that is not the default. */
function namedExport(statement: TopLevel): Blank[] {
  if (statement.type === 'ExportAllDeclaration') throw importProblem(statement.start, statement);
  if (statement.type !== 'ExportNamedDeclaration') return [];
  if (statement.source) throw importProblem(statement.start, statement);
  if (statement.declaration) return [{ start: statement.start, end: statement.start + 'export'.length }];
  return [{ start: statement.start, end: statement.end, first: ';' }];
}

/** `export { main as default }` */
function defaultNameOf(statement: TopLevel): string[] {
  if (statement.type !== 'ExportNamedDeclaration') return [];
  return statement.specifiers
    .filter(({ exported }) => (exported.type === 'Identifier' ? exported.name : exported.value) === 'default')
    .flatMap(({ local }) => (local.type === 'Identifier' ? [local.name] : []));
}

function isDirective(statement: TopLevel): boolean {
  return statement.type === 'ExpressionStatement' && statement.directive !== undefined;
}

/** The end of an expression with its parentheses. No expression ends in a semicolon. */
function endWithoutSemicolon(text: string, statement: TopLevel): number {
  return text[statement.end - 1] === ';' ? statement.end - 1 : statement.end;
}

/** `$default`, with more dollars than the text has after any. */
function unusedName(text: string): string {
  const dollars = [...text.matchAll(/\$default(\$*)/g)].map(([, more = '']) => more.length + 1);
  return `$default${'$'.repeat(dollars.reduce((a, b) => Math.max(a, b), 0))}`;
}
