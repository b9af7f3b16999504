/**
 * The text behind openbot_code_api: declarations of bindings, by words, by connection or by name, in a budget.
 *
 * S1  A text never takes more than its budget; what did not fit is counted, and the way to it is named.
 * S2  It shows the names that a program writes. Declarations in it are valid TypeScript by themselves.
 * S3  The same catalog and request give the same text everywhere.
 */
import { limits } from '../../shared/limits.ts';
import { nearest } from '../../shared/nearest.ts';
import type { Binding } from '../core/model.ts';
import type { CompiledCatalog } from './compile.ts';
import { type Declaration, declare, printDeclaration, shortTypePrefix, typePrefix } from './declare.ts';
import { connectionComment } from './files.ts';
import { type Fitting, fit, formsOf } from './fit.ts';
import { wordsOf } from './names.ts';
import { overview } from './overview.ts';
import { type Detail, fullDetail, keyText } from './schema/print.ts';
import { lineOf, oneLine, summaryOf } from './summary.ts';
import type { BoundCapability } from './table.ts';
import { briefResults } from './world.ts';

export interface DescribeQuery {
  /** Words; empty: none. */
  readonly query: string;
  /** Name or id of a connection, or the first part of a binding; empty: all. */
  readonly connection: string;
  /** Name of one binding; empty: none. */
  readonly binding: string;
  readonly textBytesMax: number;
}

export interface SummarizedBinding {
  readonly binding: Binding;
  readonly summary: string;
}

export interface Description {
  readonly text: string;
  /** The bindings in the text: the best first, or in the order of the table. */
  readonly bindings: readonly SummarizedBinding[];
  /** How many more matched. */
  readonly leftOut: number;
}

/** Answers of a search that are declared, and those after them that get a line. */
const declaredMax = 8;
const listedMax = 24;
/** About what one answer takes; a small budget has room for few. */
const answerBytes = 400;
/** Below this share a declaration would say less than a line. */
const declarationBytesMin = 150;

export function describeBindings(compiled: CompiledCatalog, request: DescribeQuery): Description {
  const { query, connection, binding, textBytesMax } = request;
  if (binding.trim() !== '') return describeOne(compiled, binding.trim(), textBytesMax);
  const among = connection.trim() === '' ? undefined : connectionNamed(compiled, connection.trim());
  if (among !== undefined && among.length === 0)
    return noConnection(compiled, connection.trim(), textBytesMax);
  if (query.trim() !== '') return searched(compiled, query.trim(), among, textBytesMax);
  if (among !== undefined) return declared(among, '', 0, textBytesMax);
  return result(overview(compiled.table.all, textBytesMax));
}

function describeOne(compiled: CompiledCatalog, written: string, bytesMax: number): Description {
  const lookup = compiled.table.find(written);
  switch (lookup.tag) {
    case 'Found':
      return declared([lookup.bound], '', 0, bytesMax);
    case 'Ambiguous':
      return declared(lookup.candidates, `// ${quoted(written)} may mean each of these.\n`, 0, bytesMax);
    case 'Unknown': {
      const names = compiled.table.all.map((bound) => bound.name);
      const text = `There is no binding ${quoted(written)}.${nearestTo(written, names)} Search with {"query": "words"}.\n`;
      return { text: cutTo(text, bytesMax), bindings: [], leftOut: 0 };
    }
  }
}

function connectionNamed(compiled: CompiledCatalog, written: string): BoundCapability[] {
  const all = compiled.table.all;
  const tests: ((bound: BoundCapability) => boolean)[] = [
    (bound) => bound.binding.connection === written,
    (bound) => bound.connection.id === written,
    (bound) => bound.connection.name === written,
    // "github" for what is called GitHub, and so git_hub.
    (bound) => squashed(bound.connection.name) === squashed(written),
  ];
  for (const test of tests) {
    const found = all.filter(test);
    if (found.length > 0) return found;
  }
  return [];
}

