/**
 * Search over the bindings of a catalog: ranked by words, with endings, beginnings, typing errors and words alike
 * allowed for. The same catalog and words give the same order everywhere.
 */
import MiniSearch, { type Query } from 'minisearch';
import { compareText } from './names.ts';
import { isObject, own, ownObject, parsedObject } from './schema/json.ts';
import type { BoundCapability } from './table.ts';
import { templateVariables } from './uri-template.ts';
import { groupsOf, isAct, type QuestionWord, questionWordsOf, searchWords } from './words.ts';

/** What is searched, and how much a word there counts. */
const boost = { name: 4, title: 2.5, connection: 2.5, summary: 2, arguments: 1, description: 0.6 };

/** Where few words say what the capability does: words alike are looked for there. */
const briefFields: ReadonlySet<string> = new Set(['name', 'title', 'summary']);

/** Text of one description that is searched; what comes later says little about the capability. */
const descriptionCharsMax = 600;
/** The first sentence of it says most. */
const summaryCharsMax = 200;
const fieldsMax = 60;
/** A word alike counts less than the word itself. */
const alikeWeight = 0.35;
/** Of a word that only begins so, and of one with typing errors. */
const weights = { prefix: 0.5, fuzzy: 0.3 };
/** And of a word that it is if two of its letters change places. */
const meantWeight = 0.75;
const guessedCharsMin = 3;
/** Words of a question that are looked for: one bit each. */
const wordsMax = 30;
/** What is worth less than this part of the best answer is no answer. */
const goodShare = 0.1;
/** What is lost by a name of which nothing was asked for: it does something else besides. */
const unspokenWeight = 0.9;
/** What is left of one that does what nobody asked for. */
const otherActShare = 0.6;

interface Document {
  readonly id: number;
  readonly name: string;
  readonly title: string;
  readonly connection: string;
  readonly arguments: string;
  readonly summary: string;
  readonly description: string;
}

/** A word of a raw name, with the groups of words alike that it is in. */
interface NameWord {
  readonly terms: readonly string[];
  readonly isAct: boolean;
}

export interface Hit {
  readonly bound: BoundCapability;
  readonly score: number;
}

export class SearchIndex {
  readonly #all: readonly BoundCapability[];
  readonly #index: MiniSearch<Document>;
  readonly #names: readonly (readonly NameWord[])[];
  /** By a word of their names, the connections. */
  readonly #connections = new Map<string, Set<string>>();
  /** Every word that is in the index. */
  readonly #words = new Set<string>();

  constructor(all: readonly BoundCapability[]) {
    this.#all = all;
    const known = new Map<string, string[]>();
    this.#names = all.map(({ binding }) => searchWords(binding.rawName, known).map(nameWord));
    for (const { connection, binding } of all) {
      for (const word of searchWords(connection.name, known)) {
        const named = this.#connections.get(word);
        if (named === undefined) this.#connections.set(word, new Set([binding.connection]));
        else named.add(binding.connection);
      }
    }
    this.#index = new MiniSearch<Document>({
      fields: Object.keys(boost),
      tokenize: (text, field) => this.#indexed(text, briefFields.has(field ?? ''), known),
      processTerm: (term) => term,
    });
    this.#index.addAll(all.map(documentOf));
  }

  /** The best first, equal ones by name; without what is far worse than the best. */
  search(text: string, only: (bound: BoundCapability) => boolean = () => true): Hit[] {
    const words = questionWordsOf(text, (word) => this.#words.has(word)).slice(0, wordsMax);
    if (words.length === 0) return [];
    const found = this.#index.search({
      combineWith: 'OR',
      queries: words.flatMap((word) => this.#queriesFor(word)),
    });
    const bits = bitsOf(words);
    const asked = new Set(words.flatMap(termsOf));
    const named = this.#namedConnections(words.flatMap(({ word, meant }) => [word, ...meant]));
    const hits: Hit[] = [];
    let best = 0;
    for (const { id, score, queryTerms } of found) {
      const bound = this.#all[id];
      if (bound === undefined) continue;
      const isNamed = named.get(bound.binding.connection) ?? 0;
      // Two words met are worth more than one word met twice as well.
      const most = (1 + isNamed) * score * (countBits(queryTerms, bits) / words.length) ** 2;
      if (most < best * goodShare || !only(bound)) continue;
      const worth = most * spokenShare(this.#names[id] ?? [], asked, isNamed);
      best = Math.max(best, worth);
      hits.push({ bound, score: worth });
    }
    return hits
      .filter((hit) => hit.score >= best * goodShare)
      .sort((a, b) => b.score - a.score || compareText(a.bound.name, b.bound.name));
  }

  /** A word as it stands, or a word alike; begun or with typing errors only if nothing has it as it stands. */
  #queriesFor({ word, meant }: QuestionWord): Query[] {
    const options = {
      boost,
      weights,
      tokenize: (term: string) => [term],
      processTerm: (term: string) => term,
    };
    const known = this.#words.has(word) || word.length < guessedCharsMin;
    const own: Query = { ...options, queries: [word], ...(known ? {} : { prefix: true, fuzzy: 0.2 }) };
    const counting =
      (weight: number) =>
      (term: string): Query => ({
        ...options,
        queries: [term],
        boostTerm: () => weight,
      });
    return [
      own,
      ...groupsOf(word).map(counting(alikeWeight)),
      ...meant.map(counting(meantWeight)),
      ...meant.flatMap(groupsOf).map(counting(meantWeight * alikeWeight)),
    ];
  }

  /** Each word once: how often a description repeats a word says little. */
  #indexed(text: string, brief: boolean, known: Map<string, string[]>): string[] {
    const words = new Set(searchWords(text, known));
    for (const word of words) this.#words.add(word);
    if (!brief) return [...words];
    return [...new Set([...words, ...[...words].flatMap(groupsOf)])];
  }

  /** Connections that the question names, from 0 to 1: less where many have the word in their names. */
  #namedConnections(words: readonly string[]): Map<string, number> {
    const named = new Map<string, number>();
    for (const word of words) {
      const connections = this.#connections.get(word) ?? [];
      for (const one of connections)
        named.set(one, Math.max(named.get(one) ?? 0, 1 / [...connections].length));
    }
    return named;
  }
}

