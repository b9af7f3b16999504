/**
 * Words as search sees them: names split, case and endings taken off, texts without spaces cut into pairs. Pure.
 */
import { stemmer } from 'stemmer';
import { wordsOf } from './names.ts';

/** Scripts that are written without spaces. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** Letters and digits without anything between. */
const runs = /[\p{L}\p{M}\p{N}]+/gu;

/** Words that say nothing about what is asked for. */
const dull = new Set(
  (
    'a an and any are as at be been by can could do does for from has have i if in into is it its ' +
    'let like me my of on or our out please should so some than that the their them then there ' +
    'these they this to us using want was we will with would you your'
  ).split(' '),
);

/**
 * The words of a text, as they are in the index; in the order of the text. "GitHub" is git, hub and github.
 * `known` keeps the words of each run of letters, for whoever reads many texts.
 */
export function searchWords(text: string, known: Map<string, string[]> = new Map()): string[] {
  return (text.match(runs) ?? []).flatMap((run) => {
    const before = known.get(run);
    if (before !== undefined) return before;
    const words = plainWords(run)
      .filter((word) => !dull.has(word))
      .map(stem);
    known.set(run, words);
    return words;
  });
}

/**
 * The words of a question. Question words become one; and two that stand side by side may be one that the apps
 * know: "on call" is also oncall.
 */
export function questionWordsOf(text: string, isKnown: (word: string) => boolean): string[] {
  const plain = (text.match(runs) ?? []).flatMap(plainWords);
  const joined = plain.slice(1).map((word, index) => stem(`${plain[index]}${word}`));
  const words = plain
    .filter((word) => !dull.has(word))
    .map((word) => (questionWords.has(word) ? asking : stem(word)));
  return [...new Set([...words, ...joined.filter(isKnown)])];
}

/** Letters and digits as words: the parts, and the whole where there are several. */
function plainWords(run: string): string[] {
  const words: string[] = [];
  const parts = wordsOf(run);
  for (const word of parts.length > 1 ? [...parts, parts.join('')] : parts) {
    const spaced = word.replace(unspaced, (unspacedRun) => {
      words.push(...pairsOf(unspacedRun));
      return ' ';
    });
    words.push(...spaced.split(' ').filter((part) => part !== ''));
  }
  return words;
}

function stem(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Who asks wants to read: a question word is a word like get, and no word itself. */
const asking = '?';
const questionWords = new Set('how what when where which who whose why'.split(' '));

/** Groups of words that people and apps use for one another. A word is in one group. */
const alike: readonly (readonly string[])[] = [
  ['create', 'add', 'new', 'make', 'insert', 'generate'],
  ['delete', 'remove', 'destroy', 'drop', 'erase'],
  [
    asking,
    'get',
    'read',
    'fetch',
    'retrieve',
    'view',
    'show',
    'list',
    'browse',
    'find',
    'search',
    'query',
    'lookup',
  ],
  ['update', 'edit', 'change', 'modify', 'patch', 'set', 'rename'],
  ['send', 'post', 'publish'],
  ['email', 'mail', 'inbox'],
  ['message', 'chat', 'sms', 'text'],
  ['picture', 'image', 'photo', 'screenshot'],
  ['repo', 'repository'],
  ['pull', 'merge'],
  ['issue', 'ticket', 'story', 'task', 'todo'],
  ['event', 'meeting', 'appointment'],
  ['folder', 'directory'],
  ['chart', 'graph', 'plot', 'diagram'],
  ['vm', 'server', 'instance', 'droplet'],
  ['database', 'db'],
  ['run', 'execute', 'start', 'trigger'],
  ['stop', 'cancel', 'end', 'terminate'],
  ['upload', 'import'],
  ['download', 'export'],
  ['person', 'people', 'user', 'member', 'contact'],
  ['directions', 'route', 'navigate'],
  ['k8s', 'kubernetes', 'kubectl'],
  ['website', 'site', 'page', 'web'],
  ['comment', 'reply', 'note'],
  ['copy', 'duplicate', 'clone', 'fork'],
  ['remember', 'memory', 'memorize'],
  ['schedule', 'plan', 'book'],
];

const groups = new Map<string, string>();
for (const group of alike) for (const word of group) groups.set(stem(word), `~${group[0]}`);

/** The name of the group of words alike that a word of searchWords belongs to: no word itself. */
export function groupOf(word: string): string | undefined {
  return groups.get(word);
}
