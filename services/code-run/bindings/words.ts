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
    'a all also an and another any are as at be been by can could do does each every for from has have i if in ' +
    'into is it its just let like me my of on one or other our out please should so some than that the their ' +
    'them then there these they this to us using want was we will with would you your'
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

export interface QuestionWord {
  readonly word: string;
  /** What it may be meant for if the apps do not know it: words that they know, or that have words alike. */
  readonly meant: readonly string[];
}

/**
 * The words of a question. Question words become one; and two that stand side by side may be one that the apps
 * know: "on call" is also oncall.
 */
export function questionWordsOf(text: string, isKnown: (word: string) => boolean): QuestionWord[] {
  const plain = (text.match(runs) ?? []).flatMap(plainWords);
  const words = new Map<string, readonly string[]>();
  for (const written of plain) {
    const word = questionWords.has(written) ? asking : stem(written);
    if (dull.has(written) || words.has(word)) continue;
    const meant = isKnown(word) ? [] : transposedOf(written).map(stem);
    words.set(
      word,
      [...new Set(meant)].filter((one) => isKnown(one) || groups.has(one)),
    );
  }
  for (const [index, second] of plain.slice(1).entries()) {
    const joined = stem(`${plain[index]}${second}`);
    if (isKnown(joined) && !words.has(joined)) words.set(joined, []);
  }
  return [...words].map(([word, meant]) => ({ word, meant }));
}

/** A longer word is not typed. */
const typedCharsMax = 40;

/** The words that have two neighbours changed: the typing error that counts as two others. "emial" is email. */
function transposedOf(written: string): string[] {
  const letters = [...written];
  if (letters.length < 3 || letters.length > typedCharsMax) return [];
  return letters
    .slice(1)
    .map((letter, at) => [...letters.slice(0, at), letter, letters[at], ...letters.slice(at + 2)].join(''));
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

/**
 * Groups of words that people and apps use for one another: everyday words for what apps do and hold. A word may be
 * in several.
 */
const alike: readonly string[] = [
  // What is done.
  'create add new make insert generate open',
  'delete remove destroy drop erase clear',
  `get ${asking} read fetch retrieve view show list browse find search query lookup look see`,
  'update edit change modify patch set rename replace',
  'send post publish write tell notify share',
  'share permission access invite',
  'add sum plus total calculate',
  'count number many amount',
  'run execute start trigger launch',
  'stop cancel end terminate abort kill',
  'upload import attach',
  'download export save',
  'save store write keep',
  'copy duplicate clone fork',
  'schedule plan book arrange',
  'close finish complete done resolve',
  'undo revert reset restore rollback discard',
  'restart reboot cycle',
  'enable activate unlock toggle',
  'disable deactivate suspend block lock',
  'assign owner delegate responsible',
  'own owner whois registrant',
  'buy purchase order trade',
  'pay payment charge transaction',
  'convert transform translate',
  'reply answer respond',
  'accept decline respond tentative',
  'remember memory memorize note knowledge observation',
  'talk discuss conversation transcript',
  'type fill enter input',
  'compare diff difference',
  // What there is.
  'email mail inbox mailbox',
  'message chat sms text dm',
  'picture image photo screenshot',
  'video film movie youtube',
  'subtitle caption transcript',
  'repo repository',
  'pull merge',
  'issue ticket story task todo item',
  'bug error failure crash exception problem fault',
  'sprint iteration cycle milestone',
  'event meeting appointment call',
  'invitation invite event',
  'free available busy freebusy slot',
  'folder directory',
  'file document doc',
  'chart graph plot diagram',
  'slide presentation powerpoint deck',
  'spreadsheet excel worksheet sheet workbook',
  'cell range row',
  'column field schema attribute',
  'vm server instance droplet machine',
  'database db',
  'build pipeline ci job workflow',
  'log trace',
  'person people user member contact colleague somebody',
  'team group channel',
  'customer client',
  'invoice bill billing',
  'money balance funds cash',
  'price cost fee rate',
  'currency dollar euro exchange money',
  'stock share ticker security equity',
  'directions route navigate',
  'distance far long',
  'near nearby close around',
  'place restaurant location poi shop',
  'apartment flat house rental accommodation hotel listing',
  'weather storm rain snow temperature forecast',
  'warning alert alarm',
  'k8s kubernetes kubectl',
  'website site page web',
  'comment reply note',
  'paper article publication',
  'password credential secret',
];

const groups = new Map<string, string[]>();
for (const [index, words] of alike.entries()) {
  for (const word of words.split(' ').map(stem)) groups.set(word, [...(groups.get(word) ?? []), `~${index}`]);
}

/** Words for doing something that changes things; who does not ask for it does not want it. */
const acts = new Set(
  (
    'create add new make insert generate delete remove destroy drop erase clear update edit change modify patch set ' +
    'rename replace put upsert send post publish forward reply archive cancel stop start run execute upload import ' +
    'copy duplicate move assign accept decline approve close merge enable disable restart reset'
  )
    .split(' ')
    .map(stem),
);

export function isAct(word: string): boolean {
  return acts.has(word);
}

const none: readonly string[] = [];

/** The names of the groups of words alike that a word of searchWords belongs to: no words themselves. */
export function groupsOf(word: string): readonly string[] {
  return groups.get(word) ?? none;
}
