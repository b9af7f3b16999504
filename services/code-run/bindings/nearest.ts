/** The names nearest to one that does not exist. Pure. */
import { compareText } from './names.ts';

/** By edit distance, letter case aside, the nearest first; none that has nothing in common. */
export function nearestNames(written: string, names: readonly string[], count: number): string[] {
  const wanted = written.toLowerCase().slice(0, writtenCharsMax);
  return names
    .filter((name) => Math.abs(name.length - wanted.length) < Math.max(name.length, wanted.length) * 0.7)
    .map((name) => ({ name, distance: distanceBetween(wanted, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance < Math.max(name.length, wanted.length) * 0.7)
    .sort((a, b) => a.distance - b.distance || compareText(a.name, b.name))
    .slice(0, count)
    .map(({ name }) => name);
}

const writtenCharsMax = 200;

function distanceBetween(a: string, b: string): number {
  let before = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}
