import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Input } from '../../services/reference-core/cli/ask.ts';
import { execute } from '../../services/reference-core/cli/command.ts';
import { oddServer, realServers, temporaryFolder, type Workspace } from '../support/mcp-servers.ts';
import { freePort } from '../support/ports.ts';
import { descendantsOf, isAlive } from '../support/processes.ts';
import { startServices, type TestServices } from '../support/services.ts';

const script = path.join(import.meta.dirname, '../../services/reference-core/cli/main.ts');

type Cli = ChildProcessByStdio<Writable, Readable, Readable>;

function start(args: readonly string[], environment: Record<string, string> = {}): Cli {
  return spawn(process.execPath, ['--no-warnings', script, ...args], {
    env: { ...process.env, NO_COLOR: '1', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function ended(cli: Cli): Promise<Ended> {
  const [out, err] = await Promise.all([text(cli.stdout), text(cli.stderr), once(cli, 'close')]);
  return { status: cli.exitCode, out, err };
}

/** Resolves when `wanted` was written. The stream is read on, so that the writer never finds it closed. */
function untilWritten(stream: Readable, wanted: string): Promise<void> {
  let seen = '';
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      seen += String(chunk);
      if (seen.includes(wanted)) resolve();
    });
  });
}

/** Executes a command in this process. */
async function run(...args: string[]): Promise<Ended> {
  return runWith('', ...args);
}

function runWith(input: string, ...args: string[]): Promise<Ended> {
  return executed(Readable.from([input]), args);
}

/** As if a person sat at the terminal who types `lines`. */
function runTyping(lines: readonly string[], ...args: string[]): Promise<Ended> {
  const input = Readable.from(lines.map((line) => `${line}\n`));
  return executed(Object.assign(input, { isTTY: true }), args);
}

async function executed(input: Input, args: readonly string[]): Promise<Ended> {
  const streams = { input, out: new PassThrough(), err: new PassThrough() };
  const written = Promise.all([text(streams.out), text(streams.err)]);
  const status = await execute(args, streams, new AbortController().signal);
  streams.out.end();
  streams.err.end();
  const [out, err] = await written;
  return { status, out, err };
}

let services: TestServices;
/** Options that make a command use the services of this file: starting them for each would take seconds. */
let here: string[];

beforeAll(async () => {
  services = await startServices();
  here = ['--server', services.address];
});

afterAll(() => services[Symbol.asyncDispose]());

describe('a service that cannot be reached', () => {
  test('is named with its address, the cause and what to do', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const message = `error: no connection to a CodeRunService at ${address} (connect ECONNREFUSED ${address}): start one with "make start", or `;
    expect(await run('api', '--server', address)).toEqual({
      status: 3,
      out: '',
      err: `${message}leave --server out to have one for this command\n`,
    });
    expect(await run('runs', 'list', '--server', address)).toEqual({
      status: 3,
      out: '',
      err: `${message}name another with --server\n`,
    });
  });

  test.each(['nonsense', '127.0.0.1', 'http://127.0.0.1:7410', 'unix:relative', 'dns:///'])(
    'is refused by the form of its address: %s',
    async (address) => {
      expect(await run('run', '-e', 'return 1', '--server', address)).toEqual({
        status: 2,
        out: '',
        err: `error: --server "${address}" must be host:port, dns:///name:port or unix:/path\n`,
      });
    },
  );
});

