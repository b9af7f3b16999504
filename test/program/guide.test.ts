/** The guide for programs: each of its examples runs, and gives what it says. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { finishedText } from '../../services/code-run/agent/run-text.ts';
import { compileCatalog } from '../../services/code-run/bindings/compile.ts';
import { resultOf } from '../../services/code-run/core/end.ts';
import type { JournalEntry, LogLevel, LogLine, RunResult } from '../../services/code-run/core/model.ts';
import { ProgramChecker } from '../../services/code-run/program/check.ts';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';
import { callRanges, initialCallLimits, limits, settingRanges } from '../../services/shared/limits.ts';
import { called, done, record, settled } from '../agent/records.ts';
import { catalogOf } from '../bindings/catalogs.ts';
import { completed, denied, type Options, type Run, useRealm } from '../realm/harness/realm.ts';

const guide = readFileSync(path.join(import.meta.dirname, '../../docs/programs.md'), 'utf8');
const { run } = useRealm();
const runLimits = { timeoutMs: 30_000, memoryMb: 64, outputBytes: 65_536, ...initialCallLimits };

/** What the apps of the guide answer, call by call, told by words of the program. */
const answers: readonly (readonly [words: string, outcomes: Options['outcomes']])[] = [
  [
    'TODO',
    [
      completed({ content: [], structuredContent: { notes: [{ id: 1 }, { id: 2 }] } }),
      completed({ content: [{ type: 'text', text: 'TODO: call Ada' }] }),
      completed({ content: [{ type: 'text', text: 'Lunch' }] }),
    ],
  ],
  ['apps.call', [completed({ content: [{ type: 'text', text: 'TODO: call Ada' }] })]],
  ['{ id: 9 }', [completed({ content: [{ type: 'text', text: 'there is no note 9' }], isError: true })]],
  ['AppCallDenied', [denied('ask Ada first')]],
  [
    'const sent = await apps.mail.send({ to: "team@example.com", text: content',
    [
      completed({ content: [{ type: 'text', text: 'TODO: call Ada' }] }),
      completed({ content: [{ type: 'text', text: 'sent' }] }),
    ],
  ],
  ['interface Note', [completed({ content: [], structuredContent: { notes: [{ id: 2, title: 'Lunch' }] } })]],
  ['sent.structuredContent.id', [completed({ content: [] })]],
];

interface Example {
  readonly language: string;
  readonly code: string;
  readonly kind: string;
  readonly expected: string;
}

/** Each block of code with the block that follows it. */
function examples(): Example[] {
  const text = guide.replace(/^````[\s\S]*?^````$/gm, '');
  const blocks = text.matchAll(/^```(js|ts|check)\n([\s\S]*?)\n```\n\n```(json|text)\n([\s\S]*?)\n```$/gm);
  return [...blocks].map(([, language = '', code = '', kind = '', expected = '']) => ({
    language,
    code,
    kind,
    expected,
  }));
}

async function resultOfRun(code: string): Promise<{ result: RunResult; journal: JournalEntry[] }> {
  const normalized = normalizeProgram(code);
  if (!normalized.ok) {
    return { result: { tag: 'Failed', reason: 'Error', ...normalized.error, logs: [] }, journal: [] };
  }
  const { text, columnShifts } = normalized.program;
  const shifts = columnShifts.map(({ line, column, length }) => [line, column, length] as const);
  const outcomes = answers.find(([words]) => code.includes(words))?.[1] ?? [];
  const ran = await run(text, { outcomes, job: { columnShifts: shifts } });
  return { result: endOf(ran), journal: journalOf(ran) };
}

function endOf({ ending, logs }: Run): RunResult {
  const lines = logs.map((line, index): LogLine => {
    const [level = 'info'] = line.split(' ', 1);
    return { index, level: level as LogLevel, text: line.slice(level.length + 1) };
  });
  const nowhere = { message: '', errorName: '', line: 0, column: 0 };
  switch (ending.tag) {
    case 'returned':
      return resultOf({ reason: 'Returned', valueJson: ending.json, ...nowhere }, runLimits, lines);
    case 'returnedUndefined':
      return resultOf({ reason: 'Returned', ...nowhere }, runLimits, lines);
    case 'outputTooLarge':
      return resultOf({ reason: 'OutputTooLarge', ...nowhere }, runLimits, lines);
    case 'threw': {
      const [line = 0, column = 0] = ending.position.split(':').map(Number);
      const { name: errorName, message } = ending;
      return resultOf({ reason: 'Error', errorName, message, line, column }, runLimits, lines);
    }
  }
}

function journalOf({ calls }: Run): JournalEntry[] {
  return calls.flatMap(({ index, binding, position }) => [
    called(index, binding, Number(position.split(':')[0])),
    settled(index, done),
  ]);
}

const apps = compileCatalog(catalogOf('everything.json.gz'));

async function outcomeOf({ language, code, kind }: Example): Promise<string> {
  if (language === 'check') {
    const findings = await new ProgramChecker().check(code, apps);
    return findings.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n');
  }
  const { result, journal } = await resultOfRun(code);
  // What cannot be understood has no attempt.
  const changes = normalizeProgram(code).ok ? { code } : { code, attempts: [] };
  if (kind === 'text') return finishedText(record(result, journal, changes));
  if (result.tag !== 'Completed') throw new Error(JSON.stringify(result));
  return result.valueJson ?? '';
}

describe('the guide for programs', () => {
  test('has examples, and says of each what comes of it', () => {
    const code = guide.replace(/^````[\s\S]*?^````$/gm, '').match(/^```(?:js|ts|check)$/gm) ?? [];
    expect(code.length).toBeGreaterThan(10);
    expect(examples()).toHaveLength(code.length);
  });

  test.each(examples())('gives what it says: $code', async (example) => {
    const outcome = await outcomeOf(example);
    if (example.kind === 'json') expect(JSON.parse(outcome)).toEqual(JSON.parse(example.expected));
    else expect(outcome).toBe(example.expected);
  });

  test.each(
    [
      ...guide.matchAll(
        /^\| `(.+)` \| (?:A body|The last|The same|One|A function|It is called|TypeScript).*\|$/gm,
      ),
    ].map(([, code = '']) => [code]),
  )('names a form that is understood: %s', async (code) => {
    const { result } = await resultOfRun(code);
    expect(result).toMatchObject({
      tag: 'Completed',
      valueJson: expect.stringMatching(/^(?:1|2|\{"total":1.*\})$/),
    });
  });

  test('shows a fence that is understood', async () => {
    const [, fenced = ''] = /^````markdown\n([\s\S]*?)\n````$/m.exec(guide) ?? [];
    expect((await resultOfRun(fenced)).result).toMatchObject({ tag: 'Completed', valueJson: '2' });
  });

  test('states the limits as they are', () => {
    const rows = [...guide.matchAll(/^\| .+ \| (\d+)(?: .+)? \| `(\w+)` \|$/gm)];
    expect(rows).toHaveLength(12);
    const initial = Object.entries({ ...settingRanges, ...callRanges }).map(
      ([name, range]) => [name, range.initial] as const,
    );
    const known = new Map<string, number>([...Object.entries(limits), ...initial]);
    for (const [, value, name = ''] of rows) expect([name, Number(value)]).toEqual([name, known.get(name)]);
  });
});
