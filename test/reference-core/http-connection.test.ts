import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppConnection } from '../../services/reference-core/mcp/connection.ts';
import { entryOf } from '../support/mcp-servers.ts';
import { freePort } from '../support/ports.ts';

let server: ChildProcess;
let port: number;

async function startServer(): Promise<void> {
  server = spawn(process.execPath, [entryOf('everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (server.stderr === null) throw new Error('no stderr');
  for await (const line of createInterface(server.stderr)) if (line.includes(`port ${port}`)) return;
  throw new Error('the server ended');
}

async function stopServer(): Promise<void> {
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}

beforeAll(async () => {
  port = await freePort();
  await startServer();
});

afterAll(stopServer);

function connect(): AppConnection {
  return new AppConnection({
    transport: 'http',
    name: 'web',
    url: `http://127.0.0.1:${port}/mcp`,
    headers: {},
  });
}

const sum = {
  kind: 'tool',
  name: 'get-sum',
  argumentsJson: '{"a":20,"b":22}',
  operationId: 'call:0',
} as const;

describe('a connection over streamable HTTP', () => {
  test('lists and calls', async () => {
    const connection = connect();
    const { tools, prompts } = await connection.catalog();
    expect(tools.map((tool) => tool.name)).toContain('get-sum');
    expect(prompts).toHaveLength(4);
    expect(await connection.perform(sum)).toEqual({
      tag: 'Completed',
      valueJson: '{"content":[{"type":"text","text":"The sum of 20 and 22 is 42."}]}',
    });
    await connection.close();
  });

  test('starts another session after the server forgot its own', async () => {
    const connection = connect();
    expect(await connection.perform(sum)).toMatchObject({ tag: 'Completed' });
    await stopServer();
    expect(await connection.perform(sum)).toMatchObject({ tag: 'Failed', reason: 'Unavailable' });
    await startServer();
    // The first call learns that the session is gone; the next one is on a new session.
    await connection.perform(sum);
    expect(await connection.perform(sum)).toMatchObject({ tag: 'Completed' });
    await connection.close();
  });

  test('sends the headers of the configuration', async () => {
    const seen: (string | undefined)[] = [];
    const door = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    await once(door.listen(0, '127.0.0.1'), 'listening');
    const connection = new AppConnection({
      transport: 'http',
      name: 'web',
      url: `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`,
      headers: { Authorization: 'Bearer right' },
    });
    await expect(connection.catalog()).rejects.toThrow(
      /^MCP server "web": mcpServers\.web\.url \(http:\/\/127\.0\.0\.1:\d+\) answered with HTTP status 401; see mcpServers\.web\.headers$/,
    );
    expect(new Set(seen)).toEqual(new Set(['Bearer right']));
    await connection.close();
    door.close();
  });
});
