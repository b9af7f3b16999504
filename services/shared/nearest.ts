/**
 * The names that a misspelt one may have meant. Pure. The realm has the same rule in its own words, since it
 * imports nothing: a test holds the two together.
 */

/** The nearest names, best first: equal but for case and signs, then by edits, then those that contain it. */
export function nearest(wanted: string, names: readonly string[], count = 3): string[] {
  const plainWanted = plain(wanted.slice(0, wantedCharsMax));
  const editsMax = Math.max(2, Math.floor(plainWanted.length / 3));
  return names
    .map((name) => ({ name, score: scoreOf(plainWanted, plain(name), editsMax) }))
    .filter(({ score }) => score < far)
    .sort((a, b) => a.score - b.score)
    .slice(0, count)
    .map(({ name }) => name);
}

const wantedCharsMax = 200;
/** A score that no name near enough has. */
const far = Number.POSITIVE_INFINITY;
/** One name within another is worth less than any edits. */
const within = 100;

function scoreOf(wanted: string, name: string, editsMax: number): number {
  const edits = distance(wanted, name, editsMax);
  if (edits <= editsMax) return edits;
  const contains = wanted.length > 2 && (name.includes(wanted) || (name.length > 2 && wanted.includes(name)));
  return contains ? within + name.length : far;
}

/** Letters and digits alone, in lower case, so that "get-sum" is "get_sum". */
function plain(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII sign.
  return name.toLowerCase().replace(/[\x00-\x2f\x3a-\x60\x7b-\x7f]/g, '');
}

/** Levenshtein distance, given up above a limit. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return far;
  let before = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const value = Math.min(replaced, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(value);
      smallest = Math.min(smallest, value);
    }
    if (smallest > limit) return far;
    before = row;
  }
  return before[b.length] ?? 0;
}
