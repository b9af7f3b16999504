/** A list with runs that cannot be read, on a real service: they hide no other. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { completed, play, start } from './core.ts';
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
