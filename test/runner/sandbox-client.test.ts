import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxClient, sandboxClientDefaults } from '../../services/code-run/runner/sandbox-client.ts';
import { descendants } from '../sandbox/processes.ts';
import { completed, keptLog, play, resumeOf, runnerOn, startOf } from './parts.ts';
import { type RealSandbox, startRealSandbox } from './real-sandbox.ts';

describe('runner on a real sandbox', () => {
  let sandbox: RealSandbox;
  beforeAll(async () => {
    sandbox = await startRealSandbox();
  });
  afterAll(() => sandbox.stop());

  test('runs a program with calls, logs and every kind of outcome', async () => {
    const { runner } = runnerOn({ sandbox: sandbox.client });
    const code = `
      console.log('begin');
      const names = await Promise.all([0, 1, 2, 3].map((n) =>
        apps.notes.read({ n }).catch((error) => error.name + ' ' + (error.reason ?? error.operationId ?? error.message))));
      return { names };`;
    const { events, last } = await play(
      (outcomes, signal) => runner.start(startOf(code), outcomes, signal),
      ({ index }) =>
        [
          completed({ ok: 'ä' }),
          { tag: 'Failed', reason: 'ToolError', message: 'no' } as const,
          { tag: 'Denied', message: 'never' } as const,
          { tag: 'InputRequired', operationId: 'op-3' } as const,
        ][index],
    );
    expect(events.map(({ tag }) => tag)).toEqual([
      'Accepted',
      'Log',
      'Call',
      'Call',
      'Call',
      'Call',
      'Finished',
    ]);
    if (last?.tag !== 'Finished') throw new Error('not finished');
    expect(last.record.run.result).toEqual({
      tag: 'Completed',
      valueJson:
        '{"names":[{"ok":"ä"},"AppCallFailed ToolError","AppCallDenied never","AppInputRequired op-3"]}',
      logs: [{ index: 0, level: 'info', text: 'begin' }],
    });
  });

  test('replays the journal before it goes on', async () => {
    const { runner } = runnerOn({ sandbox: sandbox.client });
    const code = `
      let sum = 0;
      for (let n = 0; n < 20; n++) sum += await apps.notes.read({ n, at: Date.now(), r: Math.random() });
      return sum;`;
    const waited = await play(
      (outcomes, signal) => runner.start(startOf(code), outcomes, signal),
      ({ index }) => (index < 10 ? completed(index) : { tag: 'Waiting' }),
    );
    if (waited.last?.tag !== 'Waiting') throw new Error('does not wait');
    const { id } = waited.last.run;
    const resumed = await play(
      (outcomes, signal) => runner.resume(resumeOf(id), outcomes, signal),
      ({ index }) => completed(index),
    );
    expect(resumed.calls.map(({ index }) => index)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(resumed.last).toMatchObject({
      record: {
        run: { result: { tag: 'Completed', valueJson: '190' }, attempts: [{}, { replayedCalls: 10 }] },
      },
    });
  });

  test('a program whose process dies is run once more, and then no more', async () => {
    const { log, lines } = keptLog();
    const { runner } = runnerOn({ sandbox: sandbox.client, settings: { sandboxRetryMs: 1 }, log });
    // This process serves the sandbox: all below it are its processes, made again when they are gone.
    const killAll = () => {
      for (const pid of descendants(process.pid)) process.kill(pid, 'SIGKILL');
    };
    const { last, calls } = await play(
      (outcomes, signal) =>
        runner.start(startOf('await apps.notes.read({}); await apps.notes.write({});'), outcomes, signal),
      () => {
        killAll();
        return completed(1);
      },
    );
    expect(calls.map(({ index }) => index)).toEqual([0, 1]);
    expect(last).toMatchObject({
      record: { run: { result: { reason: 'Error', message: expect.stringContaining('died twice') } } },
    });
    expect(lines).toMatchObject([
      { level: 'warn', fields: { reason: expect.any(String) }, message: 'sandbox lost' },
      { level: 'warn', fields: { reason: expect.any(String) }, message: 'sandbox lost' },
    ]);
  });

  test('a sandbox that is not there makes the run Failed / Unavailable after a few tries, a line each', async () => {
    const client = new SandboxClient(
      { address: 'unix:/nowhere/at/all', ...sandboxClientDefaults },
      credentials.createInsecure(),
    );
    const { log, lines } = keptLog();
    const { runner } = runnerOn({
      sandbox: client,
      settings: { sandboxRetryMs: 1, sandboxTriesMax: 3 },
      log,
    });
    const { last } = await play(
      (outcomes, signal) => runner.start(startOf('return 1'), outcomes, signal),
      () => undefined,
    );
    client.close();
    expect(last).toMatchObject({
      record: {
        run: {
          status: 'Failed',
          result: {
            reason: 'Unavailable',
            message: 'The sandbox could not be reached, 3 times in a row. Run the program again later.',
          },
        },
      },
    });
    expect(lines).toEqual(
      new Array(3).fill({
        level: 'warn',
        fields: {
          reason: expect.stringMatching(
            /^The sandbox at unix:\/nowhere\/at\/all could not be reached: .*ENOENT/,
          ),
        },
        message: 'sandbox lost',
      }),
    );
  });
});
