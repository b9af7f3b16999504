import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Catalog, CatalogSchema } from '../../gen/openbot/codemode/v1/catalog_pb.js';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import {
  type DescribeQuery,
  describeBindings,
  summaries,
} from '../../services/code-run/bindings/describe.ts';
import { limits } from '../../services/shared/limits.ts';
import { catalogOf, filesOf, wholeCatalog } from './catalogs.ts';
import { typeErrors } from './tsc.ts';

// Whole catalogs many times over: seconds of work, more where the machine is shared.
vi.setConfig({ testTimeout: 120_000 });

const whole = compileCatalog(wholeCatalog());
const everything = compileCatalog(catalogOf('everything.json.gz'));

function ask(request: Partial<DescribeQuery>, of = whole) {
  return describeBindings(of, {
    query: '',
    connection: '',
    binding: '',
    textBytesMax: limits.describeBytesDefault,
    ...request,
  });
}

function names(description: ReturnType<typeof ask>): string[] {
  return description.bindings.map(({ binding }) => `${binding.connection}.${binding.capability}`);
}

const notes: Catalog = create(CatalogSchema, {
  connections: [
    {
      id: 'conn-7',
      name: 'Notes',
      description: 'Your notes.\nAll of them.',
      tools: [
        {
          name: 'read-note',
          title: 'Read a note',
          description: 'Reads one note.\nGive the id.',
          inputSchemaJson: JSON.stringify({
            type: 'object',
            properties: {
              format: { type: 'string', default: 'text' },
              id: { type: 'string', description: 'Id of the note.' },
            },
            required: ['id', 'format'],
          }),
          outputSchemaJson: '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}',
          hints: { readOnly: true },
        },
      ],
      resources: [{ uri: 'note://index', name: 'index', mimeType: 'text/plain' }],
      resourceTemplates: [
        { uriTemplate: 'note://{id}{?lang}{&tags*}', name: 'note', description: 'One note.' },
      ],
      prompts: [
        {
          name: 'summarize',
          description: 'Summarizes notes.',
          arguments: [
            { name: 'id', description: 'Which note.', required: true },
            { name: 'style', required: false },
          ],
        },
      ],
    },
  ],
});

describe('the overview', () => {
  it('has each connection and each binding in a line', () => {
    expect(ask({}, compileCatalog(notes)).text).toBe(`\
// 1 connection, 4 bindings. Call: await apps.<connection>.<name>({ … })
// Declarations: {"query": "words"}, {"connection": "name"} or {"binding": "connection.name"}.

apps.notes: Notes. Your notes.
index(): resource note://index
note(id, lang?, tags?): One note.
read_note(id, format?): Reads one note.
summarize(id, style?): Summarizes notes.
`);
  });

  it('of 4,400 bindings names every connection in 16 KiB and counts what is not shown', () => {
    const description = ask({});
    expect(Buffer.byteLength(description.text)).toBeLessThanOrEqual(16 * 1024);
    for (const file of filesOf(whole)) expect(description.text).toContain(`apps.${file.connection}`);
    expect(description.bindings.length).toBeGreaterThan(300);
    expect(description.bindings.length + description.leftOut).toBe(4403);
    expect(description.text).toContain(`// ${description.leftOut} bindings not shown.`);
  });

  it('counts the connections that a small budget leaves no room to name', () => {
    for (const textBytesMax of [1024, 2048, 3072]) {
      const { text, leftOut } = ask({ textBytesMax });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(textBytesMax);
      const unnamed = filesOf(whole).length - [...text.matchAll(/^apps\./gm)].length;
      expect(unnamed).toBeGreaterThan(0);
      expect(text).toContain(`// ${leftOut} bindings not shown, and ${unnamed} connections not named.\n`);
    }
  });

  it('says that there is nothing when there is nothing', () => {
    expect(ask({}, compileCatalog(create(CatalogSchema)))).toEqual({
      text: 'There are no bindings.\n',
      bindings: [],
      leftOut: 0,
    });
  });
});

