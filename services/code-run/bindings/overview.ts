/**
 * What there is, in a budget: every binding in a line; else the names; else, of each connection, as many names as
 * its share allows.
 */
import { type Fitting, fit } from './fit.ts';
import { firstSentence, lineOf, oneLine } from './summary.ts';
import type { BoundCapability } from './table.ts';

export interface Overview {
  readonly text: string;
  readonly shown: readonly BoundCapability[];
  readonly leftOut: number;
}

/** The bindings of one connection. */
type Group = readonly [BoundCapability, ...BoundCapability[]];

const howToNarrow =
  '// Declarations: {"query": "words"}, {"connection": "name"} or {"binding": "connection.name"}.\n';

export function overview(all: readonly BoundCapability[], bytesMax: number): Overview {
  const groups = groupsOf(all);
  if (groups.length === 0) return { text: 'There are no bindings.\n', shown: [], leftOut: 0 };
  const head = `// ${plural(groups.length, 'connection')}, ${plural(all.length, 'binding')}. Call: await apps.<connection>.<name>({ … })\n${howToNarrow}`;
  const names = head + groups.map(namesOf).join('');
  if (Buffer.byteLength(names) <= bytesMax) {
    const lines = head + groups.map(linesOf).join('');
    return { text: Buffer.byteLength(lines) <= bytesMax ? lines : names, shown: all, leftOut: 0 };
  }
  const room = bytesMax - Buffer.byteLength(head + notShown(all.length, groups.length));
  const entries = fit(groups.map(entryOf), room);
  const shown = entries.flatMap((entry) => entry?.shown ?? []);
  const leftOut = all.length - shown.length;
  const note = notShown(leftOut, entries.filter((entry) => entry === undefined).length);
  return { text: head + entries.map((entry) => entry?.text ?? '').join('') + note, shown, leftOut };
}

/** `connections` are those of which not even the name is there. */
function notShown(bindings: number, connections: number): string {
  const unnamed = connections === 0 ? '' : `, and ${plural(connections, 'connection')} not named`;
  return `// ${plural(bindings, 'binding')} not shown${unnamed}.\n`;
}

function groupsOf(all: readonly BoundCapability[]): Group[] {
  return [...Map.groupBy(all, (bound) => bound.binding.connection).values()].flatMap(
    ([first, ...others]): Group[] => (first === undefined ? [] : [[first, ...others]]),
  );
}

function linesOf(group: Group): string {
  return `\n${headOf(group)}${group.map((bound) => `${lineOf(bound)}\n`).join('')}`;
}

function namesOf(group: Group): string {
  return entry(group, group.length).text;
}

interface Entry {
  readonly text: string;
  readonly bytes: number;
  readonly shown: readonly BoundCapability[];
}

function entryOf(group: Group): Fitting<Entry> {
  return {
    full: () => entry(group, group.length),
    within: (bytes) => {
      let count = group.length;
      for (let made = entry(group, count); count > 0; made = entry(group, count)) {
        if (made.bytes <= bytes) return made;
        count = Math.min(count - 1, Math.floor((count * bytes) / made.bytes));
      }
      const name = sized(`apps.${group[0].binding.connection}\n`, []);
      return [entry(group, 0), name].find((made) => made.bytes <= bytes);
    },
  };
}

/** A connection and the first of its names. */
function entry(group: Group, count: number): Entry {
  const shown = group.slice(0, count);
  const more = group.length - count;
  const names = [
    ...shown.map((bound) => bound.binding.capability),
    ...(more === 0 ? [] : [`… ${more} more`]),
  ];
  return sized(`${headOf(group)}  ${names.join(', ')}\n`, shown);
}

function sized(text: string, shown: readonly BoundCapability[]): Entry {
  return { text, bytes: Buffer.byteLength(text), shown };
}

/** "apps.work_calendar: Work calendar. What it is for." Without what says nothing new. */
function headOf([{ binding, connection }]: Group): string {
  const name = oneLine(connection.name);
  const purpose = firstSentence([connection.description]).replace(/^#+\s*/, '');
  const said = [name, purpose].filter((part) => part !== '' && part !== binding.connection);
  return `apps.${binding.connection}${said.length === 0 ? '' : `: ${said.join('. ')}`}\n`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
