/** CodeRunService over gRPC, with a real sandbox and a real store. */
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  CallCompletedSchema,
  CallFailedSchema,
  CodeRunStatus,
  FailureReason,
} from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { CatalogRefSchema } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { type RunCodeDeps, runCode } from '../../services/code-run/api/run-code.ts';
import { permissions } from '../../services/shared/auth/caller.ts';
import { limits } from '../../services/shared/limits.ts';
import {
  answerAll,
  completed,
  inlineCatalog,
  type Outcome,
  outcomeOf,
  play,
  resume,
  start,
  startOf,
  waiting,
} from './core.ts';
import { type Services, startServices } from './services.ts';

let services: Services;
beforeAll(async () => {
  services = await startServices();
  await services.enable();
});
afterAll(() => services.stop());

describe('a run', () => {
  test('goes from start over calls to its end, and can be read', async () => {
    const { core } = services;
    const code =
      'const note = await apps.notes.read_note({ id: 1 }); console.log("got it"); return note.text';
    const { responses, calls, last } = await play(core, start(code), () => completed({ text: 'hello' }));
    expect(responses.map(({ message }) => message.case)).toEqual(['accepted', 'call', 'log', 'finished']);
    expect(calls).toMatchObject([
      { index: 0, binding: 'notes.read_note', argumentsJson: '{"id":1}', sentBefore: false },
    ]);
    if (last.case !== 'finished') throw new Error('not finished');
    expect(last.value.run).toMatchObject({
      status: CodeRunStatus.COMPLETED,
      owner: 'someone',
      result: { result: { case: 'completed', value: { valueJson: '"hello"' } } },
    });
    const { run } = await core.getCodeRun({ runId: last.value.run?.id ?? '' });
    expect(run).toEqual(last.value.run);
  });

  test('waits for a decision, and goes on when it is resumed', async () => {
    const { core } = services;
    const first = await play(core, start('return await apps.notes.send({ to: "team" })'), () => waiting);
    if (first.last.case !== 'waiting') throw new Error('does not wait');
    const { runId, requests } = first.last.value;
    expect(requests).toMatchObject([
      {
        capability: { action: 'apps.call', target: 'conn-7/send' },
        app: { argumentsJson: '{"to":"team"}' },
        code: { run: runId, index: 0 },
      },
    ]);
    const second = await play(core, resume(runId), () => completed('sent'));
    expect(second.calls).toMatchObject([{ index: 0, sentBefore: true }]);
    if (second.last.case !== 'finished') throw new Error('not finished');
    expect(second.last.value.run?.attempts).toHaveLength(2);
  });

  test('of a program that cannot be understood is stored as failed', async () => {
    const { core } = services;
    const { last } = await play(core, start('const a = 1\nreturn a +* 2'), () => undefined);
    if (last.case !== 'finished') throw new Error('not finished');
    expect(last.value.run?.result?.result).toMatchObject({
      case: 'failed',
      value: { reason: FailureReason.ERROR, line: 2, column: 11 },
    });
    await expect(core.getCodeRun({ runId: last.value.run?.id ?? '' })).resolves.toMatchObject({
      run: { status: CodeRunStatus.FAILED },
    });
  });

  test('of a program that does not fit its declarations is stored as failed, if the core asked for the check', async () => {
    const { core } = services;
    const code = 'const a = 1;\nreturn await apps.notes.read_nite({})';
    const { responses, last } = await play(core, start(code, { check: true }), () => undefined);
    expect(responses.map(({ message }) => message.case)).toEqual(['finished']);
    if (last.case !== 'finished') throw new Error('not finished');
    expect(last.value.run?.result?.result).toMatchObject({
      case: 'failed',
      value: {
        reason: FailureReason.ERROR,
        message: expect.stringMatching(/^The program does not fit the declarations: .*read_nite/),
        line: 2,
        column: 25,
      },
    });
    const fits = await play(core, start('return await apps.notes.read_note({})', { check: true }), () =>
      completed(1),
    );
    expect(fits.last).toMatchObject({
      case: 'finished',
      value: { run: { status: CodeRunStatus.COMPLETED } },
    });
  });

  test('that was started by the same tool call is the same run', async () => {
    const { core } = services;
    const value = startOf('return 1');
    const first = await play(core, { case: 'start', value }, () => undefined);
    const second = await play(core, { case: 'start', value }, () => undefined);
    expect(second.last).toEqual(first.last);
  });

  test('is cancelled for good while it runs', async () => {
    const { core } = services;
    const call = core.runCode();
    await call.send({ message: start('await apps.notes.send({}); await apps.notes.send({})') });
    const cancelled = Promise.withResolvers<unknown>();
    const played = await answerAll(call, () => {
      void core.listCodeRuns({ session: 's-1', pageSize: 1 }).then(async ({ runs }) => {
        cancelled.resolve(await core.cancelCodeRun({ runId: runs[0]?.id ?? '' }));
      });
      return undefined;
    });
    expect(played.calls).toHaveLength(1);
    expect(played.last).toMatchObject({
      case: 'finished',
      value: { run: { status: CodeRunStatus.CANCELLED } },
    });
    await expect(cancelled.promise).resolves.toMatchObject({ run: { status: CodeRunStatus.CANCELLED } });
  });

  test('is gone after its session was deleted', async () => {
    const { core } = services;
    const { last } = await play(core, start('return 1', { session: 'gone' }), () => undefined);
    if (last.case !== 'finished') throw new Error('not finished');
    expect(await core.deleteSessionCodeRuns({ session: 'gone' })).toMatchObject({ deleted: 1n });
    await expect(core.getCodeRun({ runId: last.value.run?.id ?? '' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'no such code run',
    });
  });

  test('gets an outcome that cannot be read refused, and goes on', async () => {
    const { core } = services;
    const call = core.runCode();
    await call.send({ message: start('return await apps.notes.send({})') });
    const tried: Outcome[] = [
      { case: undefined },
      { case: 'failed', value: create(CallFailedSchema) },
      { case: 'completed', value: create(CallCompletedSchema, { valueJson: '{' }) },
      completed('at last'),
    ];
    let tries = 0;
    const { responses, last } = await (async () => {
      const responses = [];
      for await (const response of call.responses) {
        responses.push(response);
        if (response.message.case === 'call' || response.message.case === 'outcomeRefused') {
          const outcome = tried[tries++] ?? { case: undefined };
          await call.send({ message: outcomeOf(0, outcome) });
        }
      }
      return { responses, last: responses.at(-1)?.message };
    })();
    const refused = responses.flatMap(({ message }) =>
      message.case === 'outcomeRefused' ? [message.value] : [],
    );
    expect(refused.map(({ code, message }) => `${code} ${message}`)).toEqual([
      '3 outcome must be set: completed, failed, denied, input_required, waiting or unknown.',
      '3 failed.reason must be one of the named reasons.',
      '3 completed.value_json is not JSON.',
    ]);
    expect(last).toMatchObject({
      case: 'finished',
      value: { run: { result: { result: { value: { valueJson: '"at last"' } } } } },
    });
  });
});

describe('a start', () => {
  test.each([
    ['session', { session: '' }, 'must not be empty'],
    ['session', { session: 'ü'.repeat(129) }, 'must be at most 256 bytes of UTF-8'],
    ['turn', { turn: 'a\nb' }, 'must not hold control characters'],
    ['call_id', { callId: '' }, 'must not be empty'],
    ['owner', { owner: '' }, 'must not be empty'],
    ['code', { code: '' }, 'must not be empty'],
    ['code', { code: ' '.repeat(limits.codeBytesMax + 1) }, 'must be at most 1048576 bytes of UTF-8'],
    ['reason', { reason: 'x'.repeat(limits.reasonBytesMax + 1) }, 'must be at most 8192 bytes of UTF-8'],
    ['catalog', { catalog: create(CatalogRefSchema) }, 'must be set: a catalog, or the digest of one'],
  ])('with a wrong %s is refused by its name', async (field, more, description) => {
    const played = play(services.core, start('return 1', more), () => undefined);
    await expect(played).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: `start.${field}: ${description}`,
      violations:
        field === 'catalog' ? [{ field: 'start.catalog' }] : [{ field: `start.${field}`, description }],
    });
  });

  test('names every field that is wrong at once', async () => {
    const wrong = start('', { session: '', turn: '', callId: '', owner: '' });
    const error = await play(services.core, wrong, () => undefined).catch((reason) => reason);
    expect(error.violations.map(({ field }: { field: string }) => field)).toEqual([
      'start.session',
      'start.turn',
      'start.call_id',
      'start.owner',
      'start.code',
    ]);
  });

  test('at every limit is taken', async () => {
    const id = 'x'.repeat(limits.idBytesMax);
    const code = 'return 1;'.padEnd(limits.codeBytesMax);
    const reason = 'x'.repeat(limits.reasonBytesMax);
    const { last } = await play(
      services.core,
      start(code, { session: id, turn: id, callId: id, owner: id, reason }),
      () => undefined,
    );
    expect(last).toMatchObject({ case: 'finished', value: { run: { status: CodeRunStatus.COMPLETED } } });
  });

  test('while Code Mode is off is UNAVAILABLE, and so is a resume; cancelling and reading go on', async () => {
    const off = await startServices();
    try {
      await off.enable();
      const first = await play(off.core, start('return await apps.notes.send({})'), () => waiting);
      if (first.last.case !== 'waiting') throw new Error('does not wait');
      const { runId } = first.last.value;
      await off.admin.updateSettings({
        expectedVersion: 1n,
        codeMode: { enabled: false },
        updateMask: { paths: ['enabled'] },
      });
      const message = 'Code Mode is off: an administrator can turn it on in the settings';
      const refused = { code: 'UNAVAILABLE', message };
      await expect(play(off.core, start('return 1'), () => undefined)).rejects.toMatchObject(refused);
      await expect(play(off.core, resume(runId), () => undefined)).rejects.toMatchObject(refused);
      await expect(off.core.getCodeRun({ runId })).resolves.toBeDefined();
      await expect(off.core.cancelCodeRun({ runId })).resolves.toMatchObject({
        run: { status: CodeRunStatus.CANCELLED },
      });
    } finally {
      await off.stop();
    }
  });
});

