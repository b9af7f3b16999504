/** Runs that cannot be read, on a real service: they hide no other, and can be cancelled and deleted. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { CodeRunStatus } from '../../gen/openbot/codemode/v1/code_run_pb.js';
import { completed, play, resume, start, waiting } from './core.ts';
import { Folder } from './processes.ts';
import { startServices } from './services.ts';

test('a run that was changed stands in the list as Failed / Unavailable and hides no other', async () => {
  const folder = new Folder();
  const file = `${folder.path}/runs.db`;
  const services = await startServices({ CODE_RUN_STORE: `sqlite:${file}` });
  try {
    await services.enable();
    for (const callId of ['end', 'journal', 'whole']) {
      await play(
        services.core,
        start('return await apps.notes.read_note({})', { callId, session: 's' }),
        () => completed({ ok: true }),
      );
    }
    const database = new DatabaseSync(file);
    const idOf = (callId: string) =>
      String(database.prepare('SELECT id FROM code_runs WHERE call_id = ?').get(callId)?.['id']);
    database.prepare("UPDATE code_runs SET owner = 'another' WHERE id = ?").run(idOf('end'));
    database.prepare("UPDATE code_run_journal SET body = x'00' WHERE run_id = ?").run(idOf('journal'));
    database.close();

    const response = await fetch(`${services.httpUrl}/v1/sessions/s/code-runs`);
    expect(response.status).toBe(200);
    const { runs } = (await response.json()) as {
      runs: { callId: string; status: string; result: { reason?: string } }[];
    };
    const seen = runs.map(({ callId, status, result }) => [callId, status, result.reason]);
    expect(seen.toSorted()).toEqual([
      ['end', 'Failed', 'Unavailable'],
      ['journal', 'Failed', 'Unavailable'],
      ['whole', 'Completed', undefined],
    ]);
    const { runs: overGrpc } = await services.core.listCodeRuns({ session: 's' });
    expect(overGrpc).toHaveLength(3);
  } finally {
    await services.stop();
    folder.remove();
  }
});

test('runs that were changed while they waited are cancelled and deleted like others', async () => {
  const folder = new Folder();
  const file = `${folder.path}/runs.db`;
  const services = await startServices({ CODE_RUN_STORE: `sqlite:${file}` });
  const { core } = services;
  try {
    await services.enable();
    const ids: string[] = [];
    for (const callId of ['start', 'wrapped_key', 'journal']) {
      const { last } = await play(
        core,
        start('return await apps.notes.send({})', { callId, session: 's' }),
        () => waiting,
      );
      if (last.case !== 'waiting') throw new Error('does not wait');
      ids.push(last.value.runId);
    }
    const database = new DatabaseSync(file);
    database.exec("UPDATE code_runs SET start = zeroblob(64) WHERE call_id = 'start'");
    database.exec("UPDATE code_runs SET wrapped_key = zeroblob(64) WHERE call_id = 'wrapped_key'");
    database.exec('UPDATE code_run_journal SET body = zeroblob(64)');
    database.close();
    // What this instance remembers of the keys it knows no longer: another starts with none.
    const other = await startServices({
      CODE_RUN_STORE: `sqlite:${file}`,
      CODE_RUN_KEYS_FILE: `${services.folder.path}/keys`,
    });
    try {
      for (const runId of ids) {
        await expect(play(other.core, resume(runId), () => undefined)).rejects.toMatchObject({
          code: 'UNAVAILABLE',
        });
        const { run } = await other.core.cancelCodeRun({ runId });
        expect([run?.id, run?.status, run?.result?.result.case]).toEqual([
          runId,
          CodeRunStatus.CANCELLED,
          'cancelled',
        ]);
      }
      expect(await other.core.deleteSessionCodeRuns({ session: 's' })).toMatchObject({ deleted: 3n });
      expect(await core.listCodeRuns({ session: 's' })).toMatchObject({ runs: [] });
    } finally {
      await other.stop();
    }
  } finally {
    await services.stop();
    folder.remove();
  }
});
