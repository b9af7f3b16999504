/**
 * A service in small, made to be killed: `node workload.ts <url> <keys> <ledger>`. Goes on with the runs it
 * finds and begins new ones, until it is killed. The ledger stands for the core: one line for each performed
 * call. Every acknowledged write is told on standard output before the next is begun.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { parseLocalKeys } from '../../services/code-run/crypto/local-keys.ts';
import { type CodeRunStore, StoreUnavailable, type Writer } from '../../services/code-run/store/contract.ts';
import { openStore } from '../../services/code-run/store/open.ts';
import { attempt, called, claimBy, newRun, settled, t0 } from './example-runs.ts';

export const session = 'kill';
export const callsOfRun = 4;
const atOnce = 3;

export function doomedSession(runId: string): string {
  return `doomed ${runId}`;
}

/** Calls follow each other: entry 2n is a call, 2n+1 its outcome. */
export function entryAt(position: number) {
  const index = position >> 1;
  return position % 2 === 0 ? called(index) : settled(index);
}

async function unlessAway<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        throw error;
      }
      await sleep(20);
    }
  }
}

function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

function perform(ledger: string, call: string, sentBefore: boolean): void {
  const done = sentBefore && existsSync(ledger) && readFileSync(ledger, 'utf8').split('\n').includes(call);
  if (!done) {
    appendFileSync(ledger, `${call}\n`);
  }
}

/** Runs one attempt from what the journal holds. The second call makes the run wait once. */
async function attemptOf(store: CodeRunStore, ledger: string, writer: Writer, length: number): Promise<void> {
  const { runId, epoch } = writer;
  if (length % 2 === 1) {
    perform(ledger, `${runId}:${length >> 1}`, true);
  }
  for (let at = length; at < 2 * callsOfRun; at++) {
    await store.append(writer, at, [entryAt(at)], 0, t0);
    tell(`entries ${runId} ${at + 1}`);
    if (at % 2 === 0) {
      perform(ledger, `${runId}:${at >> 1}`, false);
    }
    if (at === 2 && epoch === 1) {
      await store.wait(writer, [{ index: 1, after: 1 }], attempt(epoch), 0, t0);
      tell(`waiting ${runId}`);
      return;
    }
  }
  await store.finish(writer, { tag: 'Completed', valueJson: '"done"', logs: [] }, attempt(epoch), t0);
  tell(`final ${runId}`);
}

async function goOn(store: CodeRunStore, ledger: string, runId: string): Promise<boolean> {
  const claim = await unlessAway(() => store.claim(runId, claimBy('workload', Date.now(), 0)));
  if (claim.tag !== 'Claimed') {
    return false;
  }
  const { epoch } = claim.run.lease;
  await attemptOf(store, ledger, { runId, epoch }, claim.run.journalLength);
  return true;
}

/** A run that is cancelled, and then deleted with its session. */
async function doom(store: CodeRunStore): Promise<void> {
  const { id, ...rest } = newRun();
  const run = { id, ...rest, session: doomedSession(id) };
  await unlessAway(() => store.create(run, claimBy('workload', Date.now(), 0)));
  await store.append({ runId: id, epoch: 1 }, 0, [entryAt(0)], 0, t0);
  tell(`doomed ${id}`);
  await unlessAway(() => store.cancel(id, Date.now()));
  tell(`cancelled ${id}`);
  await unlessAway(() => store.deleteSession(run.session));
  tell(`deleted ${id}`);
}

async function work(url: string, keysText: string, ledger: string): Promise<never> {
  const keys = new LocalKeeper(parseLocalKeys(keysText, 'keys'));
  const store = await unlessAway(() => openStore({ url, openKeys: async () => keys }));
  const { runs } = await unlessAway(() => store.list(session, 200));
  for (const { id } of runs) {
    await goOn(store, ledger, id);
  }
  const worker = async (): Promise<never> => {
    for (;;) {
      const run = newRun({ session });
      const given = { ...run, callId: run.id };
      const { created } = await unlessAway(() => store.create(given, claimBy('workload', Date.now(), 0)));
      tell(`created ${run.id} ${created}`);
      await attemptOf(store, ledger, { runId: run.id, epoch: 1 }, 0);
      await goOn(store, ledger, run.id);
      await doom(store);
    }
  };
  return Promise.race(Array.from({ length: atOnce }, worker));
}

if (import.meta.main) {
  const [, , url = '', keysText = '', ledger = ''] = process.argv;
  await work(url, keysText, ledger);
}
