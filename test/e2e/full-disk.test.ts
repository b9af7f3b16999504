/**
 * The disk of the service, or of its MongoDB, is full in the middle of a run: the run stands still and nothing goes out
 * that is not stored; it goes on when there is room within its bound, and ends resumable when there is none.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { completed, play, resume, start } from '../edges/core.ts';
import { growthOf } from '../support/disk.ts';
import { mongoAvailable, startLocalMongo, type TestMongo } from '../support/mongo.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from './embedded.ts';
import { until } from './proc.ts';

const code = `
const one = await apps.notes.read_note({ n: 1 });
return [one, await apps.notes.read_note({ n: 2 })];`;

let embedded: EmbeddedProcess;
let mongo: TestMongo | undefined;
/** Whose disk it is. */
let pid: number;

async function begin(environment: Record<string, string> = {}): Promise<void> {
  embedded = await startEmbeddedProcess({ CODE_RUN_LOG_LEVEL: 'warn', ...environment });
  pid = mongo?.server?.pid ?? embedded.service.pid;
}

afterEach(async () => {
  await embedded.stop();
  await mongo?.stop();
  mongo = undefined;
});

async function readiness() {
  return (await fetch(`${embedded.httpUrl}/readyz`)).json() as Promise<{ store: boolean }>;
}

/** Plays a run whose disk is full from the moment at which its first call is answered. */
function playOntoFullDisk() {
  const calls: number[] = [];
  let full = () => {};
  const isFull = new Promise<void>((resolve) => {
    full = resolve;
  });
  const played = play(embedded.core, start(code, { session: 's' }), ({ index }) => {
    calls.push(index);
    if (index === 0) {
      growthOf(pid, '4096');
      full();
    }
    return completed(index);
  });
  played.catch(() => {});
  return { calls, isFull, played };
}

const goesOn = 'a run goes on when there is room again, and nothing went out that was not stored';

async function expectGoesOn(): Promise<void> {
  const { calls, isFull, played } = playOntoFullDisk();
  await isFull;
  await until(async () => !(await readiness()).store);
  await expect(play(embedded.core, start('return 1'), () => undefined)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  expect(calls).toEqual([0]);
  const [{ id = '', journalLength }] = await stored();
  expect(journalLength).toBe(1);
  growthOf(pid, 'unlimited');
  const { last } = await played;
  expect(last).toMatchObject({
    case: 'finished',
    value: { run: { id, status: CodeRunStatus.COMPLETED, calls: [{ index: 0 }, { index: 1 }] } },
  });
  expect(calls).toEqual([0, 1]);
  await until(async () => (await readiness()).store);
}

test(goesOn, async () => {
  await begin();
  await expectGoesOn();
}, 60_000);

describe.runIf(mongoAvailable('a full disk of MongoDB under a run'))('on MongoDB', () => {
  test(goesOn, async () => {
    mongo = await startLocalMongo();
    await begin({ CODE_RUN_STORE: mongo.url });
    await expectGoesOn();
  }, 60_000);
});

test('a run ends resumable when there is no room within its bound', async () => {
  await begin();
  const { calls, played } = playOntoFullDisk();
  await expect(played).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^The store cannot be reached\. Code run \S+ is Running: resume it\.$/),
  });
  expect(calls).toEqual([0]);
  growthOf(pid, 'unlimited');
  const [{ id = '' }] = await stored();
  const again: [number, boolean][] = [];
  const resumed = async () =>
    await play(embedded.core, resume(id), ({ index, sentBefore }) => {
      again.push([index, sentBefore]);
      return completed(index);
    }).catch((error) => {
      // The lease of the attempt that could not release it has to run out.
      if (error.code !== 'ABORTED') throw error;
      return undefined;
    });
  let end = await resumed();
  while (end === undefined) end = await resumed();
  expect(end.last).toMatchObject({ case: 'finished', value: { run: { status: CodeRunStatus.COMPLETED } } });
  expect(again).toEqual([
    [0, true],
    [1, false],
  ]);
}, 90_000);

/** What the store has of the session, read while nothing can be written. */
async function stored() {
  const { runs } = await embedded.core.listCodeRuns({ session: 's' });
  const [run] = runs;
  if (run === undefined) throw new Error('the run is there');
  return [
    {
      id: run.id,
      journalLength: run.calls.length + run.calls.filter(({ outcome }) => outcome !== undefined).length,
    },
  ] as const;
}
