/**
 * What the way through both services costs, as ratios against bare isolated-vm in process, measured side by
 * side in this run: machines are noisy, ratios are not. \`make bench\`; ROUNDS sets how often (default 30).
 *
 * Before anything is timed, both peers must give the same value.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, runBare } from './floor.ts';
import { Services } from './services.ts';

interface Workload {
  readonly name: string;
  /** The program; CALL stands for the call of the peer. */
  readonly code: string;
  readonly answer: Answer;
  /** Runs at once. */
  readonly atOnce: number;
  /** Largest ratio that the design aims at. */
  readonly aim: number;
}

const echo: Answer = async (argumentsJson) => argumentsJson;
const rows = JSON.stringify({
  rows: Array.from({ length: 10_000 }, (_, id) => ({ id, name: `row ${id}`, text: 'x'.repeat(64) })),
});

const workloads: readonly Workload[] = [
  { name: 'return 1', code: 'return 1', answer: echo, atOnce: 1, aim: 1.8 },
  {
    name: '100 calls, one after another',
    code: 'let sum = 0; for (let i = 0; i < 100; i++) sum += (await CALL({ i })).i; return sum',
    answer: echo,
    atOnce: 1,
    aim: 8.2,
  },
  {
    name: '100 calls at once',
    code: 'const all = await Promise.all(Array.from({ length: 100 }, (_, i) => CALL({ i }))); return all.length',
    answer: echo,
    atOnce: 1,
    aim: 7.2,
  },
  {
    name: '1 MB result, filtered to ten rows',
    code: 'const { rows } = await CALL({}); return rows.filter((row) => row.id % 1000 === 7)',
    answer: async () => rows,
    atOnce: 1,
    aim: 3,
  },
  {
    name: '64 runs at once, 5 calls of 20 ms each',
    code: 'let sum = 0; for (let i = 0; i < 5; i++) sum += (await CALL({ i })).i; return sum',
    answer: async (argumentsJson) => {
      await delay(20);
      return argumentsJson;
    },
    atOnce: 64,
    aim: 1.2,
  },
];

const rounds = Number(process.env['ROUNDS'] ?? 30);

async function timed(run: () => Promise<string>, atOnce: number): Promise<number> {
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, run));
  return performance.now() - began;
}

const at = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN;

async function measure(services: Services, workload: Workload): Promise<string> {
  const bare = () => runBare(workload.code.replaceAll('CALL', 'call'), workload.answer);
  const through = () => services.run(workload.code.replaceAll('CALL', 'apps.app.call'), workload.answer);
  const [expected, got] = [await bare(), await through()];
  if (expected !== got) throw new Error(`${workload.name}: the peers differ: ${expected} and ${got}`);
  const count = workload.atOnce > 1 ? Math.ceil(rounds / 6) : rounds;
  const floor: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < count; round++) {
    floor.push(await timed(bare, workload.atOnce));
    ours.push(await timed(through, workload.atOnce));
  }
  const ms = [at(floor, 0.1), at(floor, 0.5), at(ours, 0.1), at(ours, 0.5), at(ours, 0.99)];
  const ratios = [at(ours, 0.1) / at(floor, 0.1), at(ours, 0.5) / at(floor, 0.5)];
  const cells = [...ms.map((value) => value.toFixed(2).padStart(9)), ...ratios.map(cell), cell(workload.aim)];
  return `${workload.name.padEnd(40)}${cells.join('')}`;
}

const cell = (ratio: number): string => ratio.toFixed(1).padStart(7);

const services = await Services.start();
try {
  const lines = [
    `${''.padEnd(40)}        floor             ours                   ratio          aim`,
    `${''.padEnd(40)}      p10      p50      p10      p50      p99    p10    p50`,
  ];
  for (const workload of workloads) lines.push(await measure(services, workload));
  process.stdout.write(`${lines.join('\n')}\n`);
} finally {
  await services.stop();
}
