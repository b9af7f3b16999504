/** The limits of calls: set by configuration, stored with a run, the same in every attempt on every instance. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CodeRun } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { codeRunTable, readCodeRunConfig } from '../../services/code-run/config.ts';
import { callRanges } from '../../services/shared/limits.ts';
import { completed, type Outcome, outcomeOf, type Played, play, resume, start, waiting } from './core.ts';
import { Folder } from './processes.ts';
import { type Services, startServices } from './services.ts';

const small = {
  CODE_RUN_CALLS_MAX: '3',
  CODE_RUN_CALLS_IN_FLIGHT_MAX: '2',
  CODE_RUN_ARGUMENTS_BYTES_MAX: '1024',
  CODE_RUN_RESULT_BYTES_MAX: '2048',
};
const smallLimits = { callsMax: 3, callsInFlightMax: 2, argumentsBytesMax: 1024, resultBytesMax: 2048 };

function runOf({ last }: Played): CodeRun {
  if (last.case !== 'finished' || last.value.run === undefined) throw new Error('not finished');
  return last.value.run;
}

/** What the program returned. */
function returned(run: CodeRun): unknown {
  const result = run.result?.result;
  if (result?.case !== 'completed') throw new Error(JSON.stringify(result?.value));
  return JSON.parse(result.value.valueJson ?? 'null');
}

/** JSON text of so many bytes. */
const json = (bytes: number): Outcome => completed('x'.repeat(bytes - 2));

describe('a run', () => {
  let services: Services;
  beforeAll(async () => {
    services = await startServices(small);
    await services.enable();
  });
  afterAll(() => services.stop());

  test('shows the limits that it started with', async () => {
    const played = await play(services.core, start('return 1'), () => undefined);
    const run = runOf(played);
    expect(run.limits).toMatchObject(smallLimits);
    expect(played.responses[0]?.message).toMatchObject({
      case: 'accepted',
      value: { limits: smallLimits },
    });
    const answer = await (await fetch(`${services.httpUrl}/v1/code-runs/${run.id}`)).json();
    expect(answer).toMatchObject({ limits: smallLimits });
  });

  test('makes as many calls as its limit, and one past it is an error in the program', async () => {
    const code = `
      let made = 0;
      try { for (;;) { await apps.notes.send({}); made++; } } catch (error) { return [made, error.message]; }`;
    const played = await play(services.core, start(code), () => completed(1));
    expect(returned(runOf(played))).toEqual([3, expect.stringContaining('3')]);
    expect(played.calls).toHaveLength(3);
  });

  test('has as many calls with the core as its limit, and the next goes when one is settled', async () => {
    const call = services.core.runCode();
    await call.send({
      message: start('return await Promise.all([1, 2, 3].map((n) => apps.notes.send({ n })))'),
    });
    const responses = call.responses[Symbol.asyncIterator]();
    const next = async () => (await responses.next()).value.message;
    expect((await next()).case).toBe('accepted');
    expect([await next(), await next()]).toMatchObject([{ value: { index: 0 } }, { value: { index: 1 } }]);
    const third = next();
    let there = false;
    void third.then(() => {
      there = true;
    });
    await services.core.listCodeRuns({ session: 's-1', pageSize: 1 }); // A round trip later it would be there.
    expect(there).toBe(false);
    await call.send({ message: outcomeOf(1, completed(1)) });
    expect(await third).toMatchObject({ case: 'call', value: { index: 2 } });
    call.cancel();
  });

  test('sends arguments up to its limit, and one byte past it is an error in the program', async () => {
    const code = `
      const of = (bytes) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
      await apps.notes.send(of(1024));
      try { await apps.notes.send(of(1025)); } catch (error) { return error.message; }`;
    const played = await play(services.core, start(code), () => completed(1));
    expect(returned(runOf(played))).toContain('more than 1024 bytes');
    expect(played.calls.map(({ argumentsJson }) => argumentsJson.length)).toEqual([1024]);
  });

  test('takes results up to its limit, and one byte past it is a failed call', async () => {
    const code = `
      const first = await apps.notes.send({});
      try { await apps.notes.send({}); } catch (error) { return [first.length, error.reason, error.message]; }`;
    const played = await play(services.core, start(code), ({ index }) => json(2048 + index));
    expect(returned(runOf(played))).toEqual([
      2046,
      'ResultTooLarge',
      expect.stringContaining('more than 2048 bytes'),
    ]);
  });
});

