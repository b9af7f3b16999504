/**
 * The grammar of programs: the body of a strict async function, in JavaScript or TypeScript, as two parsers.
 *
 * The text is hostile. P1: reading is bounded by tokens, since the TypeScript grammar needs trial and error
 * that a few hundred characters can make exponential. P2: nesting is bounded by the stack, and its overflow
 * is an ordinary error (both parsers are JavaScript). P3: names are kept in sets, since lists of them make
 * acorn quadratic. P4: modules do not exist; export is collected for the caller, import is an error.
 */
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { type Expression, type Options, Parser, type Program, tokTypes } from 'acorn';
import { limits } from '../../shared/limits.ts';
import { LimitProblem, ProgramProblem } from './problem.ts';

/** What acorn has inside and its types do not say. */
export interface Internals {
  readonly input: string;
  readonly start: number;
  readonly type: unknown;
  readonly scopeStack: { lexical: unknown; var: unknown; functions: unknown }[];
  /** Only of JavaScript. */
  readonly declaresTypeName?: boolean;
  parse(): Program;
  parseExpression(): Expression;
  nextToken(): void;
  enterScope(flags: number): void;
  declareName(name: string, bindingType: number, offset: number): void;
  awaitPos: number;
  yieldPos: number;
  /** Only of TypeScript. */
  tsTryParseGenericAsyncArrowFunction(start: number, startLocation: unknown, forInit: unknown): unknown;
  parseConditional(expression: unknown, ...rest: readonly unknown[]): unknown;
  shouldParseArrow(expressions: readonly unknown[]): boolean;
  tryParse(read: () => unknown): { readonly node: unknown };
  parseImport(node: ImportNode): ImportNode;
  parseExport(node: ImportNode, exports: unknown): unknown;
  parseImportMeta(node: ImportNode): never;
}

interface ImportNode {
  readonly start: number;
  readonly importKind?: 'value' | 'type';
  readonly specifiers?: readonly { readonly importKind?: 'value' | 'type' }[];
  readonly source?: unknown;
}

type ParserClass = new (options: Options, input: string) => Internals;

export const options: Options = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  strict: true,
  allowImportExportEverywhere: true,
};

/** TypeScript's own types that JavaScript takes for variables. */
export const typeNames: ReadonlySet<string> = new Set([
  'any',
  'bigint',
  'boolean',
  'never',
  'number',
  'object',
  'string',
  'symbol',
  'unknown',
]);

/** What acorn calls the scope of an async function: `await`, `return` and `using` are possible there. */
const bodyScope = 2 | 4;

/** The names of a scope, as far as acorn uses a list of them. */
class Names {
  readonly #names = new Set<string>();

  push(name: string): void {
    this.#names.add(name);
  }

  indexOf(name: string): number {
    return this.#names.has(name) ? 0 : -1;
  }

  /** The parameter of a catch clause is the first name of its scope. */
  get 0(): string | undefined {
    return this.#names.values().next().value;
  }
}

/** P1. A parser that goes back reads a token again, and that counts. */
class TokenBudget {
  #left: number;
  readonly #problem: string;

  constructor(tokensMax: number, problem: string) {
    this.#left = tokensMax;
    this.#problem = problem;
  }

  spend(offset: number): void {
    this.#left -= 1;
    if (this.#left < 0) throw new LimitProblem(offset, this.#problem);
  }
}

class JavaScriptParser extends (Parser as unknown as ParserClass) {
  readonly #budget = new TokenBudget(
    limits.programTokensMax,
    `more than ${limits.programTokensMax} words and signs`,
  );
  readonly #exports: number[] = [];
  override declaresTypeName = false;

  override nextToken(): void {
    this.#budget.spend(this.start);
    super.nextToken();
  }

  override parse(): Program {
    const program = super.parse();
    const atTop = new Set(program.body.map((statement) => statement.start));
    const nested = this.#exports.find((start) => !atTop.has(start));
    if (nested !== undefined) throw new ProgramProblem(nested, 'export is not possible here');
    return program;
  }

  override declareName(name: string, bindingType: number, offset: number): void {
    if (typeNames.has(name)) this.declaresTypeName = true;
    super.declareName(name, bindingType, offset);
  }

