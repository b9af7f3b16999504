/** Benign and hostile jobs, many at once: every end is right, the lock gets in nobody's way, and nothing is left. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './kit.ts';
import { descendants, descriptors } from './processes.ts';

const jobs = 1000;
const atOnce = 16;

interface Kind {
  readonly program: string;
  readonly ends: readonly string[];
  readonly value?: unknown;
  readonly timeoutMs?: number;
}

const benign: readonly Kind[] = [
  { program: 'return [3, 1, 2].toSorted();', value: [1, 2, 3] },
  {
    program: 'const r = await Promise.all([1, 2, 3, 4].map((n) => apps.notes.read({ n }))); return r.length;',
    value: 4,
  },
  {
    program: 'let sum = 0; for (let i = 0; i < 20; i++) sum += (await apps.notes.read({ i })).i; return sum;',
    value: 190,
  },
  { program: 'return Object.keys(JSON.parse(\'{"a":1,"b":[2]}\'));', value: ['a', 'b'] },
  { program: "return 'a1b22'.replace(/\\d+/g, (d) => d.length);", value: 'a1b2' },
  {
    program: "return new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' }).format(1234.5);",
    value: '€1,234.50',
  },
  {
    program: "return new Date(0).toLocaleString('en', { timeZone: 'UTC' });",
    value: '1/1/1970, 12:00:00 AM',
  },
  {
    program:
      'const a = Array.from({ length: 2e5 }, (_, i) => ({ i })); return a.filter((x) => x.i % 2).length;',
    value: 1e5,
  },
  { program: "return ['é', 'z', 'a'].toSorted((a, b) => a.localeCompare(b)).join('');", value: 'aéz' },
  { program: 'return structuredClone({ at: new Date(5), of: new Map([[1, 2]]) }).of.get(1);', value: 2 },
  { program: "return new URL('https://a.example/b?c=d#e').searchParams.get('c');", value: 'd' },
  { program: "return new TextDecoder().decode(new TextEncoder().encode('häß'));", value: 'häß' },
  { program: 'for (let i = 0; i < 300; i++) console.log({ i, deep: { list: [i] } }); return 1;', value: 1 },
  {
    program: "return Temporal.PlainDate.from('2026-02-28').add({ days: 1 }).toString();",
    value: '2026-03-01',
  },
  { program: "let s = ''; for (let i = 0; i < 2e4; i++) s += i; return s.length;", value: 88_890 },
  {
    program: 'const m = new Map(); for (let i = 0; i < 1e5; i++) m.set(i, [i]); m.clear(); return m.size;',
    value: 0,
  },
  {
    program: 'const b = new Uint8Array(2e7); b.fill(1); return [b.indexOf(2), b.lastIndexOf(1)];',
    value: [-1, 19_999_999],
  },
  { program: 'return (2n ** 4096n).toString().length;', value: 1234 },
].map((kind) => ({ ends: ['RETURNED'], ...kind }));

const hostile: readonly Kind[] = [
  { program: 'for (;;);', ends: ['TIMEOUT'], timeoutMs: 100 },
  { program: 'const all = []; for (;;) all.push(new Array(1e5).fill(1.5));', ends: ['MEMORY'] },
  { program: 'const f = () => f() + 1; f();', ends: ['ERROR'] },
  { program: "throw new Error('no');", ends: ['ERROR'] },
  { program: 'await new Promise(() => {});', ends: ['ERROR'] },
  { program: "return 'x'.repeat(70000);", ends: ['OUTPUT_TOO_LARGE'] },
  { program: 'return ];', ends: ['ERROR'] },
  { program: "await import('node:fs');", ends: ['ERROR'] },
];

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '4' });
});
afterAll(() => sandbox.stop());

async function runAll(count: number): Promise<string[]> {
  const kinds = [...benign, ...hostile];
  const wrong: string[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const kind = kinds[at % kinds.length];
      if (kind === undefined) continue;
      const { reason, value, end } = await sandbox.run(kind.program, { timeoutMs: kind.timeoutMs ?? 20_000 });
      const right = kind.ends.includes(reason) && JSON.stringify(value) === JSON.stringify(kind.value);
      if (!right) wrong.push(`${kind.program} gave ${reason} ${JSON.stringify(value)} ${end.message}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return wrong;
}

test(`${jobs} mixed jobs, ${atOnce} at a time, end as they must and leave nothing`, {
  timeout: 300_000,
}, async () => {
  expect(await runAll(26)).toEqual([]);
  const settled = async () => {
    const { running, ready = 0 } = (await sandbox.client.getStatus({})).capacity ?? {};
    // Beside the ready children there is their zygote; each child has one socket here.
    return {
      running,
      processes: descendants(process.pid).length - ready,
      descriptors: descriptors('self').length - ready,
    };
  };
  await expect.poll(settled, { timeout: 5000 }).toMatchObject({ running: 0, processes: 1 });
  const before = await settled();
  const memoryBefore = process.memoryUsage().rss;
  expect(await runAll(jobs)).toEqual([]);
  await expect.poll(settled, { timeout: 5000 }).toEqual(before);
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(150 * 1024 * 1024);
});