describe('code-mode run', () => {
  test('gives the value on standard output and log lines on standard error', async () => {
    expect(await run('run', '-e', 'console.log("two is near"); return { two: 1 + 1 }', ...here)).toEqual({
      status: 0,
      out: '{\n  "two": 2\n}\n',
      err: 'two is near\n',
    });
  });

  test('gives a text as it is, and nothing for no value', async () => {
    expect((await run('run', '-e', 'return "a\\nb"', ...here)).out).toBe('a\nb\n');
    expect(await run('run', '-e', 'return undefined', ...here)).toEqual({ status: 0, out: '', err: '' });
  });

  test('reads the program from standard input and from a file', async () => {
    expect(await runWith('return 3', 'run', '-', ...here)).toMatchObject({ status: 0, out: '3\n' });
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, 'program.js');
    await writeFile(file, 'return 4');
    expect(await run('run', file, ...here)).toMatchObject({ status: 0, out: '4\n' });
  });

  test('says that a folder is no program', async () => {
    expect(await run('run', '/tmp', ...here)).toEqual({
      status: 2,
      out: '',
      err: 'error: cannot read the program from /tmp: it is a folder\n',
    });
  });

  test('starts both services by itself when none is named', async () => {
    expect(await run('run', '-e', 'return 5')).toEqual({ status: 0, out: '5\n', err: '' });
  });

  test('calls the servers of the configuration, and shows the calls when asked', async () => {
    await using workspace = await realServers();
    const config = path.join(workspace.root, 'mcp.json');
    await writeFile(config, workspace.json);
    const code = 'return (await apps.everything.get_sum({ a: 1, b: 2 })).content[0].text';
    const { status, out, err } = await run('run', '-e', code, '-c', config, '--calls', '--yes', ...here);
    expect([status, out]).toEqual([0, 'The sum of 1 and 2 is 3.\n']);
    expect(err).toBe(
      '→ 0 everything.get_sum {"a":1,"b":2}\n← 0 {"content":[{"type":"text","text":"The sum of 1 and 2 is 3."}]}\n',
    );
  });

  test('gives the whole run as JSON when asked', async () => {
    const { status, out } = await run('run', '-e', 'console.warn("w"); return 1', '--json', ...here);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      owner: 'local',
      status: 'Completed',
      code: 'console.warn("w"); return 1',
      reason: 'Run from the command line.',
      calls: [],
      result: { _tag: 'Completed', value: 1, logs: [{ index: 0, level: 'warn', text: 'w' }] },
      limits: {
        timeoutMs: 30_000,
        memoryMb: 64,
        outputBytes: 65_536,
        callsMax: 10_000,
        callsInFlightMax: 256,
        argumentsBytesMax: 1_048_576,
        resultBytesMax: 33_554_432,
      },
      attempts: [{ number: 1, replayedCalls: 0 }],
    });
  });

  test('shows where a program failed', async () => {
    const { status, out, err } = await run('run', '-e', 'const a = 1;\nthrow new TypeError("no");', ...here);
    expect([status, out]).toEqual([1, '']);
    expect(err).toContain('TypeError: no');
    expect(err).toContain('2 | throw new TypeError("no");');
  });

  test.each([
    ['no program', [], 'give a program file, "-" for standard input, or -e <code>'],
    ['two programs', ['a.js', '-e', '1'], 'give either a program file or -e, not both'],
    [
      'a file that is not there',
      ['/nowhere.js'],
      'cannot read the program from /nowhere.js: there is no such file',
    ],
    ['an empty program', ['-e', ' '], 'the program is empty'],
    ['a configuration that is not there', ['-e', '1', '-c', '/no.json'], 'there is no such file'],
    ['an unknown option', ['--frobnicate'], "unknown option '--frobnicate'"],
  ])('says what is wrong with %s', async (_, args, message) => {
    const { status, out, err } = await run('run', ...args);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  test('names the server and the field of a bad configuration', async () => {
    await using folder = await temporaryFolder();
    const config = path.join(folder.path, 'mcp.json');
    await writeFile(config, '{"mcpServers":{"notes":{"command":"x","args":[1]}}}');
    const { status, err } = await run('run', '-e', '1', '-c', config);
    expect([status, err]).toEqual([2, `error: ${config}: mcpServers.notes.args[0]: must be a text\n`]);
  });

  test('names a server that does not start', async () => {
    await using folder = await temporaryFolder();
    const config = path.join(folder.path, 'mcp.json');
    const { name, ...server } = oddServer('dies-at-once', 'notes');
    await writeFile(config, JSON.stringify({ mcpServers: { [name]: { ...server, type: 'stdio' } } }));
    const { status, err } = await run('run', '-e', '1', '-c', config, ...here);
    expect(status).toBe(3);
    expect(err).toMatch(/^error: MCP server "notes": .*the token is missing\n$/);
  });
});

