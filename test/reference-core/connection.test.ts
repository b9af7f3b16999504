import { afterEach, describe, expect, test } from 'vitest';
import { AppConnection, type ConnectionOptions } from '../../services/reference-core/mcp/connection.ts';
import type { Outcome } from '../../services/reference-core/words.ts';
import { appLimits, callRanges, limits } from '../../services/shared/limits.ts';
import { entryOf, oddServer } from '../support/mcp-servers.ts';
import { freePort } from '../support/ports.ts';
import { isAlive } from '../support/processes.ts';

const open: AppConnection[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
});

function connect(behaviour: string, options?: ConnectionOptions): AppConnection {
  const connection = new AppConnection(oddServer(behaviour), options);
  open.push(connection);
  return connection;
}

/** A connection to a program of the machine. */
function program(
  command: string,
  more: { readonly args?: string[]; readonly cwd?: string } = {},
  options?: ConnectionOptions,
): AppConnection {
  const connection = new AppConnection(
    { transport: 'stdio', name: 'files', command, args: [], env: {}, ...more },
    options,
  );
  open.push(connection);
  return connection;
}

function web(url: string): AppConnection {
  const connection = new AppConnection({ transport: 'http', name: 'web', url, headers: {} });
  open.push(connection);
  return connection;
}

function call(connection: AppConnection, name: string, args: unknown = {}): Promise<Outcome> {
  return connection.perform({
    kind: 'tool',
    name,
    argumentsJson: JSON.stringify(args),
    operationId: 'call:0',
  });
}

/** What the odd server and the everything server answer with. */
interface Answer {
  readonly content: unknown;
  readonly steps?: number;
  readonly pids?: readonly number[];
  readonly most?: number;
}

/** The value of an outcome that must be Completed. */
async function value(outcome: Promise<Outcome>): Promise<Answer> {
  const got = await outcome;
  if (got.tag !== 'Completed') throw new Error(`not completed: ${JSON.stringify(got)}`);
  return JSON.parse(got.valueJson);
}

describe('the catalog of a connection', () => {
  test('holds the tools of every page', async () => {
    const { tools } = await connect('pages').catalog();
    expect(tools.map((tool) => tool.name)).toEqual(['tool-0', 'tool-1', 'tool-2', 'tool-3', 'tool-4']);
  });

  test('names the server whose pages never end', async () => {
    await expect(connect('endless').catalog()).rejects.toThrow(
      `MCP server "odd": tools/list did not end after ${appLimits.listPagesMax} pages`,
    );
  });

  test('loses no good tool to a broken one and passes strange schemas on', async () => {
    const { tools } = await connect('strange-tools').catalog();
    expect(tools.map((tool) => [tool.name, tool.inputSchemaJson])).toEqual([
      ['good', '{"type":"object","properties":{"a":{"type":"string"}}}'],
      ['no-schema', ''],
      ['array-schema', '{"type":"array"}'],
      ['false-schema', 'false'],
      ['last', '{"type":"object"}'],
    ]);
    expect(tools.at(-1)?.hints).toMatchObject({ readOnly: true });
    expect(tools.at(-1)?.hints?.idempotent).toBeUndefined();
  });

  test.each(['tools-only', 'noisy', 'plain'])('of a server that is %s is read', async (behaviour) => {
    const { tools, description } = await connect(behaviour).catalog();
    expect([tools.map((tool) => tool.name), description]).toEqual([['act'], 'Does odd things.']);
  });

  test('is read again after the server said that it changed', async () => {
    const connection = connect('plain');
    expect((await connection.catalog()).tools.map((tool) => tool.name)).toEqual(['act']);
    await call(connection, 'change');
    expect((await connection.catalog()).tools.map((tool) => tool.name)).toEqual(['new']);
  });
});

describe('connecting', () => {
  test('to a program that is not there names the server and the cause', async () => {
    await expect(program('/nowhere/server').catalog()).rejects.toThrow(
      /^MCP server "files": there is no such program: mcpServers\.files\.command "\/nowhere\/server"$/,
    );
  });

  test('in a folder that is not there names its field, not the program', async () => {
    await expect(program('cat', { cwd: '/nowhere' }).catalog()).rejects.toThrow(
      /^MCP server "files": there is no such folder: mcpServers\.files\.cwd$/,
    );
  });

  test('to a file that is no program says whose it is', async () => {
    await expect(program(import.meta.filename).catalog()).rejects.toThrow(
      /^MCP server "files": this user may not start the program: mcpServers\.files\.command /,
    );
  });

  test('to a program that does not speak MCP says so, and shows none of its output', async () => {
    const echo = program('sh', { args: ['-c', 'echo garbage; echo why >&2; exec cat'] });
    await expect(echo.catalog()).rejects.toThrow(
      /^MCP server "files": it does not speak MCP: it does not know the initialize handshake; lines on its standard output that are no MCP messages: 1; it wrote: why$/,
    );
  });

  test('to a program that says nothing tells how long it was waited for', async () => {
    const silent = program('sleep', { args: ['1000'] }, { connectTimeoutMs: 100 });
    await expect(silent.catalog()).rejects.toThrow(
      /^MCP server "files": it did not answer the initialize handshake within 0\.1 s$/,
    );
  });

  test('to a server that dies shows what it wrote', async () => {
    await expect(connect('dies-at-once').catalog()).rejects.toThrow(
      /^MCP server "odd": .*; it wrote: odd-server: the token is missing$/,
    );
  });

  test('to a server that refuses shows its words', async () => {
    await expect(connect('refuses').catalog()).rejects.toThrow(
      'MCP server "odd": it refused the initialize handshake: this server is closed today',
    );
  });

  test('to an address where nobody listens names it, without its secrets', async () => {
    const port = await freePort();
    const connection = web(`http://127.0.0.1:${port}/s3cret/mcp?key=s3cret`);
    await expect(connection.catalog()).rejects.toMatchObject({
      message: `MCP server "web": mcpServers.web.url (http://127.0.0.1:${port}) could not be reached: nobody listens there (ECONNREFUSED)`,
    });
    expect(await call(connection, 'act')).toMatchObject({ tag: 'Failed', reason: 'Unavailable' });
  });

  test('to an address that cannot be used quotes none of its secrets', async () => {
    const connection = web('http://me:s3cret@127.0.0.1/s3cret/mcp?key=s3cret');
    const error = await connection.catalog().catch(String);
    expect(error).toContain('mcpServers.web.url (http://127.0.0.1) could not be reached: ');
    expect(error).not.toContain('s3cret');
  });
});

