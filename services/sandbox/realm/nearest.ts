/** The names that a misspelt one may have meant. */
import { append, charCodeAt, indexOf, type List, list, max, min, toLowerCase } from './primordials.ts';

export const suggestionsMax = 3;

/** The nearest names, best first: equal but for case and signs, then by edits, then those that contain it. */
export function nearest(wanted: string, names: List<string>): List<string> {
  const plainWanted = plain(wanted);
  const editsMax = max(2, (plainWanted.length / 3) | 0);
  const best: List<string> = list();
  const scores: List<number> = list();
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    const score = scoreOf(plainWanted, plain(name), editsMax);
    if (score !== undefined) {
      insert(best, scores, name, score);
    }
  }
  return best;
}

function insert(best: List<string>, scores: List<number>, name: string, score: number): void {
  let at = best.length;
  if (at === suggestionsMax && score >= (scores[at - 1] as number)) {
    return;
  }
  if (at < suggestionsMax) {
    append(best, name);
    append(scores, score);
  } else {
    at -= 1;
  }
  for (; at > 0 && (scores[at - 1] as number) > score; at -= 1) {
    best[at] = best[at - 1] as string;
    scores[at] = scores[at - 1] as number;
  }
  best[at] = name;
  scores[at] = score;
}

function scoreOf(wanted: string, name: string, editsMax: number): number | undefined {
  if (wanted === name) {
    return 0;
  }
  const edits = distance(wanted, name, editsMax);
  if (edits <= editsMax) {
    return edits;
  }
  const contains =
    wanted.length > 2 && (indexOf(name, wanted) !== -1 || (name.length > 2 && indexOf(wanted, name) !== -1));
  return contains ? 100 + name.length : undefined;
}

/** Letters and digits alone, in lower case, so that "get-sum" is "get_sum". */
function plain(name: string): string {
  const lower = toLowerCase(name);
  let text = '';
  for (let at = 0; at < lower.length; at += 1) {
    const unit = charCodeAt(lower, at);
    const sign = unit < 0x30 || (unit > 0x39 && unit < 0x61) || (unit > 0x7a && unit < 0x80);
    if (!sign) {
      text += lower[at];
    }
  }
  return text;
}

/** Levenshtein distance, given up above a limit. */
function distance(a: string, b: string, limit: number): number {
  if (a.length - b.length > limit || b.length - a.length > limit) {
    return limit + 1;
  }
  let previous: List<number> = list();
  for (let column = 0; column <= b.length; column += 1) {
    append(previous, column);
  }
  for (let row = 1; row <= a.length; row += 1) {
    const current: List<number> = list();
    append(current, row);
    let smallest = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = charCodeAt(a, row - 1) === charCodeAt(b, column - 1);
      const value = min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (same ? 0 : 1),
      );
      append(current, value);
      smallest = min(smallest, value);
    }
    if (smallest > limit) {
      return limit + 1;
    }
    previous = current;
  }
  return previous[b.length] as number;
}
