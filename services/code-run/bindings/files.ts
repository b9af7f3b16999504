/**
 * The declaration files of a catalog, one for each connection, to stand beside world.ts: together they are
 * valid under `tsc --strict`, whatever the apps wrote. For one program they hold what its text names, and of the
 * rest only that it is there: reading the schemas of a large catalog takes seconds.
 */
import { limits } from '../../shared/limits.ts';
import {
  type DeclarationText,
  declare,
  declareLoosely,
  printDeclaration,
  typePart,
  typePrefix,
} from './declare.ts';
import { commentOf, visible } from './schema/doc.ts';
import { fullDetail, keyText, methodText, textLiteral } from './schema/print.ts';
import { type BoundCapability, rawNameOf } from './table.ts';

export interface ConnectionFile {
  /** First part of the names in it: "work_calendar". */
  readonly connection: string;
  readonly text: string;
}

/** Every connection in full. */
export function connectionFiles(all: readonly BoundCapability[]): ConnectionFile[] {
  return filesOf(all, () => true);
}

/** The same for one program: a name is in its text if all words of the name are. */
export function filesFor(code: string, all: readonly BoundCapability[]): ConnectionFile[] {
  const words = new Set(code.match(programWords));
  return filesOf(all, (name) => (name.match(programWords) ?? []).every((word) => words.has(word)));
}

const programWords = /[\p{ID_Continue}$]+/gu;

function filesOf(all: readonly BoundCapability[], isNamed: (name: string) => boolean): ConnectionFile[] {
  const raws = countRaws(all);
  const whole = new Budget(limits.catalogStepsMax, limits.catalogCharsMax);
  return [...Map.groupBy(all, (bound) => bound.binding.connection)].map(([connection, bounds]) => {
    if (!isNamed(connection) && !bounds.some((bound) => isNamed(bound.connection.name))) {
      return { connection, text: memberOfApps(connection, 'OtherApp') };
    }
    const own = new Budget(limits.connectionStepsMax, limits.connectionCharsMax);
    const printed = bounds.map((bound) => {
      const { capability, rawName } = bound.binding;
      return isNamed(capability) || isNamed(rawName) ? printWithin([own, whole], bound) : printName(bound);
    });
    return { connection, text: fileText(connection, bounds, printed, raws) };
  });
}

/** What the schemas of some bindings may cost together. */
class Budget {
  #steps: number;
  #chars: number;

  constructor(steps: number, chars: number) {
    this.#steps = steps;
    this.#chars = chars;
  }

  get isSpent(): boolean {
    return this.#steps <= 0 || this.#chars <= 0;
  }

  spend(steps: number, chars: number): void {
    this.#steps -= steps;
    this.#chars -= chars;
  }
}

function printWithin(budgets: readonly Budget[], bound: BoundCapability): DeclarationText {
  const isSpent = budgets.some((budget) => budget.isSpent);
  const declaration = isSpent ? declareLoosely(bound) : declare(bound);
  const text = printDeclaration(declaration, fullDetail, { prefix: typePrefix(bound), indent: '  ' });
  for (const budget of budgets) budget.spend(declaration.steps, text.types.length + text.member.length);
  return text;
}

/** A binding that the program does not name: it may still be reached by a name that is put together. */
function printName({ binding }: BoundCapability): DeclarationText {
  return { types: '', member: `  ${methodText(binding.capability)}(args?: object): Promise<any>;\n` };
}

function memberOfApps(connection: string, type: string): string {
  return `interface Apps {\n  readonly ${keyText(connection)}: ${type};\n}\n`;
}

function fileText(
  connection: string,
  bounds: readonly BoundCapability[],
  printed: readonly DeclarationText[],
  raws: ReadonlyMap<string, number>,
): string {
  const calls = bounds.flatMap((bound) => {
    const type = `Apps[${textLiteral(connection)}][${textLiteral(bound.binding.capability)}]`;
    const raw = rawNameOf(bound.binding);
    // A raw name that several share says nothing about which is meant.
    const names = raws.get(raw) === 1 ? [bound.name, raw] : [bound.name];
    return names.map((name) => `  ${textLiteral(name)}: ${type};\n`);
  });
  const own = `Apps$${typePart(connection)}`;
  return [
    ...printed.map(({ types }) => types),
    connectionComment(bounds, ''),
    `interface ${own} {\n`,
    ...printed.map(({ member }) => member),
    `}\n\n${memberOfApps(connection, own)}\ninterface AppCalls {\n`,
    ...calls,
    '}\n',
  ].join('');
}

/** "Work calendar: what it is for, in its own words." */
export function connectionComment(
  bounds: readonly BoundCapability[],
  indent: string,
  charsMax: number = limits.capabilityDocCharsMax,
): string {
  const connection = bounds[0]?.connection;
  if (connection === undefined) return '';
  const text = [connection.name, connection.description]
    .map((part) => visible(part).trim())
    .filter((part) => part !== '');
  return commentOf({ text: text.join(': '), tags: [] }, indent, charsMax);
}

function countRaws(all: readonly BoundCapability[]): Map<string, number> {
  const raws = new Map<string, number>();
  for (const { binding } of all) {
    const raw = rawNameOf(binding);
    raws.set(raw, (raws.get(raw) ?? 0) + 1);
  }
  return raws;
}
