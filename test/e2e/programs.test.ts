/**
 * Every program of test/fixtures/programs, through the reference core, both services and the real MCP servers.
 * The expected ends are those of the files beside the programs, but for the ones below, where the contract
 * says something else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodeRun, CodeRunStatus, FailureReason } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { Apps } from '../../services/reference-core/mcp/apps.ts';
import { realServers, type Workspace } from '../support/mcp-servers.ts';
import { play, startServices, type TestServices } from '../support/services.ts';

interface Expectation {
  readonly outcome?: 'value' | 'error';
  readonly value?: unknown;
  readonly valueKind?: 'undefined';
  readonly contains?: string;
  /** May begin with "(?i)". */
  readonly match?: string;
  readonly reason?: FailureReason;
  readonly line?: number;
  readonly logsInOrder?: readonly string[];
  readonly anyOf?: readonly Expectation[];
}

interface Case {
  readonly id: string;
  readonly file: string;
  readonly expect: Expectation;
  readonly sideEffects?: {
    readonly fileWritten?: string;
    readonly content?: string;
    readonly memoryEntities?: number;
  };
}

const folder = path.join(import.meta.dirname, '../fixtures/programs');

/** Where the contract wins over the file. */
const contract: Readonly<Record<string, Pick<Case, 'expect' | 'sideEffects'>>> = {
  // Timers are absent, so that time cannot pass unseen: the program gets an error that says what to do instead.
  '20-retry-backoff': {
    expect: { outcome: 'error', match: 'setTimeout', reason: FailureReason.ERROR },
    sideEffects: {},
  },
  // A value past outputBytes is no value: a program that gets a cut one would take it for the whole. The run
  // fails, and its message tells the size and what to do.
  '27-large-result': {
    expect: {
      outcome: 'error',
      reason: FailureReason.OUTPUT_TOO_LARGE,
      match: '(?i)returned 20\\d{4} bytes.*65536.*return less',
      logsInOrder: ['length 204000 rows 4000'],
    },
  },
  // The connection declares no elicitation, so the server does not list the tool: its name is unknown.
  '46-elicitation': {
    expect: { outcome: 'error', match: 'apps\\.everything\\.trigger_elicitation_request does not exist' },
  },
};

const cases: readonly Case[] = readdirSync(folder)
  .filter((name) => name.endsWith('.expected.json'))
  .map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Case)
  .map((one) => ({ ...one, ...contract[one.id] }));

let services: TestServices;
/** For the programs that only read. */
let shared: Surroundings;

beforeAll(async () => {
  services = await startServices({ timeoutMs: 2000 });
  shared = await surroundings();
});

afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

interface Surroundings extends AsyncDisposable {
  readonly workspace: Workspace;
  readonly apps: Apps;
}

async function surroundings(): Promise<Surroundings> {
  const workspace = await realServers();
  const apps = new Apps(workspace.servers);
  return {
    workspace,
    apps,
    [Symbol.asyncDispose]: async () => {
      await apps.close();
      await workspace[Symbol.asyncDispose]();
    },
  };
}

describe('the program', () => {
  test('list is whole', () => {
    expect(cases).toHaveLength(36);
  });

  test.each(cases)('$id ends as expected', async ({ file, expect: expected, sideEffects }) => {
    if (sideEffects === undefined) return ends(file, expected, undefined, shared);
    await using own = await surroundings();
    await ends(file, expected, sideEffects, own);
  });

  test('after a program that never ended or took all memory runs as before', async () => {
    const { run } = await play(services, shared.apps, 'return 1');
    expect(run.status).toBe(CodeRunStatus.COMPLETED);
  });
});

async function ends(
  file: string,
  expected: Expectation,
  sideEffects: Case['sideEffects'],
  { workspace, apps }: Surroundings,
): Promise<void> {
  const code = await readFile(path.join(folder, file), 'utf8');
  const { run, agentText } = await play(services, apps, code);
  checkEnd(run, expected, workspace);
  await checkSideEffects(sideEffects, workspace);
  expect(run.calls.every((call) => call.outcome !== undefined)).toBe(true);
  expect(agentText).not.toBe('');
  expect((await services.client.getCodeRun({ runId: run.id })).run).toEqual(run);
}

function checkEnd(run: CodeRun, expected: Expectation, workspace: Workspace): void {
  if (expected.anyOf !== undefined) {
    const wanted = run.status === CodeRunStatus.COMPLETED ? 'value' : 'error';
    const fitting = expected.anyOf.find(({ outcome }) => outcome === wanted);
    if (fitting === undefined) throw new Error(`neither end was expected: ${describeEnd(run)}`);
    checkEnd(run, fitting, workspace);
    return;
  }
  const result = run.result?.result;
  const logs = result?.value?.logs.map((line) => line.text) ?? [];
  expect(inOrder(logs, expected.logsInOrder ?? []), `logs ${JSON.stringify(logs)}`).toBe(true);
  if (expected.outcome === 'value') {
    if (result?.case !== 'completed') throw new Error(`it did not return: ${describeEnd(run)}`);
    expect(run.status).toBe(CodeRunStatus.COMPLETED);
    const { valueJson } = result.value;
    if (expected.valueKind === 'undefined') expect(valueJson).toBeUndefined();
    else if (expected.contains !== undefined) expect(valueJson).toContain(expected.contains);
    else expect(JSON.parse(valueJson ?? 'null')).toEqual(withRoot(expected.value, workspace.root));
    return;
  }
  if (result?.case !== 'failed') throw new Error(`it did not fail: ${describeEnd(run)}`);
  expect(run.status).toBe(CodeRunStatus.FAILED);
  const [, ignoreCase, pattern] = /^(\(\?i\))?(.*)$/s.exec(expected.match ?? '') ?? [];
  expect(`${FailureReason[result.value.reason]} ${result.value.message}`).toMatch(
    new RegExp(pattern ?? '', ignoreCase === undefined ? 's' : 'is'),
  );
  if (expected.reason !== undefined) expect(result.value.reason).toBe(expected.reason);
  if (expected.line !== undefined) expect(result.value.line).toBe(expected.line);
}

async function checkSideEffects(effects: Case['sideEffects'] = {}, workspace: Workspace): Promise<void> {
  if (effects.fileWritten !== undefined) {
    const written = await readFile(path.join(workspace.root, effects.fileWritten), 'utf8');
    if (effects.content !== undefined) expect(written).toBe(effects.content);
  }
  if (effects.memoryEntities !== undefined) {
    const lines = (await readFile(workspace.memoryFile, 'utf8')).trim().split('\n');
    const entities = lines.filter((line) => JSON.parse(line).type === 'entity');
    expect(entities).toHaveLength(effects.memoryEntities);
  }
}

/** Whether each wanted text is in one of the lines, in this order. */
function inOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let from = 0;
  for (const text of wanted) {
    const found = lines.findIndex((line, index) => index >= from && line.includes(text));
    if (found === -1) return false;
    from = found + 1;
  }
  return true;
}

function withRoot(value: unknown, root: string): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll('{{ROOT}}', root));
}

function describeEnd(run: CodeRun): string {
  const result = run.result?.result;
  if (result?.case === 'failed') return `${FailureReason[result.value.reason]}: ${result.value.message}`;
  return result?.case === 'completed' ? `it returned ${result.value.valueJson}` : String(result?.case);
}