  override parseExport(node: ImportNode, exports: unknown): unknown {
    this.#exports.push(node.start);
    return super.parseExport(node, exports);
  }

  override enterScope(flags: number): void {
    super.enterScope(this.scopeStack.length === 0 ? bodyScope : flags);
    const scope = this.scopeStack.at(-1);
    if (scope === undefined) return;
    scope.lexical = new Names();
    scope.var = new Names();
    scope.functions = new Names();
  }

  override parseImport(node: ImportNode): ImportNode {
    const { start } = node;
    throw importProblem(start, super.parseImport(node));
  }

  override parseImportMeta(node: ImportNode): never {
    throw new ProgramProblem(node.start, 'import.meta does not exist: a program is not a module');
  }
}

class TypeScriptParser extends (Parser.extend(tsPlugin()) as unknown as ParserClass) {
  readonly #budget = new TokenBudget(
    this.input.length + limits.typedProgramTokensSpare,
    'there are too many ways to read this as TypeScript: write it as JavaScript',
  );

  #noReturnTypes = false;

  constructor(parserOptions: Options, input: string) {
    // The plugin asks for locations without looking whether there are any.
    super({ ...parserOptions, locations: true }, input);
  }

  override nextToken(): void {
    this.#budget.spend(this.start);
    super.nextToken();
  }

  override enterScope(flags: number): void {
    super.enterScope(this.scopeStack.length === 0 ? bodyScope : flags);
  }

  /** Whether names clash is asked when the erased program is read as JavaScript. */
  override declareName(): void {}

  /** `a ? (b) : c => d`: where the plugin takes `(b): c => d` for an arrow and misses the rest, it is none. */
  override parseConditional(expression: unknown, ...rest: readonly unknown[]): unknown {
    if (this.type !== tokTypes.question || this.#noReturnTypes)
      return super.parseConditional(expression, ...rest);
    const { node } = this.tryParse(() => super.parseConditional(expression, ...rest));
    if (node !== null) return node;
    this.#noReturnTypes = true;
    try {
      return super.parseConditional(expression, ...rest);
    } finally {
      this.#noReturnTypes = false;
    }
  }

  override shouldParseArrow(expressions: readonly unknown[]): boolean {
    if (this.#noReturnTypes && this.type === tokTypes.colon) return false;
    return super.shouldParseArrow(expressions);
  }

  /** `await a; async <T>(b: T) => b`: the plugin takes the first await for one in the parameters. */
  override tsTryParseGenericAsyncArrowFunction(
    start: number,
    startLocation: unknown,
    forInit: unknown,
  ): unknown {
    const { awaitPos, yieldPos } = this;
    this.awaitPos = 0;
    this.yieldPos = 0;
    const arrow = super.tsTryParseGenericAsyncArrowFunction(start, startLocation, forInit);
    this.awaitPos = awaitPos;
    this.yieldPos = yieldPos;
    return arrow;
  }

  override parseImport(node: ImportNode): ImportNode {
    const { start } = node;
    const parsed = super.parseImport(node);
    const specifiers = parsed.specifiers ?? [];
    const onlyTypes =
      parsed.importKind === 'type' ||
      (specifiers.length > 0 && specifiers.every((specifier) => specifier.importKind === 'type'));
    if (!onlyTypes) throw importProblem(start, parsed);
    return parsed;
  }

  override parseImportMeta(node: ImportNode): never {
    throw new ProgramProblem(node.start, 'import.meta does not exist: a program is not a module');
  }
}

export function importProblem(start: number, { source }: { readonly source?: unknown }): ProgramProblem {
  const name = typeof source === 'object' && source !== null && 'value' in source ? source.value : undefined;
  const from = typeof name === 'string' ? ` of ${JSON.stringify(name)}` : '';
  return new ProgramProblem(
    start,
    `import${from} is not possible, there are no modules. ` +
      'Apps are there without import: await apps.<connection>.<tool>({ … })',
  );
}

export type Language = 'JavaScript' | 'TypeScript';

export const parsers: Readonly<Record<Language, ParserClass>> = {
  JavaScript: JavaScriptParser,
  TypeScript: TypeScriptParser,
};