function nearestTo(written: string, names: readonly string[]): string {
  const near = nearest(written, names, 5);
  return near.length === 0 ? '' : ` Nearest: ${near.join(', ')}.`;
}

/** As many of the names as fit, and how many more there are. */
function listed(names: readonly string[], bytesMax: number): string {
  let bytes = 0;
  const shown = names.filter((name) => {
    bytes += Buffer.byteLength(name) + 2;
    return bytes <= bytesMax;
  });
  const more = names.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`… ${more} more`])].join(', ');
}

function squashed(name: string): string {
  return wordsOf(name).join('');
}

function noConnection(compiled: CompiledCatalog, written: string, bytesMax: number): Description {
  const names = [...new Set(compiled.table.all.map((bound) => bound.binding.connection))];
  const near = nearestTo(written, names) || ` There is: ${listed(names, bytesMax / 2)}.`;
  const text = `There is no connection ${quoted(written)}.${near}\n`;
  return { text: cutTo(text, bytesMax), bindings: [], leftOut: 0 };
}

function searched(
  compiled: CompiledCatalog,
  query: string,
  among: readonly BoundCapability[] | undefined,
  bytesMax: number,
): Description {
  const allowed = among === undefined ? undefined : new Set(among);
  const hits = compiled.index.search(
    query,
    allowed === undefined ? undefined : (bound) => allowed.has(bound),
  );
  if (hits.length === 0) {
    const text = `Nothing matches ${quoted(query)}. Use other words, or {} for an overview.\n`;
    return { text: cutTo(text, bytesMax), bindings: [], leftOut: 0 };
  }
  const count = Math.min(listedMax, Math.ceil(bytesMax / answerBytes));
  const shown = hits.slice(0, count).map((hit) => hit.bound);
  const best = shown.slice(0, declaredMax).map((bound) => bound.name);
  return declared(shown, `// Best first: ${best.join(', ')}\n`, hits.length - shown.length, bytesMax);
}

/** Declarations of `bounds`, as full as they fit; `more` matched besides. */
function declared(
  bounds: readonly BoundCapability[],
  head: string,
  more: number,
  bytesMax: number,
): Description {
  const results = briefResults(bounds.map((bound) => bound.capability.kind));
  const around =
    Buffer.byteLength(head + results + footer(bounds.length, bounds.length + more)) + frameBytes(bounds);
  const budget = bytesMax - around;
  const prefixes = prefixesOf(bounds);
  const isRanked = head !== '';
  let steps: number = limits.describeStepsMax;
  const items = bounds.map((bound, index) => {
    const isLine = (isRanked && index >= declaredMax) || budget / bounds.length < declarationBytesMin;
    if (isLine || steps <= 0) return lineFitting(bound);
    const declaration = declare(bound);
    steps -= declaration.steps;
    return declarationFitting(declaration, prefixes[index] ?? '');
  });
  const shown = fit(items, budget).filter((one) => one !== undefined);
  const leftOut = bounds.length - shown.length + more;
  const shortened = shown.filter((one) => one.form === 'shortened').length;
  const text = `${shown.length === 0 ? head : assemble(shown, head, results)}${footer(shortened, leftOut)}`;
  return {
    text: cutTo(text, bytesMax),
    bindings: shown.map(({ bound }) => ({ binding: bound.binding, summary: summaryOf(bound) })),
    leftOut,
  };
}

const lesserDetails: readonly Detail[] = [
  { docs: 'brief', levelsMax: Number.POSITIVE_INFINITY },
  { docs: 'none', levelsMax: Number.POSITIVE_INFINITY },
  { docs: 'none', levelsMax: 3 },
  { docs: 'none', levelsMax: 1 },
];

/** Every binding with the line that says what it does. */
export function summaries(compiled: CompiledCatalog): SummarizedBinding[] {
  return compiled.table.all.map((bound) => ({ binding: bound.binding, summary: summaryOf(bound) }));
}

