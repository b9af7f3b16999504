import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { wholeCatalog } from './catalogs.ts';
import { questions, unseenQuestions } from './questions.ts';

const whole = compileCatalog(wholeCatalog());

function found(text: string, of = whole): string[] {
  return of.index.search(text).map((hit) => hit.bound.name);
}

function toolsNamed(
  ...tools: { name: string; title?: string; description?: string; inputSchemaJson?: string }[]
) {
  return compileCatalog(create(CatalogSchema, { connections: [{ id: '1', name: 'App', tools }] }));
}

/** The two letters in the middle change places. */
function transposed(word: string): string {
  const at = Math.floor(word.length / 2);
  return `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`;
}

describe('search', () => {
  it.each([
    ['the raw name', 'list-events'],
    ['the name a program writes', 'list_events'],
    ['other case and endings', 'Listing EVENT'],
    ['its title', 'diary'],
    ['its description', 'appointments'],
    ['a field', 'time zone'],
    ['a field in a field', 'attendee'],
    ['the beginning of a word', 'appoi'],
    ['a word with a typing error', 'calender'],
    ['a word with two letters changed', 'calnedar'],
    ['such a word with an ending', 'lisitng'],
    ['such a short word', 'lsit'],
    ['a word alike', 'show meetings'],
    ['a word alike with two letters changed', 'meeitngs'],
  ])('finds a tool by %s', (_what, text) => {
    const schema = {
      type: 'object',
      properties: {
        timeZone: { type: 'string' },
        who: { type: 'object', properties: { attendee: { type: 'string' } } },
      },
    };
    const catalog = toolsNamed(
      {
        name: 'list-events',
        title: 'Diary',
        description: 'Appointments of a calendar.',
        inputSchemaJson: JSON.stringify(schema),
      },
      { name: 'draw-picture', description: 'Draws.' },
    );
    expect(found(text, catalog)[0]).toBe('app.list_events');
  });

  it('finds a tool by its connection', () => {
    expect(found('slack')[0]).toMatch(/^slack_legacy\./);
    expect(found('github issue')[0]).toMatch(/^git_hub\.|^github_legacy\./);
  });

  it('finds what is written without spaces', () => {
    expect(found('菜谱').slice(0, 8).join()).toMatch(/howtocook|how_to_cook/);
  });

  it('puts equal answers in the order of their names', () => {
    expect(found('same', toolsNamed({ name: 'same-c' }, { name: 'same-a' }, { name: 'same-b' }))).toEqual([
      'app.same_a',
      'app.same_b',
      'app.same_c',
    ]);
  });

  it.each(['', '   ', '!?', 'the of', '\u0000', '__proto__ constructor toString'])(
    'does not stumble over %j',
    (text) => {
      expect(Array.isArray(found(text))).toBe(true);
    },
  );

  it('finds the tools of an app that the question names', () => {
    expect(found('crashes of my app in sentry').slice(0, 5).join()).toContain('sentry_remote.');
    expect(
      found('documents in paperless')
        .slice(0, 5)
        .every((name) => name.startsWith('paperless.')),
    ).toBe(true);
  });

  it('puts what changes nothing before what changes something, unless that is asked for', () => {
    const catalog = toolsNamed({ name: 'delete-note' }, { name: 'get-note' });
    expect(found('note', catalog)).toEqual(['app.get_note', 'app.delete_note']);
    expect(found('remove a note', catalog)[0]).toBe('app.delete_note');
  });

  it.each([
    ['that it was worked out with', questions, 80, 61],
    ['that it was not worked out with', unseenQuestions, 26, 19],
  ] as const)('answers natural questions %s over 4,400 bindings', (_which, asked, amongFive, first) => {
    const ranks = asked.map(([question, answers]) =>
      found(question).findIndex((name) => answers.includes(name)),
    );
    expect(ranks.filter((rank) => rank >= 0 && rank < 5).length).toBe(amongFive);
    expect(ranks.filter((rank) => rank === 0).length).toBe(first);
  });

  it.each([
    ['serach emials from bob', 'search emails from bob'],
    ['send emial', 'send email'],
    ['delte fiel', 'delete file'],
    ['gihtub isuse', 'github issue'],
  ])('answers %j like %j', (mistyped, meant) => {
    expect(found(mistyped).slice(0, 3)).toEqual(found(meant).slice(0, 3));
  });

  it('answers nearly as well when two letters of every longer word changed places', () => {
    const ranks = [...questions, ...unseenQuestions].map(([question, answers]) =>
      found(question.replace(/\b[a-z]{5,}\b/g, transposed)).findIndex((name) => answers.includes(name)),
    );
    expect(ranks.filter((rank) => rank >= 0 && rank < 5).length).toBe(105);
    expect(ranks.filter((rank) => rank === 0).length).toBe(77);
  });

  it('takes no letters for changed in a word that there is', () => {
    const catalog = toolsNamed({ name: 'get-trial' }, { name: 'get-trail' });
    expect(found('trial', catalog)).toEqual(['app.get_trial']);
    expect(found('trail', catalog)).toEqual(['app.get_trail']);
  });

  it('is asked for what there is', () => {
    expect(questions.length).toBe(86);
    expect(unseenQuestions.length).toBe(30);
    for (const [question, answers] of [...questions, ...unseenQuestions]) {
      const there = answers.filter((answer) => whole.table.find(answer).tag === 'Found');
      expect(there, question).not.toEqual([]);
    }
  });
});
