/**
 * What a replay costs through both services: from a resume to the first call that is not in the journal, beside
 * the same program in bare isolated-vm. `make bench-replay`; ROUNDS sets how often (default 20).
 */
import { runBare } from './floor.ts';
import { Services } from './services.ts';

const { ROUNDS = '20' } = process.env;
const rounds = Number(ROUNDS);

const at = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN;

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
  const ms = [at(floor, 0.1), at(floor, 0.5), at(ours, 0.1), at(ours, 0.5)];
  const ratios = [at(ours, 0.1) / at(floor, 0.1), at(ours, 0.5) / at(floor, 0.5)];
  const cells = [
    ...ms.map((value) => value.toFixed(1).padStart(9)),
    ...ratios.map((x) => x.toFixed(1).padStart(7)),
  ];
  return `${String(calls).padStart(8)} recorded calls${cells.join('')}`;
}

const services = await Services.start();
try {
  const lines = [
    `${''.padEnd(23)}        floor             ours          ratio`,
    `${''.padEnd(23)}      p10      p50      p10      p50    p10    p50`,
  ];
  for (const calls of [0, 10, 100, 1000]) lines.push(await measure(services, calls));
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  await services.stop();
}