/** A binding as it stands in the text. */
interface Shown {
  readonly bound: BoundCapability;
  readonly types: string;
  readonly member: string;
  readonly form: 'whole' | 'shortened' | 'line';
  readonly bytes: number;
}

function shownAs(bound: BoundCapability, form: Shown['form'], member: string, types = ''): Shown {
  return { bound, types, member, form, bytes: Buffer.byteLength(types) + Buffer.byteLength(member) };
}

function linesFor(bound: BoundCapability): [() => Shown, () => Shown] {
  return [
    () => shownAs(bound, 'line', `    // ${lineOf(bound)}\n`),
    () => shownAs(bound, 'line', `    // ${bound.binding.capability}\n`),
  ];
}

function lineFitting(bound: BoundCapability): Fitting<Shown> {
  return formsOf(linesFor(bound));
}

function declarationFitting(declaration: Declaration, prefix: string): Fitting<Shown> {
  const { bound } = declaration;
  const inDetail = (detail: Detail) => () => {
    const { types, member } = printDeclaration(declaration, detail, { prefix, indent: '    ' });
    return shownAs(bound, detail === fullDetail ? 'whole' : 'shortened', member, types);
  };
  return formsOf([inDetail(fullDetail), ...lesserDetails.map(inDetail), ...linesFor(bound)]);
}

function assemble(shown: readonly Shown[], head: string, results: string): string {
  const groups = [...Map.groupBy(shown, ({ bound }) => bound.binding.connection)].map(
    ([connection, members]) => {
      const comment = connectionComment(
        members.map(({ bound }) => bound),
        '  ',
        connectionCharsMax,
      );
      return `${comment}  ${keyText(connection)}: {\n${members.map(({ member }) => member).join('')}  };\n`;
    },
  );
  const types = shown.map((one) => one.types).join('');
  const needed = shown.some((one) => one.form !== 'line') ? results : '';
  return `${head}${types}declare const apps: {\n${groups.join('')}};\n${needed}`;
}

const connectionCharsMax = 200;

/** Bytes of what stands around the declarations. */
function frameBytes(bounds: readonly BoundCapability[]): number {
  const connections = Map.groupBy(bounds, (bound) => bound.binding.connection);
  const groups = [...connections].map(([connection, members]) =>
    Buffer.byteLength(
      `${connectionComment(members, '  ', connectionCharsMax)}  ${keyText(connection)}: {\n  };\n`,
    ),
  );
  return groups.reduce((sum, bytes) => sum + bytes, Buffer.byteLength('declare const apps: {\n};\n'));
}

/** What is not there, and the way to it. */
function footer(shortened: number, leftOut: number): string {
  const lines = [
    shortened === 0 ? '' : `// ${shortened} shortened to fit. One whole: {"binding": "connection.name"}.\n`,
    leftOut === 0
      ? ''
      : `// ${leftOut} more. Narrow with {"query": "words"}, {"connection": "name"} or {"binding": "connection.name"}.\n`,
  ];
  return lines.join('');
}

/** A prefix of its own for each: short where no other has it. */
function prefixesOf(bounds: readonly BoundCapability[]): string[] {
  const short = bounds.map(shortTypePrefix);
  return bounds.map((bound, index) => {
    const prefix = short[index] ?? '';
    return /^[A-Z]/.test(prefix) && short.indexOf(prefix) === short.lastIndexOf(prefix)
      ? prefix
      : typePrefix(bound);
  });
}

function result(of: { text: string; shown: readonly BoundCapability[]; leftOut: number }): Description {
  return {
    text: of.text,
    bindings: of.shown.map((bound) => ({ binding: bound.binding, summary: summaryOf(bound) })),
    leftOut: of.leftOut,
  };
}

function quoted(text: string): string {
  return JSON.stringify(oneLine(text));
}

/** The last resort: whole characters of as many bytes as there may be. */
function cutTo(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const cut = Buffer.from(text)
    .subarray(0, bytesMax - 4)
    .toString();
  return `${cut.replace(/\ufffd+$/, '')}…\n`;
}
