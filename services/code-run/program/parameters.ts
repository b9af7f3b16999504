/**
 * What a function gets that is the whole program, told by the names of its parameters, and the types that they
 * have in a check: `apps`, `console`, or both as `{ apps, console }`. A first parameter of any other name is `apps`.
 */
import type { CallExpression, Function as FunctionNode, Pattern } from 'acorn';
import type { Insertion } from './edits.ts';
import type { Language } from './parser.ts';
import { skipTrivia } from './trivia.ts';

interface Given {
  readonly value: string;
  readonly type?: string;
}

const apps: Given = { value: 'apps', type: 'Apps' };
const logger: Given = { value: 'console', type: 'Console' };
const both: Given = { value: '{ apps, console }', type: '{ apps: Apps; console: Console }' };
const nothing: Given = { value: 'undefined' };

/** The arguments of the call, in parentheses. */
export function argumentsFor(called: FunctionNode): string {
  const given = givenTo(called);
  const count = given.findLastIndex((one) => one !== nothing) + 1;
  return `(${given
    .slice(0, count)
    .map(({ value }) => value)
    .join(', ')})`;
}

function givenTo({ params }: FunctionNode): Given[] {
  const named = params.map(namedGift);
  const isNamed = named.some((one) => one === apps || one === both);
  const free = named.indexOf(nothing);
  return named.map((one, index) => (index === free && !isNamed ? apps : one));
}

function namedGift(parameter: Pattern): Given {
  const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
  if (pattern.type === 'Identifier') {
    return pattern.name === 'apps' ? apps : pattern.name === 'console' ? logger : nothing;
  }
  return pattern.type === 'ObjectPattern' && takesApps(pattern) ? both : nothing;
}

function takesApps({ properties }: Extract<Pattern, { type: 'ObjectPattern' }>): boolean {
  return properties.some(
    (property) =>
      property.type === 'Property' &&
      !property.computed &&
      property.key.type === 'Identifier' &&
      property.key.name === 'apps',
  );
}

// ---- Types, for a check ----------------------------------------------------------------------------

/** Writes the types of what is given to `called` beside its parameters; those that have a type keep it. */
export function typesFor(called: FunctionNode, typedText: string, language: Language): Insertion[] {
  const given = givenTo(called);
  return called.params.flatMap((parameter, index) =>
    typed(called, parameter, given[index]?.type, typedText, language),
  );
}

/** The same for a function that the program calls itself, where it always passes `apps`, or always `console`. */
export function typesForCalls(
  called: FunctionNode,
  calls: readonly CallExpression[],
  typedText: string,
  language: Language,
): Insertion[] {
  return called.params.flatMap((parameter, index) => {
    const passed = [apps, logger].find(
      ({ value }) => calls.length > 0 && calls.every((call) => isVariable(call.arguments[index], value)),
    );
    return typed(called, parameter, passed?.type, typedText, language);
  });
}

function isVariable(argument: CallExpression['arguments'][number] | undefined, name: string): boolean {
  return argument?.type === 'Identifier' && argument.name === name;
}

function typed(
  called: FunctionNode,
  parameter: Pattern,
  type: string | undefined,
  text: string,
  language: Language,
): Insertion[] {
  const { start, end } = parameter;
  // What has a default or gathers the rest has its type from there.
  if (type === undefined || (parameter.type !== 'Identifier' && parameter.type !== 'ObjectPattern'))
    return [];
  if (/^[:?]/.test(text.slice(skipTrivia(text, end)))) return [];
  const isBare =
    called.type === 'ArrowFunctionExpression' && !/\(\s*$/.test(beforeTrivia(text, called, start));
  const [open, close] = isBare && called.params.length === 1 ? ['(', ')'] : ['', ''];
  const [before, after] = language === 'JavaScript' ? [`/** @type {${type}} */ `, ''] : ['', `: ${type}`];
  return [
    { at: start, text: `${open}${before}` },
    { at: end, text: `${after}${close}` },
  ].filter((insertion) => insertion.text !== '');
}

/** What stands between the start of the function and its only parameter, without comments. */
function beforeTrivia(text: string, called: FunctionNode, start: number): string {
  return text.slice(called.start, start).replace(/\/\*[\s\S]*?\*\/|\/\/[^\n\r\u2028\u2029]*/g, '');
}