function nameWord(word: string): NameWord {
  return { terms: [word, ...groupsOf(word)], isAct: isAct(word) };
}

/** A word, what it may be meant for, and the groups these are in. */
function termsOf({ word, meant }: QuestionWord): string[] {
  return [word, ...meant].flatMap((one) => [one, ...groupsOf(one)]);
}

/** For each word, in all its terms, a bit. */
function bitsOf(words: readonly QuestionWord[]): Map<string, number> {
  const bits = new Map<string, number>();
  for (const [index, word] of words.entries()) {
    for (const term of termsOf(word)) bits.set(term, (bits.get(term) ?? 0) | (1 << index));
  }
  return bits;
}

/** How many words the terms stand for. */
function countBits(terms: readonly string[], bits: ReadonlyMap<string, number>): number {
  let met = 0;
  for (const term of terms) met |= bits.get(term) ?? 0;
  let count = 0;
  for (; met !== 0; met &= met - 1) count += 1;
  return count;
}

/** What is left of an answer for what its name says that nobody asked for; a connection asked for is part of the name. */
function spokenShare(name: readonly NameWord[], asked: ReadonlySet<string>, isNamed: number): number {
  const unspoken = name.filter(({ terms }) => !terms.some((term) => asked.has(term)));
  const share = (name.length - unspoken.length + isNamed) / (name.length + isNamed || 1);
  const act = unspoken.some((word) => word.isAct) ? otherActShare : 1;
  return act * (1 - unspokenWeight * (1 - share));
}

function documentOf(bound: BoundCapability, id: number): Document {
  const { binding, connection, capability } = bound;
  const said = saidOf(capability);
  const description = said.description.slice(0, descriptionCharsMax);
  const end = summaryEnd(description);
  return {
    id,
    name: binding.rawName,
    title: said.title,
    connection: connection.name,
    arguments: said.fields.slice(0, fieldsMax).join(' '),
    summary: description.slice(0, end),
    description: description.slice(end),
  };
}

/** Where the first sentence or line ends. */
function summaryEnd(description: string): number {
  const end = description.search(/[.!?](?=\s)|[。！？\n]/);
  return Math.min(end < 0 ? description.length : end, summaryCharsMax);
}

interface Said {
  readonly title: string;
  readonly description: string;
  readonly fields: readonly string[];
}

function saidOf(capability: BoundCapability['capability']): Said {
  switch (capability.kind) {
    case 'tool': {
      const { title, description, inputSchemaJson } = capability.tool;
      return { title, description, fields: fieldsOf(inputSchemaJson) };
    }
    case 'resource': {
      const { title, description, uri } = capability.resource;
      return { title, description: `${description} ${uri}`, fields: [] };
    }
    case 'resourceTemplate': {
      const { title, description, uriTemplate } = capability.template;
      const fields = templateVariables(uriTemplate).map((variable) => variable.name);
      return { title, description: `${description} ${uriTemplate}`, fields };
    }
    case 'prompt': {
      const { title, description } = capability.prompt;
      return { title, description, fields: capability.prompt.arguments.map((argument) => argument.name) };
    }
  }
}

/** Names of the arguments, and of what is right inside them. */
function fieldsOf(schemaJson: string): string[] {
  const properties = Object.entries(ownObject(parsedObject(schemaJson), 'properties') ?? {});
  const inner = properties.flatMap(([, part]) => {
    const items = isObject(part) ? own(part, 'items') : undefined;
    return [part, items].flatMap((one) =>
      isObject(one) ? Object.keys(ownObject(one, 'properties') ?? {}) : [],
    );
  });
  return [...properties.map(([key]) => key), ...inner];
}
