import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { Client, type ElicitResult, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { execute } from '../../services/reference-core/cli/command.ts';
import { realServers, type Workspace } from '../support/mcp-servers.ts';
import { startServices, type TestServices } from '../support/services.ts';

const script = path.join(import.meta.dirname, '../../services/reference-core/cli/main.ts');

let services: TestServices;
let workspace: Workspace;
let config: string;

beforeAll(async () => {
  services = await startServices();
  workspace = await realServers();
  config = path.join(path.dirname(workspace.memoryFile), 'mcp.json');
  await writeFile(config, workspace.json);
});

afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

type Answer = (request: { readonly message: string }) => ElicitResult;

/** A client of a server process of its own. `answer`: how a person fills forms in; absent: the client has no forms. */
async function connect(mode: VersionNegotiationMode, answer?: Answer): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => answer({ message: params.message }));
  }
  const args = ['--no-warnings', script, 'mcp', '-c', config, '-s', services.address];
  const env = { XDG_STATE_HOME: path.dirname(config) };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  return client;
}

async function runCode(client: Client, code: string): Promise<{ text: string; isError: boolean }> {
  const result = await client.callTool({ name: 'openbot_run_code', arguments: { code, reason: 'To test.' } });
  const [first] = result.content;
  return { text: first?.type === 'text' ? first.text : '', isError: result.isError ?? false };
}

const write = (name: string) => `
  const root = (await apps.filesystem.list_allowed_directories()).content[0].text.split('\\n')[1];
  const write = (content) => apps.filesystem.write_file({ path: root + '/${name}', content });
  const settled = await Promise.allSettled([write('first'), write('second')]);
  return settled.map(({ status, reason }) => reason?.message ?? status);`;

describe.each([
  ['the protocol of 2025', 'legacy'],
  ['the protocol of 2026', { pin: '2026-07-28' }],
] as const)('an agent over %s', { timeout: 120_000 }, (_, mode) => {
  let client: Client;
  let answer: Answer;

  beforeAll(async () => {
    client = await connect(mode, (request) => answer(request));
  });

  afterAll(() => client.close());

  test('finds the two agent tools', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['openbot_code_api', 'openbot_run_code']);
    expect(tools.map(({ inputSchema }) => inputSchema.required ?? [])).toEqual([
      [],
      expect.arrayContaining(['code']),
    ]);
  });

  test('looks bindings up', async () => {
    const query = { query: 'add two numbers' };
    const result = await client.callTool({ name: 'openbot_code_api', arguments: query });
    expect(JSON.stringify(result.content)).toContain('get_sum');
    expect(result.isError).toBeUndefined();
  });

  test('runs programs, and reads what is wrong with one', async () => {
    const sum = await runCode(
      client,
      'return (await apps.everything.get_structured_content({ location: "Chicago" })).structuredContent.conditions',
    );
    expect(sum).toEqual({ text: expect.stringContaining('rain'), isError: false });
    const wrong = await runCode(client, 'const a = 1;\nreturn apps.everything.get_summ({ a, b: 1 });');
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain('get_sum');
    expect(wrong.text).toContain('line 2');
    const missing = await client.callTool({ name: 'openbot_run_code', arguments: { reason: 'none' } });
    expect(missing).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('code: ') }] });
  });

  test('reads of every failed run that it is an error (B40)', async () => {
    const failures = [
      ['return (;', /^Failed \(Error\) at line 1, column 9: Syntax error/],
      ['Please add two numbers for me.', /this is prose/],
      ['throw new RangeError("no");', /^Failed \(Error\) at line 1, column \d+: RangeError: no/],
      ['return "x".repeat(200_000);', /^Failed \(OutputTooLarge\)/],
      ['return await fetch("https://example.com");', /Programs have no network/],
    ] as const;
    for (const [code, message] of failures) {
      expect(await runCode(client, code)).toEqual({ isError: true, text: expect.stringMatching(message) });
    }
  });

  test('has a person decide in a form', async () => {
    const asked: string[] = [];
    answer = ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { call_1: 'deny', call_2: 'allow' } };
    };
    const { text, isError } = await runCode(client, write('form.txt'));
    expect(isError).toBe(false);
    expect(text).toContain('the person said no');
    expect(text).toContain('fulfilled');
    expect(asked).toEqual([
      expect.stringMatching(
        /^A program wants to make 2 calls:\n1\. filesystem\.write_file \{.*first.*\}\n2\. /,
      ),
    ]);
    expect(await readFile(path.join(workspace.root, 'form.txt'), 'utf8')).toBe('second');
  });

  test('is told that all is denied when the person declines', async () => {
    answer = () => ({ action: 'decline' });
    const { text } = await runCode(client, write('declined.txt'));
    expect(text).toContain('the person said no');
    expect(text).not.toContain('fulfilled');
    await expect(readFile(path.join(workspace.root, 'declined.txt'))).rejects.toThrow('ENOENT');
  });

  test('is told where to decide when the person does not', async () => {
    answer = () => ({ action: 'cancel' });
    await waitsElsewhere(client);
  });

  test('is told where to decide when the client has no forms, and a person decides there', async () => {
    const formless = await connect(mode);
    const id = await waitsElsewhere(formless);
    await formless.close();
    vi.stubEnv('XDG_STATE_HOME', path.dirname(config));
    const streams = { input: new PassThrough(), out: new PassThrough(), err: new PassThrough() };
    const args = ['runs', 'resume', id, '-c', config, '-s', services.address, '--yes'];
    expect(await execute(args, streams, new AbortController().signal)).toBe(0);
    expect(JSON.parse(String(streams.out.read()))).toEqual(['fulfilled', 'fulfilled']);
    vi.unstubAllEnvs();
  });
});

/** Gives the id of the run. */
async function waitsElsewhere(client: Client): Promise<string> {
  const { text, isError } = await runCode(client, write('later.txt'));
  expect(isError).toBe(false);
  const [, id = ''] = /^Run (\S+)\. No decision was made yet/m.exec(text) ?? [];
  const { run } = await services.client.getCodeRun({ runId: id });
  expect(run?.status).toBe(CodeRunStatus.WAITING);
  expect(run?.calls).toHaveLength(3);
  return id;
}

describe('code-mode mcp', () => {
  test('ends when the client goes', async () => {
    const streams = { input: new PassThrough(), out: new PassThrough(), err: new PassThrough() };
    const args = ['mcp', '-c', config, '-s', services.address];
    const ended = execute(args, streams, new AbortController().signal);
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    streams.input.write(`${JSON.stringify(initialize)}\n`);
    const [answer] = (await once(streams.out, 'data')) as [Buffer];
    expect(JSON.parse(String(answer))).toMatchObject({
      id: 1,
      result: { serverInfo: { name: 'openbot-code-mode' } },
    });
    streams.input.end();
    expect(await ended).toBe(0);
  });
});