describe('a call', () => {
  test('gives exactly what the app sent, unknown fields too, whatever the output schema says (B41)', async () => {
    expect(await value(call(connect('plain'), 'act'))).toEqual({
      content: [{ type: 'text', text: 'done', unknownField: { kept: true } }],
      structuredContent: ['an array', 1],
      extension: { kept: [1, 2.5, null] },
      isError: false,
    });
  });

  test.each([
    ['fails', 'ToolError', 'it did not work'],
    ['gone', 'NotFound', 'no such tool'],
    ['unheard-of', 'InvalidArguments', 'Unknown tool'],
    ['dies', 'OutcomeUnknown', 'the connection to the app ended before it answered'],
  ])('of the tool that %s has the reason %s', async (name, reason, message) => {
    expect(await call(connect('plain'), name)).toEqual({
      tag: 'Failed',
      reason,
      message: expect.stringContaining(message),
    });
  });

  test('of a tool that needs a person first gives the operation to answer', async () => {
    expect(await call(connect('plain'), 'asks')).toEqual({ tag: 'InputRequired', operationId: 'call:0' });
  });

  test('cuts an overlong message of an app', async () => {
    const outcome = await call(connect('plain'), 'fails', { message: 'é'.repeat(limits.messageBytesMax) });
    if (outcome.tag !== 'Failed') throw new Error('it did not fail');
    expect(Buffer.byteLength(outcome.message)).toBeLessThanOrEqual(limits.messageBytesMax);
    expect(outcome.message).toMatch(/é…$/);
  });

  test('without an answer fails with Timeout', async () => {
    expect(await call(connect('plain', { callTimeoutMs: 300 }), 'silent')).toMatchObject({
      tag: 'Failed',
      reason: 'Timeout',
    });
  });

  test('with progress may take longer than the time-out', async () => {
    const result = await value(call(connect('plain', { callTimeoutMs: 400 }), 'progress'));
    expect(result.steps).toBe(6);
  });

  test('after the server died starts it again', async () => {
    const connection = connect('plain');
    const [first] = (await value(call(connection, 'pid'))).pids ?? [];
    await call(connection, 'dies');
    const [second] = (await value(call(connection, 'pid'))).pids ?? [];
    expect(second).not.toBe(first);
  });

  test('waits while as many as allowed are under way', async () => {
    const connection = connect('plain');
    const most = appLimits.callsInFlightMax;
    const results = await Promise.all(
      Array.from({ length: 2 * most }, () => value(call(connection, 'meet', { count: most }))),
    );
    // Every call was answered, so all of `most` were there at once; with one more the server would have said so.
    expect(new Set(results.map((result) => result.most))).toEqual(new Set([most]));
  });

  test('with a result at the limit is given, one byte past it fails', async () => {
    const connection = connect('plain');
    const empty = JSON.stringify({ content: [{ type: 'text', text: '' }] }).length;
    const bytes = callRanges.resultBytesMax.max - empty;
    const fits = await call(connection, 'big', { bytes });
    expect(fits.tag === 'Completed' && fits.valueJson.length).toBe(callRanges.resultBytesMax.max);
    expect(await call(connection, 'big', { bytes: bytes + 1 })).toMatchObject({
      tag: 'Failed',
      reason: 'ResultTooLarge',
    });
  });

  test('after close fails and starts nothing', async () => {
    const connection = connect('plain');
    await connection.close();
    expect(await call(connection, 'pid')).toMatchObject({ tag: 'Failed', reason: 'Unavailable' });
  });
});

describe('closing', () => {
  test('leaves no process, not even of a server and a child that ignore everything', async () => {
    const connection = connect('stubborn');
    const pids = (await value(call(connection, 'pid'))).pids ?? [];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await connection.close();
    // SIGKILL has been sent to all; only the kernel knows when one that is not our child has taken it.
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  test('while connecting leaves no process', async () => {
    const connection = connect('plain');
    const catalog = connection.catalog();
    await connection.close();
    await expect(catalog).rejects.toThrow('MCP server "odd": ');
  });
});

describe('elicitation', () => {
  test('is declared and answered when there is somebody to answer', async () => {
    const asked: string[] = [];
    const connection = new AppConnection(
      {
        transport: 'stdio',
        name: 'everything',
        command: process.execPath,
        args: [entryOf('everything')],
        env: {},
      },
      {
        answers: {
          elicit: async ({ server, message }) => {
            asked.push(`${server}: ${message}`);
            return { action: 'decline' };
          },
        },
      },
    );
    open.push(connection);
    const result = await value(call(connection, 'trigger-elicitation-request'));
    expect(asked).toEqual([expect.stringMatching(/^everything: /)]);
    expect(JSON.stringify(result.content)).toContain('decline');
  });
});