describe('a change of the settings', () => {
  test('names all that is out of range at once, and no version that was not sent', async () => {
    const change = { codeMode: { timeoutMs: 1, memoryMb: 64, outputBytes: 1 } };
    const expectedVersion = 2n ** 53n + 1n;
    const refused = await services.admin
      .updateSettings({ expectedVersion, ...change })
      .catch((error) => error);
    expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(refused.violations).toEqual([
      {
        field: 'expected_version',
        description:
          'must be the version that the change was made for, a whole number from 0 to 9007199254740991',
      },
      { field: 'code_mode.timeout_ms', description: 'must be a whole number from 100 to 600000' },
      { field: 'code_mode.output_bytes', description: 'must be a whole number from 1024 to 33554432' },
    ]);
  });
});

describe('what an agent needs', () => {
  test('is described, checked and offered by a catalog that was put once', async () => {
    const { core } = services;
    const catalog = inlineCatalog.ref.case === 'catalog' ? inlineCatalog.ref.value : undefined;
    if (catalog === undefined) throw new Error('no catalog');
    const { digest, bindings } = await core.putCatalog({ catalog });
    expect(bindings.map(({ name }) => name)).toEqual(['notes.read_note', 'notes.send', 'notes.write_note']);
    const ref = { ref: { case: 'digest' as const, value: digest } };
    const { text } = await core.describeBindings({ catalog: ref, binding: 'notes.send' });
    expect(text).toContain('send');
    const { diagnostics } = await core.checkCode({ catalog: ref, code: 'return apps.notes.nothing()' });
    expect(diagnostics).toMatchObject([{ line: 1, message: expect.stringContaining('nothing') }]);
    const { tools } = await core.getAgentTools({ catalog: ref });
    expect(tools.map(({ name }) => name)).toEqual(['openbot_code_api', 'openbot_run_code']);
    expect((await core.getAgentTools({ catalog: { ref: { case: 'catalog', value: {} } } })).tools).toEqual(
      [],
    );
    const unknown = { ref: { case: 'digest' as const, value: '0'.repeat(64) } };
    await expect(core.getAgentTools({ catalog: unknown })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a stream', () => {
  test('that brings no first message is ended after its time', async () => {
    vi.useFakeTimers();
    try {
      const deps = {} as unknown as RunCodeDeps;
      const caller = { subject: 'core', permissions: new Set([permissions.execute]), sessions: undefined };
      const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
      const { signal } = new AbortController();
      const context = { path: '', peer: '', caller, signal, header: () => undefined };
      const first = runCode(deps, silent, context).next();
      first.catch(() => {});
      await vi.advanceTimersByTimeAsync(limits.firstMessageTimeoutMs);
      await expect(first).rejects.toMatchObject({
        code: 'CANCELLED',
        message: 'no first message came in time',
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test('that does not begin with start or resume is refused', async () => {
    const { core } = services;
    const refused = {
      code: 'INVALID_ARGUMENT',
      message: 'message: the first message must be start or resume',
    };
    const empty = core.runCode();
    empty.closeSend();
    await expect(answerAll(empty, () => undefined)).rejects.toMatchObject(refused);
    const outcome = outcomeOf(0, waiting);
    await expect(play(core, outcome, () => undefined)).rejects.toMatchObject(refused);
  });

  test('that starts twice ends, and leaves the run resumable', async () => {
    const { core } = services;
    const call = core.runCode();
    const value = startOf('return await apps.notes.send({})', { session: 'twice' });
    await call.send({ message: { case: 'start', value } });
    const answered = answerAll(call, async () => {
      await call.send({ message: { case: 'start', value } });
      return undefined;
    });
    await expect(answered).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'message: every message after the first must be an outcome',
    });
    const { runs } = await core.listCodeRuns({ session: 'twice' });
    expect(runs).toMatchObject([{ status: CodeRunStatus.RUNNING }]);
    const { last } = await play(core, resume(runs[0]?.id ?? ''), () => completed(1));
    expect(last).toMatchObject({ case: 'finished', value: { run: { status: CodeRunStatus.COMPLETED } } });
  });
});
