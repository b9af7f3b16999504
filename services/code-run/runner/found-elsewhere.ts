/** The run was taken from an attempt, or its lease ran out while the store was away: what is it now? */
import { isFinal } from '../core/model.ts';
import { type CodeRunStore, StoreUnavailable, type Writer } from '../store/contract.ts';
import type { RunEvent } from './contract.ts';
import { notFound, stoppedError, takenOver } from './endings.ts';

/** Its end, if it has one. Throws what the core is told otherwise. */
export async function foundElsewhere(
  store: Pick<CodeRunStore, 'get' | 'journal'>,
  { runId, epoch }: Writer,
): Promise<RunEvent> {
  const run = await store.get(runId).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? stoppedError('StoreUnavailable', runId) : error;
  });
  if (run === undefined) throw notFound(runId);
  if (run.status === 'Running' && run.lease.epoch === epoch) throw stoppedError('StoreUnavailable', runId);
  if (!isFinal(run.status)) throw takenOver(run);
  return { tag: 'Finished', record: { run, journal: await store.journal(runId) } };
}
