/**
 * The rule that turns raw names into the names a program writes. Pure.
 *
 * N1  A name is a JavaScript property name that can be written after a dot: its first character starts an
 *     identifier, the rest continue one.
 * N2  The name of a raw name does not depend on any other raw name; only clashes are numbered.
 * N3  Within one scope every raw name gets a name, and no two get the same.
 * N4  Numbering depends on the set of raw names alone, never on the order they are listed in.
 */

/** What may stand inside a name: letters with their marks, and digits, as far as identifiers take them. */
const wordCharacters = /(?:(?=\p{ID_Continue})[\p{L}\p{M}\p{N}])+/gu;

/** Inside a word: between a lower-case letter or digit and a capital, and before the last capital of an acronym. */
const caseChange = /(?<=[\p{Ll}\p{Nd}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/u;

/** The words of a raw name, in lower case: "getHTTPStatus-2" gives get, http, status, 2. */
export function wordsOf(raw: string): string[] {
  const runs = raw.normalize('NFC').match(wordCharacters) ?? [];
  return runs
    .flatMap((run) => run.split(caseChange))
    .map((word) => word.toLowerCase().normalize('NFC'))
    .filter((word) => word !== '');
}

/** The name of a raw name: lower snake case. `_` goes before what cannot start an identifier, and stands for nothing. */
export function identifierOf(raw: string): string {
  const joined = wordsOf(raw).join('_');
  return /^\p{ID_Start}/u.test(joined) ? joined : `_${joined}`;
}

/** Orders texts by UTF-16 code units: the same everywhere, whatever the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Names the members of one scope. `raws` come in the stable order that decides who keeps the plain name; the
 * others get `_2`, `_3` …, passing over what another raw name is called by itself. `taken` is never given.
 */
export function numberNames(raws: readonly string[], taken: readonly string[] = []): string[] {
  const plain = raws.map(identifierOf);
  const used = new Set(taken);
  const reserved = new Set(plain);
  const next = new Map<string, number>();
  return plain.map((name) => {
    if (!used.has(name)) {
      used.add(name);
      return name;
    }
    let number = next.get(name) ?? 2;
    while (used.has(`${name}_${number}`) || reserved.has(`${name}_${number}`)) number += 1;
    next.set(name, number + 1);
    used.add(`${name}_${number}`);
    return `${name}_${number}`;
  });
}
