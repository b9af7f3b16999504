// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are those of a configuration file.
import { describe, expect, test } from 'vitest';
import { parseServers } from '../../services/reference-core/mcp/config.ts';
import { AppError } from '../../services/shared/errors.ts';

const parse = (mcpServers: unknown, variables: Record<string, string> = {}) =>
  parseServers(JSON.stringify({ mcpServers }), 'mcp.json', variables);

/** The message of the error that parsing throws. */
function refusal(json: string): string {
  try {
    parseServers(json, 'mcp.json', {});
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return (error as AppError).message;
  }
  throw new Error('it was accepted');
}

describe('parseServers', () => {
  test('reads servers with a command and with an address', () => {
    expect(
      parse({
        files: { command: 'npx', args: ['-y', 'server'], env: { A: '1' }, cwd: '/tmp' },
        plain: { command: 'server' },
        web: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } },
      }),
    ).toEqual([
      {
        transport: 'stdio',
        name: 'files',
        command: 'npx',
        args: ['-y', 'server'],
        env: { A: '1' },
        cwd: '/tmp',
      },
      { transport: 'stdio', name: 'plain', command: 'server', args: [], env: {} },
      {
        transport: 'http',
        name: 'web',
        url: 'https://example.com/mcp',
        headers: { Authorization: 'Bearer x' },
      },
    ]);
  });

  test('leaves out disabled servers and ignores fields of other clients', () => {
    expect(parse({ a: { command: 'a', autoApprove: ['x'] }, b: { command: 'b', disabled: true } })).toEqual([
      { transport: 'stdio', name: 'a', command: 'a', args: [], env: {} },
    ]);
  });

  test('replaces variables, with and without a default', () => {
    expect(
      parse(
        { web: { url: '${SCHEME:-https}://${HOST}/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } } },
        { HOST: 'example.com', TOKEN: 'secret' },
      ),
    ).toEqual([
      {
        transport: 'http',
        name: 'web',
        url: 'https://example.com/mcp',
        headers: { Authorization: 'Bearer secret' },
      },
    ]);
  });

  test.each([
    ['no JSON', '{', 'mcp.json is not JSON: it ends too early, at line 1, column 2'],
    ['no object', '[]', 'mcp.json: must be an object with the field "mcpServers"'],
    ['no servers', '{}', 'mcp.json: mcpServers: must be an object of servers by name'],
    ['a server that is a text', '{"mcpServers":{"a":"npx"}}', 'mcp.json: mcpServers.a: must be an object'],
    [
      'neither command nor address',
      '{"mcpServers":{"a":{"comand":"npx"}}}',
      'mcp.json: mcpServers.a: needs "command" (a program to start) or "url" (a server to reach)',
    ],
    [
      'both command and address',
      '{"mcpServers":{"a":{"command":"npx","url":"http://localhost"}}}',
      'mcp.json: mcpServers.a: has both "command" and "url"; keep the one that is meant',
    ],
    [
      'an argument that is a number',
      '{"mcpServers":{"a":{"command":"npx","args":["-p",80]}}}',
      'mcp.json: mcpServers.a.args[1]: must be a text',
    ],
    [
      'arguments in one text',
      '{"mcpServers":{"a":{"command":"npx","args":"-y server"}}}',
      'mcp.json: mcpServers.a.args: must be a list of texts',
    ],
    [
      'a variable of a wrong type',
      '{"mcpServers":{"a":{"command":"npx","env":{"PORT":80}}}}',
      'mcp.json: mcpServers.a.env.PORT: must be a text',
    ],
    [
      'an address of another scheme',
      '{"mcpServers":{"a":{"url":"ftp://example.com"}}}',
      'mcp.json: mcpServers.a.url: must be an http:// or https:// address',
    ],
    [
      'an address with a password',
      '{"mcpServers":{"a":{"url":"http://me:s3cret@localhost"}}}',
      'mcp.json: mcpServers.a.url: must hold no user name and password; "headers" can hold an Authorization',
    ],
    [
      'the retired transport',
      '{"mcpServers":{"a":{"type":"sse","url":"http://localhost"}}}',
      'mcp.json: mcpServers.a.type: is "sse"; a server with "url" is reached by streamable HTTP: use "http"',
    ],
    [
      'an unset variable',
      '{"mcpServers":{"a":{"command":"${NOT_SET}"}}}',
      'mcp.json: mcpServers.a: the environment variable NOT_SET is not set',
    ],
    [
      'two servers at once',
      '{"mcpServers":{"a":{"command":""},"b":{"headers":{}}}}',
      'mcp.json: mcpServers.a.command: must not be empty; mcpServers.b: needs "command" (a program to start) or "url" (a server to reach)',
    ],
  ])('names what is wrong with %s', (_, json, message) => {
    expect(refusal(json)).toBe(message);
  });

  test.each([
    ['an unquoted token', '{"mcpServers": {\n  "a": {"env": {"T": s3cret}}}}', 'line 2, column 22'],
    ['a comma too many', '{"mcpServers": {"a": {"url": "s3cret",}}}', 'line 1, column 39'],
    ['a line end in a text', '{"a": "s3cret\n"}', 'line 1, column 14'],
    ['a comment', '// s3cret\n{}', 'line 1, column 1'],
    ['more after the end', '{} s3cret', 'line 1, column 4'],
  ])('names the place of what is not JSON, and quotes none of it: %s', (_, json, place) => {
    expect(refusal(json)).toBe(`mcp.json is not JSON: it cannot be read at ${place}`);
  });

  test('accepts a name of 256 bytes and refuses one more', () => {
    expect(parse({ ['n'.repeat(256)]: { command: 'a' } })).toHaveLength(1);
    expect(() => parse({ ['n'.repeat(257)]: { command: 'a' } })).toThrow(
      'the name of a server is 1 to 256 bytes long',
    );
  });
});
