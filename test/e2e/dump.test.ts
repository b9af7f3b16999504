/**
 * Real runs with markers in everything that a program, its core and its agent say: no byte of the database shows
 * one, and no line of the logs. A run that is changed behind the service's back raises an alarm there.
 */
import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CallDeniedSchema,
  CallFailedSchema,
  CallFailureReason,
  CodeRunStatus,
} from '../../gen/openbot/codemode/v1/code_run_pb.js';
import type { PerformCall } from '../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { completed, type Outcome, play, start, waiting } from '../edges/core.ts';
import { type Backend, backends } from '../store/backends.ts';
import { flipped } from '../store/changed-rows.ts';
import { formsOf } from '../store/dump.ts';
import { type EmbeddedProcess, startEmbeddedProcess } from './embedded.ts';
import { until } from './proc.ts';

const markers = new Set<string>();
function marker(what: string): string {
  const text = `MARKER-${what}-MARKER`;
  markers.add(text);
  return text;
}

const program = `
// ${marker('comment')}
const read = await apps.notes.read_note({ text: '${marker('arguments')}' });
console.log('${marker('log')}', read.text);
for (const name of ['write_note', 'send']) {
  try { await apps.notes[name]({}); } catch (error) { console.warn(error.message); }
}
throw new Error('${marker('thrown')}');`;

const answers: Record<string, () => Outcome> = {
  // Large and without order: it is kept in chunks, and nothing of it is compressed away.
  read_note: () =>
    completed({ text: marker('result'), noise: randomBytes(4 * 1024 * 1024).toString('base64') }),
  write_note: () => ({
    case: 'failed',
    value: create(CallFailedSchema, { reason: CallFailureReason.TOOL_ERROR, message: marker('failure') }),
  }),
  send: () => ({ case: 'denied', value: create(CallDeniedSchema, { message: marker('denial') }) }),
};
const answer = ({ source }: PerformCall) => answers[source?.name ?? '']?.();

for (const kind of backends('a dump after real runs')) {
  describe.runIf(kind.available)(`a database of ${kind.name}`, () => {
    let backend: Backend;
    let embedded: EmbeddedProcess;
    beforeEach(async () => {
      backend = await kind.start();
      embedded = await startEmbeddedProcess({
        CODE_RUN_STORE: backend.url,
        CODE_RUN_KEYS: `k1:${randomBytes(32).toString('base64')}`,
        CODE_RUN_LOG_LEVEL: 'debug',
      });
      // Where the database took long to open, Code Mode is turned on after the start.
      const enabled = async () => (await embedded.admin.getSettings({})).settings?.codeMode?.enabled;
      await until(async () => (await enabled().catch(() => false)) === true);
    });
    afterEach(async () => {
      await embedded.stop();
      await backend.stop();
    });

    test('shows nothing of runs but ids, times and sizes', async () => {
      const reason = marker('reason');
      const failed = await play(embedded.core, start(program, { session: 'READABLE', reason }), answer);
      expect(failed.last).toMatchObject({
        case: 'finished',
        value: {
          run: { status: CodeRunStatus.FAILED, calls: [{}, { binding: 'notes.write_note' }, {}] },
        },
      });
      const value = await play(embedded.core, start(`return '${marker('value')}'`), () => undefined);
      expect(value.last.case).toBe('finished');
      const asked = start(`await apps.notes.send({ to: '${marker('waiting')}' })`);
      expect((await play(embedded.core, asked, () => waiting)).last.case).toBe('waiting');

      const dump = await backend.dump();
      expect(dump.includes('READABLE')).toBe(true);
      expect(markers.size).toBe(10);
      for (const text of markers) {
        expect([text, formsOf(text).some((form) => dump.includes(form))]).toEqual([text, false]);
      }
      expect(dump.includes('MARKER')).toBe(false);
      expect(embedded.service.stderr).not.toContain('MARKER');
    });

    test('that was changed raises an alarm in the log, for that run alone', async () => {
      const runs = [];
      for (const callId of ['changed', 'whole']) {
        const { last } = await play(embedded.core, start('return 1', { callId }), () => undefined);
        if (last.case !== 'finished' || last.value.run === undefined) throw new Error('not finished');
        runs.push(last.value.run.id);
      }
      const [changed = '', whole = ''] = runs;
      const rows = await backend.rows();
      const { end } = (await rows.run(changed)) ?? {};
      expect(await rows.changeRun(changed, {}, { end: flipped(end ?? new Uint8Array()) })).toBe(true);
      await rows.close();
      await expect(embedded.core.getCodeRun({ runId: changed })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining(`run ${changed} cannot be read: it was sealed with another key`),
      });
      expect((await embedded.core.getCodeRun({ runId: whole })).run?.status).toBe(CodeRunStatus.COMPLETED);
      await until(() => embedded.service.stderr.includes('run is unreadable'));
      const alarms = embedded.service.stderr
        .split('\n')
        .filter((line) => line.includes('run is unreadable'))
        .map((line) => JSON.parse(line));
      expect(alarms).toMatchObject([{ level: 50, component: 'store', run: changed }]);
    });
  });
}
