import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Apps } from '../../services/reference-core/mcp/apps.ts';
import type { Outcome, Source } from '../../services/reference-core/words.ts';
import { realServers, type Workspace } from '../support/mcp-servers.ts';

let workspace: Workspace;
let apps: Apps;

beforeAll(async () => {
  workspace = await realServers();
  apps = new Apps(workspace.servers);
});

afterAll(async () => {
  await apps.close();
  await workspace[Symbol.asyncDispose]();
});

function perform(connection: string, kind: Source['kind'], name: string, args: unknown): Promise<Outcome> {
  return apps.perform({
    callId: 'call:0',
    source: { connectionId: connection, connectionName: connection, kind, name },
    argumentsJson: JSON.stringify(args),
  });
}

/** The value of an outcome that must be Completed. */
async function value(outcome: Promise<Outcome>): Promise<unknown> {
  const got = await outcome;
  if (got.tag !== 'Completed') throw new Error(`not completed: ${JSON.stringify(got)}`);
  return JSON.parse(got.valueJson);
}

describe('the catalog of the real servers', () => {
  test('holds every tool, resource, template and prompt', async () => {
    const { catalog, unavailable } = await apps.catalog();
    expect(unavailable).toEqual([]);
    const [everything, filesystem, memory] = catalog.connections;
    expect(catalog.connections.map(({ id, name }) => [id, name])).toEqual([
      ['everything', 'everything'],
      ['filesystem', 'filesystem'],
      ['memory', 'memory'],
    ]);
    expect(everything?.description).toContain('Everything Server');
    expect(everything?.tools.map((tool) => tool.name)).toContain('get-sum');
    expect(everything?.resources.map((resource) => resource.uri)).toContain(
      'demo://resource/static/document/architecture.md',
    );
    expect(everything?.resourceTemplates.map((template) => template.uriTemplate)).toEqual([
      'demo://resource/dynamic/text/{resourceId}',
      'demo://resource/dynamic/blob/{resourceId}',
    ]);
    expect(everything?.prompts.find((prompt) => prompt.name === 'args-prompt')?.arguments).toMatchObject([
      { name: 'city', required: true },
      { name: 'state', required: false },
    ]);
    expect(filesystem?.tools).toHaveLength(14);
    const read = filesystem?.tools.find((tool) => tool.name === 'read_text_file');
    expect(JSON.parse(read?.inputSchemaJson ?? '')).toMatchObject({ required: ['path'] });
    expect(JSON.parse(read?.outputSchemaJson ?? '')).toMatchObject({ required: ['content'] });
    expect(read?.hints).toMatchObject({ readOnly: true });
    const write = filesystem?.tools.find((tool) => tool.name === 'write_file');
    expect(write?.hints).toMatchObject({ readOnly: false, destructive: true, idempotent: true });
    expect(memory?.tools).toHaveLength(9);
  });

  test('leaves tools out that need elicitation or sampling', async () => {
    const { catalog } = await apps.catalog();
    const names = catalog.connections.flatMap((connection) => connection.tools.map((tool) => tool.name));
    expect(names.filter((name) => /elicit|sampling|roots/.test(name))).toEqual([]);
  });
});

describe('a call to the real servers', () => {
  test('of a tool gives its whole result', async () => {
    expect(await value(perform('everything', 'tool', 'get-sum', { a: 2, b: 3 }))).toEqual({
      content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
    });
  });

  test('of a tool that reports an error gives the result with isError', async () => {
    expect(await value(perform('everything', 'tool', 'get-sum', { a: '2', b: 3 }))).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('expected number, received string') }],
    });
  });

  test('of the filesystem server stays inside the directory it was given', async () => {
    expect(await value(perform('filesystem', 'tool', 'list_allowed_directories', {}))).toMatchObject({
      structuredContent: { content: `Allowed directories:\n${workspace.root}` },
    });
  });

  test('of a resource reads it', async () => {
    const uri = 'demo://resource/static/document/features.md';
    expect(await value(perform('everything', 'resource', uri, {}))).toMatchObject({
      contents: [{ uri, mimeType: 'text/markdown' }],
    });
  });

  test('of a template fills its variables in', async () => {
    const template = 'demo://resource/dynamic/text/{resourceId}';
    expect(await value(perform('everything', 'resourceTemplate', template, { resourceId: 7 }))).toMatchObject(
      {
        contents: [{ uri: 'demo://resource/dynamic/text/7', text: expect.stringContaining('Resource 7') }],
      },
    );
  });

  test('of a prompt gives its messages', async () => {
    expect(await value(perform('everything', 'prompt', 'args-prompt', { city: 'Oslo' }))).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: "What's weather in Oslo?" } }],
    });
  });

  test.each([
    ['a resource that is not there', 'everything', 'resource', 'demo://nothing', {}, 'NotFound'],
    ['a prompt without its argument', 'everything', 'prompt', 'args-prompt', {}, 'InvalidArguments'],
    ['a connection that is not there', 'nowhere', 'tool', 'act', {}, 'NotFound'],
    ['arguments that are no object', 'everything', 'tool', 'echo', ['hi'], 'InvalidArguments'],
  ] as const)('of %s fails as such', async (_, connection, kind, name, args, reason) => {
    expect(await perform(connection, kind, name, args)).toMatchObject({ tag: 'Failed', reason });
  });
});
