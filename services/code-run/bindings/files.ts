/**
 * The declaration files of a catalog, one for each connection, to stand beside world.ts: together they are
 * valid under `tsc --strict`, whatever the apps wrote.
 */
import { limits } from '../../shared/limits.ts';
import { declare, printDeclaration, typePart, typePrefix } from './declare.ts';
import { commentOf, visible } from './schema/doc.ts';
import { fullDetail, keyText, textLiteral } from './schema/print.ts';
import { type BoundCapability, rawNameOf } from './table.ts';

export interface ConnectionFile {
  /** First part of the names in it: "work_calendar". */
  readonly connection: string;
  readonly text: string;
}

export function connectionFiles(all: readonly BoundCapability[]): ConnectionFile[] {
  const raws = countRaws(all);
  const byConnection = Map.groupBy(all, (bound) => bound.binding.connection);
  return [...byConnection].map(([connection, bounds]) => ({
    connection,
    text: fileText(connection, bounds, raws),
  }));
}

function fileText(
  connection: string,
  bounds: readonly BoundCapability[],
  raws: ReadonlyMap<string, number>,
): string {
  const printed = bounds.map((bound) =>
    printDeclaration(declare(bound), fullDetail, { prefix: typePrefix(bound), indent: '  ' }),
  );
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
    `}\n\ninterface Apps {\n  readonly ${keyText(connection)}: ${own};\n}\n\ninterface AppCalls {\n`,
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
