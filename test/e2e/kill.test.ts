/**
 * Whatever dies in the middle of a run, nothing is left: no process, and no run that claims to be running
 * for ever.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { answerAll, completed, outcomeOf, play, resume, start } from '../edges/core.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from './embedded.ts';
import { descendants, isAlive, until } from './proc.ts';

let embedded: EmbeddedProcess;
beforeEach(async () => {
  embedded = await startEmbeddedProcess({ CODE_RUN_ABANDONED_AFTER_MS: '1000' });
});
afterEach(async () => {
  const everything = descendants(embedded.service.pid);
  await embedded.stop();
  await until(() => everything.every(({ pid }) => !isAlive(pid)));
});

const twoCalls = 'return [await apps.notes.read_note({ n: 1 }), await apps.notes.read_note({ n: 2 })]';

/** Starts a run in which the first call is answered and the second is with the core. */
async function runInTheMiddle() {
  const call = embedded.core.runCode();
  await call.send({ message: start(twoCalls, { callId: 'call-9' }) });
  const responses = call.responses[Symbol.asyncIterator]();
  let runId = '';
  for (;;) {
    const next = await responses.next();
    if (next.done === true) throw new Error('ended');
    const { message } = next.value;
    if (message.case === 'accepted') runId = message.value.runId;
    if (message.case !== 'call') continue;
    if (message.value.index === 1) break;
    await call.send({ message: outcomeOf(0, completed('one')) });
  }
  const rest = { ...call, responses: { [Symbol.asyncIterator]: () => responses } };
  return { call, rest, runId };
}

/** The process of SandboxService, and what it started. */
function sandboxProcesses() {
  const [sandbox] = descendants(embedded.service.pid).filter(({ command }) =>
    command.includes('services/sandbox/main'),
  );
  if (sandbox === undefined) throw new Error('no sandbox process');
  return { sandbox, below: descendants(sandbox.pid) };
}

async function answered(rest: Parameters<typeof answerAll>[0], send: () => Promise<void>) {
  const played = answerAll(rest, () => completed('two'));
  await send();
  const { last } = await played;
  if (last.case !== 'finished') throw new Error('not finished');
  return last.value.run;
}

describe('a run', () => {
  test('goes on in a new sandbox when the sandbox is killed', async () => {
    const { call, rest } = await runInTheMiddle();
    const { sandbox, below } = sandboxProcesses();
    expect(below.length).toBeGreaterThan(0);
    process.kill(sandbox.pid, 'SIGKILL');
    const run = await answered(rest, () => call.send({ message: outcomeOf(1, completed('two')) }));
    expect(run).toMatchObject({
      status: CodeRunStatus.COMPLETED,
      result: { result: { case: 'completed', value: { valueJson: '["one","two"]' } } },
    });
    await until(() => [sandbox, ...below].every(({ pid }) => !isAlive(pid)));
    expect(sandboxProcesses().sandbox.pid).not.toBe(sandbox.pid);
  });

  test('goes on in a new process when its own is killed', async () => {
    const { call, rest } = await runInTheMiddle();
    const { below } = sandboxProcesses();
    // One of them is the program's; those that wait for a job are made again, and the zygotes with them.
    for (const { pid } of below) process.kill(pid, 'SIGKILL');
    const run = await answered(rest, () => call.send({ message: outcomeOf(1, completed('two')) }));
    expect(run).toMatchObject({ status: CodeRunStatus.COMPLETED, calls: [{ index: 0 }, { index: 1 }] });
    await until(() => below.every(({ pid }) => !isAlive(pid)));
  });

  test('is resumed by another client when its client is killed', async () => {
    const { call, runId } = await runInTheMiddle();
    call.cancel();
    const other = embedded.openCore();
    try {
      const resumed = async () =>
        await play(other.core, resume(runId), () => completed('two')).catch((error) => {
          // The attempt of the client that is gone may not have ended yet.
          if (error.code !== 'ABORTED') throw error;
          return undefined;
        });
      let played = await resumed();
      while (played === undefined) played = await resumed();
      expect(played.calls).toMatchObject([{ index: 1, sentBefore: true }]);
      expect(played.last).toMatchObject({
        case: 'finished',
        value: { run: { status: CodeRunStatus.COMPLETED } },
      });
    } finally {
      other.close();
    }
  });

  test('fails as unavailable when its client is killed and nobody resumes it', async () => {
    const { call, runId } = await runInTheMiddle();
    call.cancel();
    await until(async () => (await embedded.core.getCodeRun({ runId })).run?.status === CodeRunStatus.FAILED);
    const { run } = await embedded.core.getCodeRun({ runId });
    expect(run?.result?.result).toMatchObject({
      case: 'failed',
      value: { message: expect.stringMatching(/^The caller went away and did not resume the run/) },
    });
  });
});

describe('the all-in-one start', () => {
  test('leaves no process when it is killed itself', async () => {
    await runInTheMiddle();
    const everything = descendants(embedded.service.pid);
    expect(everything.length).toBeGreaterThan(1);
    embedded.service.kill('SIGKILL');
    await until(() => everything.every(({ pid }) => !isAlive(pid)));
  });

  test('stops cleanly in the middle of a run, which is resumable afterwards', async () => {
    const { rest } = await runInTheMiddle();
    const over = answerAll(rest, () => undefined);
    over.catch(() => {});
    const everything = descendants(embedded.service.pid);
    expect(await embedded.service.stop()).toEqual({ code: 0, signal: null });
    expect(everything.filter(({ pid }) => isAlive(pid))).toEqual([]);
    await expect(over).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /is Running: resume it/ });
  });
});