describe('a binding', () => {
  it('is declared whole, with its comments', () => {
    const description = ask({ binding: 'notes.read_note' }, compileCatalog(notes));
    expect(description.text).toBe(`\
declare const apps: {
  /**
   * Notes: Your notes.
   * All of them.
   */
  notes: {
    /**
     * Reads one note.
     * Give the id.
     * (read-only)
     */
    read_note(args: {
      /** @default "text" */
      format?: string;
      /** Id of the note. */
      id: string;
    }): Promise<ToolResult<{ text: string }>>;
  };
};
interface ToolResult<T = unknown> { content: Content[]; structuredContent: T; isError?: boolean }
interface Content { type: string; text: string; data?: string; mimeType?: string; resource?: ResourceContent }
interface ResourceContent { uri: string; mimeType?: string; text: string; blob?: string }
`);
    expect(names(description)).toEqual(['notes.read_note']);
  });

  it.each([
    [
      'apps.notes.note',
      'note(args: { id: string; lang?: string; tags?: string | string[] }): Promise<ReadResourceResult>;',
    ],
    [
      'notes.index',
      '/** Resource note://index text/plain */\n    index(args?: {}): Promise<ReadResourceResult>;',
    ],
    ['Notes/summarize', '      id: string;\n      style?: string;\n    }): Promise<GetPromptResult>;'],
  ])('%s is found and typed', (written, text) => {
    expect(ask({ binding: written }, compileCatalog(notes)).text).toContain(text);
  });

  it('that does not exist is answered with the nearest names', () => {
    expect(ask({ binding: 'git_hub.create_isue' })).toMatchObject({ bindings: [], leftOut: 0 });
    expect(ask({ binding: 'git_hub.create_isue' }).text).toMatch(
      /^There is no binding "git_hub\.create_isue"\. Nearest: git_hub\.create_issue, /,
    );
  });

  it('that two raw names may mean is answered with both', () => {
    const twice = create(CatalogSchema, {
      connections: ['a', 'b'].map((id) => ({ id, name: 'Mail', tools: [{ name: 'send' }] })),
    });
    expect(names(ask({ binding: 'Mail/send' }, compileCatalog(twice)))).toEqual(['mail.send', 'mail_2.send']);
  });

  it('too large for the budget loses comments first, then what lies deep, and says so', () => {
    const text = (textBytesMax: number) => ask({ binding: 'ms365.create_chat', textBytesMax }).text;
    expect(text(1024 * 1024)).toContain('/** The unique identifier for an entity. Read-only. */');
    expect(text(1024 * 1024)).not.toContain('to fit');
    expect(text(16 * 1024)).not.toContain('/** The unique identifier');
    expect(text(16 * 1024)).toContain('topic?: string | null;');
    expect(text(16 * 1024)).toContain('// 1 shortened to fit.');
    expect(text(2048)).toContain('fields, cut to fit */');
  });
});

describe('a connection', () => {
  it.each([['notes'], ['Notes'], ['NOTES'], ['no tes'], ['conn-7']])('is found as %s', (connection) => {
    expect(names(ask({ connection }, compileCatalog(notes)))).toEqual([
      'notes.index',
      'notes.note',
      'notes.read_note',
      'notes.summarize',
    ]);
  });

  it('of 344 bindings is listed whole in 16 KiB', () => {
    const description = ask({ connection: 'ms365' });
    expect(description.bindings).toHaveLength(344);
    expect(description.leftOut).toBe(0);
  });

  it('that does not exist is answered with the nearest names', () => {
    expect(ask({ connection: 'githb' }).text).toMatch(
      /^There is no connection "githb"\. Nearest: git_hub, git\.\n$/,
    );
  });

  it('that is near to none is answered with the connections that there are', () => {
    const few = compileCatalog(
      create(CatalogSchema, {
        connections: ['Notes', 'Mail'].map((name) => ({ id: name, name, tools: [{ name: 't' }] })),
      }),
    );
    const request = { query: '', connection: 'zzzzzz', binding: '', textBytesMax: 1024 };
    expect(describeBindings(few, request).text).toBe(
      'There is no connection "zzzzzz". There is: mail, notes.\n',
    );
    const { text } = describeBindings(whole, request);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
    expect(text).toMatch(/^There is no connection "zzzzzz"\. There is: airtable, .*, … \d+ more\.\n$/);
  });

  it('narrows a search', () => {
    const found = names(ask({ query: 'create issue', connection: 'gitlab-zereight' }));
    expect(found[0]).toBe('gitlab_zereight.create_issue');
    expect(found.every((name) => name.startsWith('gitlab_zereight.'))).toBe(true);
  });
});

