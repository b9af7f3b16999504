/**
 * Kills the service, and the server behind it, at random moments of a workload, and looks at what is left.
 * KILLS sets how often (default: few); a failure prints its seed, and SEED runs it again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredRun } from '../../services/code-run/core/model.ts';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { newLocalKey, parseLocalKeys } from '../../services/code-run/crypto/local-keys.ts';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { openStore } from '../../services/code-run/store/open.ts';
import { mongoProgram } from '../../tools/mongo/server.ts';
import { available } from '../support/available.ts';
import { startLocalMongo, type TestMongo } from '../support/mongo.ts';
import { attempt, claimBy } from './example-runs.ts';
import { callsOfRun, entryAt, session } from './workload.ts';

const { KILLS, SEED } = process.env;
const kills = Number(KILLS ?? 4);
const seed = Number(SEED ?? Date.now() % 1_000_000);
const timeoutMs = 60_000 + kills * 10_000;
const keysText = newLocalKey('k1');

/** What the workload was told was done. */
interface Acknowledged {
  readonly lengths: Map<string, number>;
  readonly final: Set<string>;
}

/** Runs the workload until it has told `lines`, lets `meanwhile` happen, and kills it after as many again. */
async function killedRun(
  url: string,
  ledger: string,
  acknowledged: Acknowledged,
  lines: number,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const script = join(import.meta.dirname, 'workload.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, url, keysText, ledger], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let told = 0;
  let busy: Promise<void> | undefined;
  let endAt = meanwhile === undefined ? lines : Number.POSITIVE_INFINITY;
  for await (const line of createInterface(child.stdout)) {
    const [what, id = '', length] = line.split(' ');
    if (what === 'entries' || what === 'created') {
      acknowledged.lengths.set(id, Math.max(acknowledged.lengths.get(id) ?? 0, Number(length) || 0));
    }
    if (what === 'final') {
      acknowledged.final.add(id);
    }
    told += 1;
    if (told === lines && meanwhile !== undefined) {
      busy = meanwhile().then(() => {
        endAt = told + lines;
      });
    }
    if (told >= endAt) {
      child.kill('SIGKILL');
    }
  }
  await busy;
  const [code, signal] = await exited;
  expect([code, signal]).toStrictEqual([null, 'SIGKILL']);
}

async function allRuns(store: CodeRunStore): Promise<StoredRun[]> {
  const all: StoredRun[] = [];
  let token: string | undefined;
  do {
    const page = await store.list(session, 200, token);
    all.push(...page.runs);
    token = page.nextPageToken;
  } while (token !== undefined);
  return all;
}

/** Every run is readable, holds what was acknowledged, and is final or can be brought to its end. */
async function expectSound(url: string, ledger: string, { lengths, final }: Acknowledged): Promise<void> {
  const store = await openStore({
    url,
    openKeys: async () => new LocalKeeper(parseLocalKeys(keysText, 'keys')),
  });
  const runs = await allRuns(store);
  const known = new Map(runs.map((run) => [run.id, run]));
  for (const [id, length] of lengths) {
    expect(known.get(id)?.journalLength ?? -1, `acknowledged entries of ${id}`).toBeGreaterThanOrEqual(
      length,
    );
  }
  for (const id of final) {
    expect(known.get(id)?.status).toBe('Completed');
  }
  for (const run of runs) {
    const journal = await store.journal(run.id);
    expect(journal).toHaveLength(run.journalLength);
    expect(journal).toStrictEqual(journal.map((_, at) => entryAt(at)));
    if (run.status === 'Completed') {
      expect([journal.length, run.result]).toStrictEqual([
        2 * callsOfRun,
        { tag: 'Completed', valueJson: '"done"', logs: [] },
      ]);
      continue;
    }
    const claim = await store.claim(run.id, claimBy('after', Date.now()));
    expect(claim.tag).toBe('Claimed');
    const epoch = claim.tag === 'Claimed' ? claim.run.lease.epoch : 0;
    await store.finish({ runId: run.id, epoch }, { tag: 'Completed', logs: [] }, attempt(9), Date.now());
  }
  const performed = readFileSync(ledger, 'utf8').trim().split('\n');
  expect(new Set(performed).size, 'a call performed twice').toBe(performed.length);
  for (const call of performed) {
    const [id = '', index] = call.split(':');
    expect(known.get(id)?.journalLength ?? -1, `a call that was not stored: ${call}`).toBeGreaterThan(
      2 * Number(index),
    );
  }
  expect(runs.length).toBeGreaterThan(kills);
  await store.close();
}

function random(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe(`a workload that is killed, seed ${seed}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-kill-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('on SQLite loses nothing that was acknowledged', { timeout: timeoutMs }, async () => {
    const next = random(seed);
    const url = `sqlite:${join(folder, 'runs.db')}`;
    const ledger = join(folder, 'sqlite.ledger');
    const acknowledged: Acknowledged = { lengths: new Map(), final: new Set() };
    for (let kill = 0; kill < kills; kill++) {
      await killedRun(url, ledger, acknowledged, 15 + Math.floor(next() * 80));
    }
    expect(existsSync(ledger)).toBe(true);
    await expectSound(url, ledger, acknowledged);
  });
});

const lack =
  mongoProgram() === undefined ? 'no mongod on PATH, no .tools/bin/ferretdb (make tools)' : undefined;

describe.runIf(available('kills on MongoDB', lack))(`a workload that is killed, seed ${seed}`, () => {
  let mongo: TestMongo;
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-kill-'));
  beforeAll(async () => {
    mongo = await startLocalMongo();
  });
  afterAll(async () => {
    await mongo?.stop();
    rmSync(folder, { recursive: true });
  });

  test('with its MongoDB loses nothing that was acknowledged', { timeout: timeoutMs }, async () => {
    const next = random(seed);
    const ledger = join(folder, 'mongo.ledger');
    const acknowledged: Acknowledged = { lengths: new Map(), final: new Set() };
    for (let kill = 0; kill < kills; kill++) {
      const serverToo = kill % 2 === 1;
      const restart = async () => {
        await mongo.server?.kill();
        await mongo.server?.restart();
      };
      await killedRun(
        mongo.url,
        ledger,
        acknowledged,
        15 + Math.floor(next() * 40),
        serverToo ? restart : undefined,
      );
    }
    await expectSound(mongo.url, ledger, acknowledged);
  });
});
