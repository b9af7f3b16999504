/**
 * What a text is that is no program: prose, another language, or a program that something was wrapped around or
 * done to. Said with the place and with what to send instead, before anything runs. Pure.
 *
 * M1: nothing is repaired: a guess could do things that nobody meant. M2: a text that is understood is left alone,
 * unless it can only be a program in a wrapper. M3: every look at the text takes time in proportion to it.
 */
import type { Expression, Node, Program } from 'acorn';
import { attempt, type Parsed, parse } from './parser.ts';
import { ProgramProblem } from './problem.ts';
import { skipTrivia } from './trivia.ts';

/** What the text is instead, if that explains why it cannot be read at `offset`. */
export function mistakeAt(text: string, offset: number): ProgramProblem | undefined {
  for (const look of [tags, entity, backslash, json, diff, lineNumbers, python, prose]) {
    const mistake = look(text, offset);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

/** What a text is instead that could be read, but only gives itself as its result or fails at once. */
export function mistakeIn(text: string, parsed: Parsed): ProgramProblem | undefined {
  const only = onlyExpression(parsed);
  const wrapped = only === undefined ? undefined : wrappedProgram(only);
  if (wrapped !== undefined) return wrapped;
  if (only?.type === 'Identifier' && /[^\0-\x7f]/.test(only.name) && only.name.length > 3) {
    return proseProblem(only.start);
  }
  return parsed.kind === 'statements' && /&\w+;/.test(text) ? entityUsed(text, parsed.program) : undefined;
}

// ---- Wrapped, escaped ------------------------------------------------------------------------------

function onlyExpression(parsed: Parsed): Expression | undefined {
  if (parsed.kind === 'expression') return parsed.expression;
  const [only, another] = parsed.program.body.filter((statement) => statement.type !== 'EmptyStatement');
  return another === undefined && only?.type === 'ExpressionStatement' ? only.expression : undefined;
}

function wrappedProgram(only: Expression): ProgramProblem | undefined {
  if (only.type === 'ObjectExpression') {
    const isCode = only.properties.some(
      (property) =>
        property.type === 'Property' &&
        codeFields.has(nameOf(property.key) ?? '') &&
        isProgram(textOf(property.value)),
    );
    return isCode ? jsonProblem(only.start) : undefined;
  }
  if (!isProgram(textOf(only))) return undefined;
  return new ProgramProblem(
    only.start,
    'the whole program is in quotes, so it would only give back its text. Send it without them, with real line breaks',
  );
}

const codeFields: ReadonlySet<string> = new Set(['code', 'program', 'script', 'javascript', 'js', 'source']);

function nameOf(key: Node): string | undefined {
  return key.type === 'Identifier' ? (key as { name?: string }).name : textOf(key);
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') {
    const { value } = node as { value?: unknown };
    return typeof value === 'string' ? value : undefined;
  }
  if (node.type !== 'TemplateLiteral') return undefined;
  const { quasis } = node as unknown as { quasis: { value: { cooked?: string | null } }[] };
  return quasis.length === 1 ? (quasis[0]?.value.cooked ?? undefined) : undefined;
}

/** Prose that names such a word is no program: it cannot be read. */
function isProgram(text: string | undefined): boolean {
  if (text === undefined || !/\bapps\b|\bawait\b|\breturn\b|\bconst\b|=>/.test(text)) return false;
  return !(attempt(() => parse('JavaScript', text)) instanceof ProgramProblem);
}

function json(text: string): ProgramProblem | undefined {
  const start = skipTrivia(text, 0);
  const [, field = ''] = /^\{\s*"(\w+)"\s*:\s*"/.exec(text.slice(start, start + headCharacters)) ?? [];
  return codeFields.has(field) ? jsonProblem(start) : undefined;
}

function jsonProblem(offset: number): ProgramProblem {
  return new ProgramProblem(offset, 'the program is wrapped in JSON. Send only the program, as it is');
}

const headCharacters = 200;

/** `<code>…</code>`, `<script>`, `<![CDATA[`: a tag before everything, and its end somewhere. */
function tags(text: string): ProgramProblem | undefined {
  const start = skipTrivia(text, 0);
  const [tag = '', name] =
    /^<(?:!\[CDATA\[|([a-z][\w:.-]*)[^<>]{0,100}>)/i.exec(text.slice(start, start + headCharacters)) ?? [];
  if (tag === '' || !text.includes(name === undefined ? ']]>' : `</${name}`)) return undefined;
  const shown = name === undefined ? '<![CDATA[…]]>' : `<${name}>`;
  return new ProgramProblem(start, `the program is inside ${shown}. Send the program alone, without tags`);
}

const entities = /&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,5}|#x[\da-f]{2,4});/gi;
/** How far before what cannot be read the sign may start: "&quot;". */
const entityCharactersMax = 10;

function entity(text: string, offset: number): ProgramProblem | undefined {
  const from = Math.max(0, offset - entityCharactersMax);
  for (const match of text.slice(from, offset + entityCharactersMax).matchAll(entities)) {
    const start = from + match.index;
    const end = start + match[0].length;
    if (start <= offset && skipTrivia(text, end) >= offset) return entityProblem(start, match[0]);
  }
  return undefined;
}

/** `a &lt; b` is JavaScript by its letters: a bit operation with a variable `lt`. */
function entityUsed(text: string, program: Program): ProgramProblem | undefined {
  let found: ProgramProblem | undefined;
  const names = new Set<string>();
  const open: Node[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const fields = node as unknown as Readonly<Record<string, unknown>>;
    if (node.type === 'VariableDeclarator') names.add(nameOf(fields['id'] as Node) ?? '');
    if (node.type === 'BinaryExpression' && fields['operator'] === '&') {
      const right = fields['right'] as Node;
      const start = right.start - 1;
      const [written = ''] = text.slice(start, start + entityCharactersMax).match(entities) ?? [];
      if (right.type === 'Identifier' && text.startsWith(written, start) && written !== '') {
        found = entityProblem(start, written);
      }
    }
    for (const value of Object.values(fields)) {
      for (const child of [value].flat()) if (isNode(child)) open.push(child);
    }
  }
  return ['lt', 'gt', 'amp', 'quot'].some((name) => names.has(name)) ? undefined : found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function entityProblem(offset: number, written: string): ProgramProblem {
  return new ProgramProblem(
    offset,
    `"${written}" is a sign written for HTML. Send the program as plain text, with < > & and quotes as they are`,
  );
}

/** A backslash that stands outside of any text: the program was escaped once more than it should be. */
function backslash(text: string, offset: number): ProgramProblem | undefined {
  const at = [offset, offset - 1].find((one) => /^\\(?:[nrt"'`]|$)/.test(text.slice(one, one + 2)));
  if (at === undefined || text[at] !== '\\') return undefined;
  return new ProgramProblem(
    at,
    `"${text.slice(at, at + 2)}" is escaped as inside a string. Send the program as plain text, with real line breaks and quotes`,
  );
}

// ---- Lines with something before them ---------------------------------------------------------------

interface Line {
  readonly start: number;
  readonly text: string;
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split(/(\r\n|[\n\r\u2028\u2029])/).flatMap((part, index) => {
    const line = { start, text: part };
    start += part.length;
    return index % 2 === 0 ? [line] : [];
  });
}

function filledLines(text: string): Line[] {
  return linesOf(text).filter((line) => line.text.trim() !== '');
}

function lineAt(text: string, offset: number): Line {
  const found = linesOf(text).findLast((line) => line.start <= offset);
  return found ?? { start: 0, text };
}

/** The offset of the first sign in a line. */
function firstOf({ start, text }: Line): number {
  return start + text.length - text.trimStart().length;
}

function diff(text: string, offset: number): ProgramProblem | undefined {
  const lines = filledLines(text);
  const header = lines.slice(0, 1).find((line) => /^(?:diff --git |@@ -\d|--- \S|<{7} )/.test(line.text));
  const marked = lines.filter((line) => /^[+-](?![+-])/.test(line.text));
  const isMarked = marked.length > 0 && lines.every((line) => /^[+\- ]/.test(line.text));
  const isHere = /^[+-]/.test(lineAt(text, offset).text);
  const line = header ?? (isMarked && isHere ? marked[0] : undefined);
  if (line === undefined) return undefined;
  return new ProgramProblem(
    line.start,
    'this is a diff. Send the whole program as it is to run, without + and -',
  );
}

function lineNumbers(text: string): ProgramProblem | undefined {
  const lines = filledLines(text);
  const numbers = lines.map((line) => numberOf(line.text.slice(0, headCharacters)));
  const [first] = lines;
  const isCounted = numbers.every((number, index) =>
    index === 0 ? number <= 1 : number > (numbers[index - 1] ?? 0),
  );
  if (first === undefined || !isCounted || !lines.some((line) => code.test(line.text))) return undefined;
  return new ProgramProblem(first.start, 'the lines start with their numbers. Send the program without them');
}

/** Of "12: ", "12 | ", "12. ", "12→". */
function numberOf(line: string): number {
  return Number(/^\s*(\d+)(?:\s*[:|.)→]|\s)/.exec(line)?.[1] ?? Number.NaN);
}

// ---- Other languages ---------------------------------------------------------------------------------

/** Lines that only Python has. */
const pythonLine =
  /^\s*(?:(?:async )?def \w+\(.*\).*:|class \w+(?:\(.*\))?:|from [\w.]+ import [\w*, ]+|import [\w.]+(?: as \w+)?|(?:if|elif|while|for|with|else|try|except|finally)\b[^{}]*:|print [^(].*|pass|.*\b(?:None|True|False)\b[,)\]]*)\s*(?:#.*)?$/;

function python(text: string, offset: number): ProgramProblem | undefined {
  // What cannot be read any more may be the line after.
  const lines = filledLines(text)
    .filter((one) => one.start <= offset)
    .slice(-2);
  const line = lines.findLast((one) => one.text.length < 5 * headCharacters && pythonLine.test(one.text));
  if (line === undefined) return undefined;
  return new ProgramProblem(firstOf(line), 'this looks like Python. Programs are JavaScript');
}

const code = /[{}=;<>`]|[\w\])]\(|\w\[|^\s*\/[/*]/;
const keyword =
  /^(?:async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|finally|for|function|if|import|in|let|new|of|return|static|switch|throw|try|typeof|var|void|while|yield)\b/;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** Words without a sign of code, in the line that cannot be read. */
function prose(text: string, offset: number): ProgramProblem | undefined {
  const line = lineAt(text, offset);
  const said = line.text.replace(/^[\s#>*"'“‘(-]+/, '');
  if (code.test(said) || !/^[\p{L}\d]/u.test(said)) return undefined;
  const words = said.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
  const characters = said.match(unspaced)?.length ?? 0;
  const isProse = characters > 3 || words >= (keyword.test(said) ? 5 : 3);
  return isProse ? proseProblem(firstOf(line)) : undefined;
}

function proseProblem(offset: number): ProgramProblem {
  return new ProgramProblem(
    offset,
    'this is prose, not JavaScript. Send the program alone: the body of an async function',
  );
}