describe('a search', () => {
  it('gives the best first, declared, and the rest in lines', () => {
    const description = ask({ query: 'create a pull request on github' });
    const [first] = names(description);
    expect(first).toMatch(/^git(_hub|hub_legacy)\.create_pull_request$/);
    expect(description.text).toMatch(/^\/\/ Best first: \S+, /);
    expect(description.text).toContain('create_pull_request(args: {');
    expect(description.bindings).toHaveLength(24);
    expect(description.leftOut).toBeGreaterThan(0);
    expect(description.text).toContain(`// ${description.leftOut} more. Narrow with`);
  });

  it('answers with the names that a program writes', () => {
    for (const { binding } of ask({ query: 'notion page' }).bindings) {
      expect(whole.table.find(`${binding.connection}.${binding.capability}`).tag).toBe('Found');
    }
  });

  it('says so when nothing matches', () => {
    expect(ask({ query: 'xyzzyq' }).text).toBe(
      'Nothing matches "xyzzyq". Use other words, or {} for an overview.\n',
    );
  });
});

describe('every description', () => {
  const requests: Partial<DescribeQuery>[] = [
    {},
    { query: 'send an email' },
    { query: 'create' },
    { query: '天气 recipe 菜' },
    { connection: 'ms365' },
    { connection: 'time' },
    { connection: 'no such' },
    { connection: 'notion', query: 'comment' },
    { binding: 'ms365.create_chat' },
    { binding: 'digitalocean.apps_create_app_from_spec' },
    { binding: `x${'y'.repeat(5000)}` },
    { query: `${'word '.repeat(200)}` },
  ];

  it('stays in its budget', () => {
    const budgets = fc.oneof(fc.integer({ min: 1024, max: 4096 }), fc.integer({ min: 1024, max: 100_000 }));
    fc.assert(
      fc.property(fc.constantFrom(...requests), budgets, (request, textBytesMax) => {
        const description = ask({ ...request, textBytesMax });
        expect(Buffer.byteLength(description.text)).toBeLessThanOrEqual(textBytesMax);
        expect(description.text).toMatch(/\n$/);
        expect(new Set(names(description)).size).toBe(description.bindings.length);
      }),
      { numRuns: 30 },
    );
  });

  it('is the same for a catalog listed in another order', () => {
    const turned = wholeCatalog();
    turned.connections.reverse();
    for (const connection of turned.connections) connection.tools.reverse();
    const other = compileCatalog(turned);
    for (const request of requests) expect(ask(request, other)).toEqual(ask(request));
  });

  it('with declarations is valid TypeScript by itself', async () => {
    const declaring = requests.filter((request) => request.query ?? request.connection ?? request.binding);
    const texts = [...declaring, ...everythingRequests].flatMap((request, index) =>
      [1500, 16 * 1024, 200_000].map((textBytesMax): [string, string] => [
        `${index}-${textBytesMax}.ts`,
        ask({ ...request, textBytesMax }, index < declaring.length ? whole : everything).text,
      ]),
    );
    const declared = texts.filter(([, text]) => text.includes('declare const apps'));
    expect(declared.length).toBeGreaterThan(20);
    expect(
      await typeErrors(Object.fromEntries(declared.map(([name, text]) => [name, `${text}export {};\n`]))),
    ).toEqual([]);
  });
});

const everythingRequests: Partial<DescribeQuery>[] = [
  { connection: 'everything' },
  { query: 'resource prompt' },
];

describe('summaries', () => {
  it('have a line for every binding', () => {
    const all = summaries(whole);
    expect(all).toHaveLength(4403);
    for (const { summary } of all) {
      expect(summary).not.toContain('\n');
      expect(summary).not.toBe('');
      expect(summary.length).toBeLessThan(200);
    }
  });
});
