/**
 * What a replay costs through both services: from a resume to the first call that is not in the journal, beside
 * the same program in bare isolated-vm. `node test/bench/replay.ts`; ROUNDS sets how often (default 10).
 */
import { runBare } from './floor.ts';
import { Services } from './services.ts';

const { ROUNDS = '10' } = process.env;
const rounds = Number(ROUNDS);

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measure(services: Services, calls: number): Promise<string> {
  const code = (call: string, count: number) =>
    `for (let i = 0; i < ${count}; i++) await ${call}({ i }); return 1`;
  const runId = await services.runUntilWait(code('apps.app.call', calls + 1), calls);
  const floor: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await runBare(code('call', calls), async (argumentsJson) => argumentsJson);
    floor.push(performance.now() - began);
    ours.push(await services.timeReplay(runId));
  }
  const cells = [median(floor), median(ours), Math.min(...ours)].map((ms) => ms.toFixed(1).padStart(10));
  return `${String(calls).padStart(8)} recorded calls ${cells.join('')}${(median(ours) / median(floor)).toFixed(2).padStart(8)}`;
}

const services = await Services.start();
try {
  const lines = [`${''.padEnd(24)} floor p50  ours p50  ours min   ratio`];
  for (const calls of [0, 10, 100, 1000]) lines.push(await measure(services, calls));
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  await services.stop();
}
