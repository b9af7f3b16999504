/**
 * Records the journal of every program in programs.ts that has no file yet: node test/replay/record.ts
 */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { journalVersion } from '../../services/code-run/core/model.ts';
import type {
  PerformCall,
  Sandbox,
  SandboxAttempt,
  SandboxEvent,
  SandboxJob,
} from '../../services/code-run/runner/contract.ts';
import { bindings, runnerOn, Stream, startOf } from '../runner/parts.ts';
import { startRealSandbox } from '../runner/real-sandbox.ts';
import { Chance } from '../sim/world.ts';
import { type Golden, goldenFolder } from './golden.ts';
import { answeredAtOnce, answerTo, programs } from './programs.ts';

/** A sandbox that tells when its program has come to rest. */
class Rests implements Sandbox {
  readonly #inner: Sandbox;
  #issued = 0;
  #restedAfter = -1;
  #changed = Promise.withResolvers<void>();

  constructor(inner: Sandbox) {
    this.#inner = inner;
  }

  execute(job: SandboxJob): SandboxAttempt {
    const attempt = this.#inner.execute(job);
    return {
      events: this.#watch(attempt.events),
      deliver: (outcomes) => attempt.deliver(outcomes),
      kill: () => attempt.kill(),
    };
  }

  /** Resolves when the program rests after `answered` outcomes, and has issued `issued` calls. */
  async reached(answered: number, issued: number): Promise<'rest'> {
    while (this.#restedAfter !== answered || this.#issued !== issued) await this.#changed.promise;
    return 'rest';
  }

  async *#watch(events: AsyncIterable<SandboxEvent>): AsyncGenerator<SandboxEvent, void, void> {
    for await (const event of events) {
      yield event;
      if (event.tag !== 'Step') continue;
      this.#issued += event.calls.length;
      if (event.atRest) this.#restedAfter = event.delivered;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
  }
}

/** Answers one of the open calls, any one, when the program has come to rest, or all of them. */
async function record(code: string, chance: Chance, atOnce: boolean): Promise<Golden> {
  const rests = new Rests(sandbox.client);
  const { runner } = runnerOn({ sandbox: rests });
  const stream = new Stream((outcomes, signal) => runner.start(startOf(code), outcomes, signal));
  const open: PerformCall[] = [];
  let answered = 0;
  for (;;) {
    const event = await Promise.race([stream.peek(), rests.reached(answered, answered + open.length)]);
    if (event === 'rest' && open.length > 0) {
      for (let count = atOnce ? open.length : 1; count > 0; count--) {
        const [call] = open.splice(chance.below(open.length), 1);
        if (call === undefined) break;
        answered++;
        stream.answer(call.index, answerTo(call.argumentsJson));
      }
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

const sandbox = await startRealSandbox();
for (const [at, [name, code]] of Object.entries(programs).entries()) {
  const file = path.join(goldenFolder, `${name}.json`);
  if (existsSync(file)) continue;
  const golden = await record(code, new Chance(at), answeredAtOnce.has(name));
  writeFileSync(file, `${JSON.stringify(golden, null, 2)}\n`);
}
await sandbox.stop();