describe('decisions on the command line', () => {
  let config: string;
  let workspace: Workspace;
  let stateFolder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    stateFolder = await temporaryFolder();
    vi.stubEnv('XDG_STATE_HOME', stateFolder.path);
    workspace = await realServers();
    config = path.join(stateFolder.path, 'mcp.json');
    // Each command starts the servers that it is given.
    const { filesystem } = JSON.parse(workspace.json).mcpServers;
    await writeFile(config, JSON.stringify({ mcpServers: { filesystem } }));
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await workspace[Symbol.asyncDispose]();
    await stateFolder[Symbol.asyncDispose]();
  });

  const writing = (content: string) => `
    const root = (await apps.filesystem.list_allowed_directories()).content[0].text.split('\\n')[1];
    const write = (name) => apps.filesystem.write_file({ path: root + '/' + name, content: '${content}' });
    const settled = await Promise.allSettled([write('a.txt'), write('b.txt')]);
    return settled.map(({ status, reason }) => reason?.message ?? status);`;

  test('asks about what is not read-only, one call after the other', async () => {
    const { status, out, err } = await runTyping(
      ['y', 'n', '', 's', 'no thanks'],
      'run',
      '-e',
      writing('1'),
      '-c',
      config,
      ...here,
    );
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual([
      'fulfilled',
      expect.stringContaining('the person in front of the terminal said no'),
    ]);
    expect(err).toContain('The program waits for 2 decisions:');
    expect(err).not.toContain('list_allowed_directories');
    expect(await readFile(path.join(workspace.root, 'a.txt'), 'utf8')).toBe('1');
    expect(await readdir(workspace.root)).not.toContain('b.txt');
  });

  test('shows everything when asked, gives the reason of a no, and takes one yes for all', async () => {
    const shown = await runTyping(
      ['s', 'n not today', 'yes'],
      'run',
      '-e',
      writing('2'),
      '-c',
      config,
      ...here,
    );
    expect(JSON.parse(shown.out)).toEqual([expect.stringContaining('not today'), 'fulfilled']);
    expect(shown.err).toContain('Promise.allSettled');
    const all = await runTyping(['a'], 'run', '-e', writing('3'), '-c', config, ...here);
    expect(JSON.parse(all.out)).toEqual(['fulfilled', 'fulfilled']);
  });

  test('follows a policy', async () => {
    const policy = path.join(stateFolder.path, 'policy.json');
    await writeFile(policy, '{"connections":{"filesystem":{"write_*":"deny"}}}');
    const { out } = await run('run', '-e', writing('4'), '-c', config, '-p', policy, ...here);
    const denied = expect.stringContaining('the policy does not allow filesystem.write_file');
    expect(JSON.parse(out)).toEqual([denied, denied]);
  });

  test('leaves a run waiting when nobody is there; it can be shown, followed, resumed and listed', async () => {
    const left = await run('run', '-e', writing('5'), '-c', config, ...here);
    expect(left.status).toBe(4);
    const [, id = ''] = /^Run (\S+) waits for decisions/.exec(left.err) ?? [];
    expect(left.err).toContain('  filesystem/write_file {"path":');
    expect(left.err).toContain('Decide in a terminal with "runs resume"');
    const shown = await run('runs', 'show', id, ...here);
    expect(shown.out).toMatch(new RegExp(`^${id}  Waiting\\n`));
    expect(shown.out).toContain('1  filesystem.write_file  Waiting  {"path":');
    const following = run('runs', 'follow', id, ...here);
    const followingJson = run('runs', 'follow', id, '--json', ...here);
    const resumed = await runTyping(['a'], 'runs', 'resume', id, '-c', config, ...here);
    expect(JSON.parse(resumed.out)).toEqual(['fulfilled', 'fulfilled']);
    const followed = await following;
    expect([followed.status, JSON.parse(followed.out)]).toEqual([0, ['fulfilled', 'fulfilled']]);
    const asJson = await followingJson;
    expect([asJson.status, JSON.parse(asJson.out)]).toMatchObject([0, { id, status: 'Completed' }]);
    const listed = await run('runs', 'list', '-n', '1', ...here);
    expect(listed.out).toMatch(new RegExp(`^${id}  \\d{4}-.*  Completed +3 calls  `));
    const [first] = (await run('runs', 'list', '--json', ...here)).out.split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ id, status: 'Completed' });
  });

  test('says that a run of the command alone is gone with it', async () => {
    const left = await run('run', '-e', writing('7'), '-c', config);
    expect(left.status).toBe(4);
    expect(left.err).toContain('It ends with this command.');
    expect(left.err).not.toContain('runs resume');
  });

  test('gives the whole run as JSON also while it waits, and when it is cancelled', async () => {
    const left = await run('run', '-e', writing('8'), '-c', config, '--json', ...here);
    expect(left.status).toBe(4);
    const waiting = JSON.parse(left.out);
    expect(waiting).toMatchObject({ status: 'Waiting', calls: [{}, { outcome: { _tag: 'Waiting' } }, {}] });
    const cancelled = await run('runs', 'cancel', waiting.id, '--json', ...here);
    expect(JSON.parse(cancelled.out)).toMatchObject({ id: waiting.id, status: 'Cancelled' });
    const alone = await run('run', '-e', writing('9'), '-c', config, '--json');
    expect([alone.status, JSON.parse(alone.out)]).toMatchObject([4, { status: 'Waiting' }]);
  });

  test('cancels a run that waits', async () => {
    const left = await run('run', '-e', writing('6'), '-c', config, ...here);
    const [, id = ''] = /^Run (\S+) waits for decisions/.exec(left.err) ?? [];
    expect((await run('runs', 'cancel', id, ...here)).out).toBe(`${id}  Cancelled\n`);
    const resumed = await runTyping(['a'], 'runs', 'resume', id, '-c', config, ...here);
    expect(resumed.status).toBe(2);
    expect(resumed.err).toContain(`${id} is Cancelled`);
  });

  test('says that there is no such run', async () => {
    const { status, err } = await run('runs', 'show', 'nothing', ...here);
    expect(status).toBe(2);
    expect(err).toMatch(/^error: CodeRunService: /);
  });
});