test.each([
  [
    'smaller',
    { CODE_RUN_CALLS_MAX: '1', CODE_RUN_ARGUMENTS_BYTES_MAX: '1024', CODE_RUN_RESULT_BYTES_MAX: '1024' },
  ],
  ['larger', {}],
])('a run keeps its limits on an instance where they are %s', async (_name, others) => {
  const folder = new Folder();
  const store = {
    CODE_RUN_STORE: `sqlite:${folder.path}/runs.db`,
    CODE_RUN_KEYS_FILE: `${folder.path}/keys`,
  };
  const first = await startServices({ ...store, ...small, CODE_RUN_ARGUMENTS_BYTES_MAX: '2000' });
  const second = await startServices({ ...store, ...others });
  try {
    await first.enable();
    const code = `
      await apps.notes.send({ a: "x".repeat(1800) });
      const read = await apps.notes.read_note({});
      const tooLarge = await apps.notes.read_note({}).catch((error) => error.reason);
      const tooMany = await apps.notes.read_note({}).catch((error) => error.message);
      return [read.length, tooLarge, tooMany];`;
    const waits = await play(first.core, start(code), () => waiting);
    if (waits.last.case !== 'waiting') throw new Error('does not wait');
    const played = await play(second.core, resume(waits.last.value.runId), ({ index }) => json(2047 + index));
    const run = runOf(played);
    expect(run.attempts).toHaveLength(2);
    expect(run.limits).toMatchObject({ ...smallLimits, argumentsBytesMax: 2000 });
    expect(returned(run)).toEqual([2046, 'ResultTooLarge', expect.stringContaining('3')]);
  } finally {
    await second.stop();
    await first.stop();
    folder.remove();
  }
});

test('arguments may be as large as the largest limit that can be set, and no larger', async () => {
  const { max } = callRanges.argumentsBytesMax;
  const services = await startServices({ CODE_RUN_ARGUMENTS_BYTES_MAX: String(max) });
  try {
    await services.enable();
    await services.codeRun.context.settings.update(1, { memoryMb: 512 }, (name) => name);
    const code = `
      const text = "x".repeat(${max - 2});
      const of = (bytes) => ({ a: text.slice(0, bytes - '{"a":""}'.length) });
      await apps.notes.send(of(${max}));
      return await apps.notes.send(of(${max} + 1)).catch((error) => error.message);`;
    const played = await play(services.core, start(code), () => completed(1));
    expect(returned(runOf(played))).toContain(`more than ${max} bytes`);
    expect(Math.max(...played.calls.map(({ argumentsJson }) => argumentsJson.length))).toBe(max);
  } finally {
    await services.stop();
  }
});

describe('a limit of calls', () => {
  test.each(Object.entries(callRanges))(
    '%s is taken at the ends of its range, and refused past them',
    (limit, range) => {
      const { name } = codeRunTable[limit as keyof typeof callRanges];
      const read = (value: number) =>
        readCodeRunConfig({ environment: { [name]: String(value) } })[limit as keyof typeof callRanges];
      expect(read(range.min)).toBe(range.min);
      expect(read(range.max)).toBe(range.max);
      expect(readCodeRunConfig({ environment: {} })[limit as keyof typeof callRanges]).toBe(range.initial);
      for (const value of [range.min - 1, range.max + 1]) {
        expect(() => read(value)).toThrow(`${name} must be a whole number from ${range.min} to ${range.max}`);
      }
    },
  );
});
