/**
 * Records the journal of every program in programs.ts that has no file yet: node test/replay/record.ts
 */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { journalVersion } from '../../services/code-run/core/model.ts';
import type { PerformCall } from '../../services/code-run/runner/contract.ts';
import { bindings, runnerOn, Stream, startOf } from '../runner/parts.ts';
import { startRealSandbox } from '../runner/real-sandbox.ts';
import { Chance } from '../sim/world.ts';
import { type Golden, goldenFolder } from './golden.ts';
import { answerTo, programs } from './programs.ts';

const sandbox = await startRealSandbox();
for (const [at, [name, code]] of Object.entries(programs).entries()) {
  const file = path.join(goldenFolder, `${name}.json`);
  if (existsSync(file)) continue;
  writeFileSync(file, `${JSON.stringify(await record(code, new Chance(at)), null, 2)}\n`);
}
await sandbox.stop();

/** Answers one of the open calls, any one, when the program has come to rest. */
async function record(code: string, chance: Chance): Promise<Golden> {
  const { runner } = runnerOn({ sandbox: sandbox.client });
  const stream = new Stream((outcomes, signal) => runner.start(startOf(code), outcomes, signal));
  const open: PerformCall[] = [];
  for (;;) {
    const event = await Promise.race([stream.peek(), settled()]);
    if (event === 'quiet') {
      const [call] = open.splice(chance.below(open.length), 1);
      if (call !== undefined) stream.answer(call.index, answerTo(call.argumentsJson));
      continue;
    }
    const next = await stream.next();
    if (next.tag === 'Call') open.push(next.call);
    if (next.tag !== 'Finished') continue;
    const { run, journal } = next.record;
    if (run.result === undefined) throw new Error('no result');
    const { id: runId, createdAtMs, limits, result, attempts } = run;
    const fingerprint = attempts[0]?.fingerprint ?? '';
    return { journalVersion, fingerprint, runId, createdAtMs, code, bindings, limits, journal, result };
  }
}

function settled(): Promise<'quiet'> {
  return new Promise((resolve) => setTimeout(() => resolve('quiet'), 100));
}