describe('code-mode api', () => {
  test('gives an overview, finds by words and declares one binding', async () => {
    await using workspace = await realServers();
    const config = path.join(workspace.root, 'mcp.json');
    await writeFile(config, workspace.json);
    const overview = await run('api', '-c', config, ...here);
    expect(overview).toMatchObject({ status: 0, err: '' });
    for (const name of ['everything', 'filesystem', 'memory']) expect(overview.out).toContain(name);
    const found = await run('api', 'add two numbers', '-c', config, ...here);
    expect(found.out).toContain('get_sum');
    const declared = await run('api', '--binding', 'filesystem.read_text_file', '-c', config, ...here);
    expect(declared.out).toContain('path: string');
    expect(declared.out).not.toContain('write_file');
  });
});

describe('code-mode', () => {
  test.each([
    [['rn'], "unknown command 'rn'\n(Did you mean run?)"],
    [['runs', 'lst'], "unknown command 'lst'\n(Did you mean list?)"],
    [['run', '--polcy', 'x'], "unknown option '--polcy'\n(Did you mean --policy?)"],
    [['run', 'a', 'b'], "too many arguments for 'run'. Expected 1 argument but got 2: a, b."],
    [['run', '-e'], "option '-e, --eval <code>' argument missing"],
    [['runs', 'show'], "missing required argument 'run'"],
    [['runs', 'list', 'x'], "too many arguments for 'list'. Expected 0 arguments but got 1: x."],
    [['runs', 'list', '-n', '0'], '--most "0" must be a whole number above 0'],
    [['runs', 'list', '-n', '1e3'], '--most "1e3" must be a whole number above 0'],
    [['mcp'], "required option '-c, --config <file>' not specified"],
  ])('says what is wrong with %j', async (args, message) => {
    expect(await run(...args)).toEqual({ status: 2, out: '', err: `error: ${message}\n` });
  });

  test('says its version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(await run('--version')).toEqual({ status: 0, out: `${version}\n`, err: '' });
  });

  test('shows its commands and exit statuses', async () => {
    const { status, out } = await run('--help');
    expect(status).toBe(0);
    for (const part of ['run', 'api', 'demo', 'Exit status:']) expect(out).toContain(part);
  });
});

// A process of its own that starts everything: minutes on a machine that is busy.
describe('code-mode demo', { timeout: 120_000 }, () => {
  test('shows program, calls, log lines and result, and leaves nothing behind', async () => {
    await using folder = await temporaryFolder();
    const { status, out, err } = await ended(start(['demo'], { TMPDIR: folder.path }));
    expect([status, err]).toEqual([0, '']);
    const order = [
      'The program',
      'The apps',
      '→ 0 filesystem.',
      'late tasks: 3',
      'The result',
      '"total": 280',
    ];
    expect(order.map((part) => out.indexOf(part))).toEqual(
      order.map((part) => out.indexOf(part)).toSorted((a, b) => a - b),
    );
    expect(order.filter((part) => !out.includes(part))).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe('a signal', { timeout: 120_000 }, () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the command with everything that it started', async (signal, status) => {
    await using folder = await temporaryFolder();
    await using workspace = await realServers();
    const config = path.join(workspace.root, 'mcp.json');
    await writeFile(config, workspace.json);
    const code = 'await apps.everything.trigger_long_running_operation({ duration: 600, steps: 2 })';
    const cli = start(['run', '-e', code, '-c', config, '--calls', '--yes'], { TMPDIR: folder.path });
    await untilWritten(cli.stderr, '→ 0');
    const started = descendantsOf(cli.pid ?? 0);
    expect(started.length).toBeGreaterThanOrEqual(4);
    cli.kill(signal);
    await once(cli, 'exit');
    expect(cli.exitCode).toBe(status);
    expect(started.filter(isAlive)).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });
});
