import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { wholeCatalog } from './catalogs.ts';
import { questions } from './questions.ts';

const whole = compileCatalog(wholeCatalog());

function found(text: string, of = whole): string[] {
  return of.index.search(text).map((hit) => hit.bound.name);
}

function toolsNamed(
  ...tools: { name: string; title?: string; description?: string; inputSchemaJson?: string }[]
) {
  return compileCatalog(create(CatalogSchema, { connections: [{ id: '1', name: 'App', tools }] }));
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
    ['a word alike', 'show meetings'],
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

  it('answers natural questions over 4,400 bindings among the first five', () => {
    const missed = questions.filter(([question, answers]) => {
      const first = found(question).slice(0, 5);
      return !answers.some((answer) => first.includes(answer));
    });
    for (const [, answers] of questions)
      expect(answers.some((answer) => whole.table.find(answer).tag === 'Found')).toBe(true);
    expect(questions.length).toBeGreaterThanOrEqual(40);
    // What people mean and what the apps say have no word in common.
    expect(missed.map(([question]) => question)).toEqual([
      'find unread mails in my inbox',
      'when are people free',
      'remember that Ada works on billing',
    ]);
  });
});
