/**
 * Kills the service, and the server behind it, at random moments of a workload, and looks at what is left.
 * KILLS sets how often (default: few); a failure prints its seed, and SEED runs it again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredRun } from '../../services/code-run/core/model.ts';
import { LocalKeeper } from '../../services/code-run/crypto/local-keeper.ts';
import { newLocalKey, parseLocalKeys } from '../../services/code-run/crypto/local-keys.ts';
import type { CodeRunStore } from '../../services/code-run/store/contract.ts';
import { openStore } from '../../services/code-run/store/open.ts';
import { type MongoServer, mongoProgram } from '../../tools/mongo/server.ts';
import { available } from '../support/available.ts';
import { startLocalMongo, type TestMongo } from '../support/mongo.ts';
import { attempt, claimBy } from './example-runs.ts';
import { callsOfRun, doomedSession, entryAt, session } from './workload.ts';

const { KILLS, SEED } = process.env;
const kills = Number(KILLS ?? 4);
const seed = Number(SEED ?? Date.now() % 1_000_000);
const timeoutMs = 60_000 + kills * 10_000;
const keysText = newLocalKey('k1');

/** What the workload was told was done. */
interface Acknowledged {
  readonly lengths: Map<string, number>;
  readonly final: Set<string>;
  /** Of runs that are cancelled and then deleted: what of it was done. */
  readonly doomed: Map<string, 'doomed' | 'cancelled' | 'deleted'>;
}

/** The workload as a process, and what it told. */
class Workload {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #read: Promise<void>;
  #told = 0;
  #over = false;
  #heard = () => {};

  constructor(url: string, ledger: string, acknowledged: Acknowledged) {
    const script = join(import.meta.dirname, 'workload.ts');
    const child = spawn(process.execPath, ['--no-warnings', script, url, keysText, ledger], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    this.#exited = once(child, 'exit');
    this.#read = this.#note(createInterface(child.stdout), acknowledged);
  }

  /** Resolves when it has told `lines` more. */
  async goesOn(lines: number): Promise<void> {
    const until = this.#told + lines;
    while (this.#told < until) {
      expect(this.#over, 'the workload is over').toBe(false);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    expect(await this.#exited).toStrictEqual([null, 'SIGKILL']);
    await this.#read;
  }

  async #note(lines: AsyncIterable<string>, { lengths, final, doomed }: Acknowledged): Promise<void> {
    for await (const line of lines) {
      const [what, id = '', length] = line.split(' ');
      if (what === 'entries' || what === 'created') {
        lengths.set(id, Math.max(lengths.get(id) ?? 0, Number(length) || 0));
      }
      if (what === 'final') {
        final.add(id);
      }
      if (what === 'doomed' || what === 'cancelled' || what === 'deleted') {
        doomed.set(id, what);
      }
      this.#told += 1;
      this.#heard();
    }
    this.#over = true;
    this.#heard();
  }
}

type Kind = 'service' | 'server' | 'both';

/** Kills what a kind says, each time at a random moment, and starts it again; the kinds take turns. */
async function killInTurn(
  kinds: readonly Kind[],
  { url, ledger, server }: { url: string; ledger: string; server?: MongoServer | undefined },
): Promise<{ acknowledged: Acknowledged; killed: Record<Kind, number> }> {
  const next = random(seed);
  const acknowledged: Acknowledged = { lengths: new Map(), final: new Set(), doomed: new Map() };
  const killed = { service: 0, server: 0, both: 0 };
  const begin = () => new Workload(url, ledger, acknowledged);
  let workload = begin();
  for (let kill = 0; kill < kills; kill++) {
    const kind = kinds[kill % kinds.length] ?? 'service';
    await workload.goesOn(10 + Math.floor(next() * 60));
    await sleep(next() * 10); // Not at an answer, but between two.
    const dead = [
      kind === 'server' ? undefined : workload.kill(),
      kind === 'service' ? undefined : server?.kill(),
    ];
    await Promise.all(dead);
    if (kind !== 'service') await server?.restart();
    if (kind === 'server')
      await workload.goesOn(1); // The same process: nothing was lost on it.
    else workload = begin();
    killed[kind] += 1;
  }
  await workload.goesOn(1);
  await workload.kill();
  return { acknowledged, killed };
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
async function expectSound(url: string, ledger: string, acknowledged: Acknowledged): Promise<void> {
  const { lengths, final, doomed } = acknowledged;
  const alarms: string[] = [];
  const store = await openStore({
    url,
    openKeys: async () => new LocalKeeper(parseLocalKeys(keysText, 'keys')),
    onUnreadable: (id) => alarms.push(id),
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
  for (const [id, done] of doomed) {
    const run = await store.get(id);
    if (done === 'deleted') expect(run, `a run that was deleted: ${id}`).toBeUndefined();
    if (done === 'cancelled' && run !== undefined) expect(run.status).toBe('Cancelled');
    if (run !== undefined) expect(await store.journal(id)).toStrictEqual([entryAt(0)]);
    expect(await store.deleteSession(doomedSession(id))).toBe(run === undefined ? 0 : 1);
    expect(await store.get(id)).toBeUndefined();
  }
  expect(alarms).toStrictEqual([]);
  expect([...doomed.values()]).toContain('deleted');
  expect(runs.length).toBeGreaterThan(kills);
  expect(final.size).toBeGreaterThan(0);
  await store.close();
}

function random(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What was done, for whoever runs this for long. */
function tell(store: string, killed: Record<Kind, number>): void {
  writeSync(2, `${store}, seed ${seed}: killed ${JSON.stringify(killed)}\n`);
}

describe(`a workload that is killed, seed ${seed}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-mode-kill-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('on SQLite loses nothing that was acknowledged', { timeout: timeoutMs }, async () => {
    const place = { url: `sqlite:${join(folder, 'runs.db')}`, ledger: join(folder, 'sqlite.ledger') };
    const { acknowledged, killed } = await killInTurn(['service'], place);
    await expectSound(place.url, place.ledger, acknowledged);
    expect(killed.service).toBe(kills);
    tell('SQLite', killed);
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

  test('by itself, its MongoDB, or both, loses nothing that was acknowledged', {
    timeout: timeoutMs,
  }, async () => {
    const place = { url: mongo.url, ledger: join(folder, 'mongo.ledger'), server: mongo.server };
    const { acknowledged, killed } = await killInTurn(['server', 'service', 'both'], place);
    await expectSound(place.url, place.ledger, acknowledged);
    for (const times of Object.values(killed)) expect(times).toBeGreaterThanOrEqual(Math.floor(kills / 3));
    tell('MongoDB', killed);
  });
});
