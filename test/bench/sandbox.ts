/**
 * Measures locked, forked children against children that are started one by one and against bare isolated-vm
 * in this process, in one run, since only ratios hold from machine to machine.
 */
import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import ivm from 'isolated-vm';
import { JobSchema } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { checkJob } from '../../services/sandbox/grpc/job.ts';
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { Attempt } from '../../services/sandbox/pool/attempt.ts';
import type { Child, ChildSource } from '../../services/sandbox/pool/child.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { ForkedChildren } from '../../services/sandbox/pool/forked-children.ts';
import { StartedChildren } from '../../services/sandbox/pool/started-children.ts';
import { jobOf, startTestSandbox } from '../sandbox/kit.ts';
import { descendants, firstOf } from '../sandbox/processes.ts';

const setting = { memoryMb: 64, timeoutMs: 30_000 };
const backstop = { factor: 4, graceMs: 5000 };
const calls = 1000;
const oneLine = 'return 1 + 1;';
const manyCalls = `let r; for (let i = 0; i < ${calls}; i++) r = await apps.notes.read({ i }); return r.i;`;

const realm = (await buildRealmText()).text;
const role = { realm, jit: false, logOnly: false };
const program = await ChildProgram.bundle({ jit: false });
const forked = await ForkedChildren.listen(program, role);
const started = new StartedChildren(program, { ...role, lock: 'linux' });

async function make(source: ChildSource): Promise<Child> {
  return (await source.make(setting)).child;
}

/** Runs a program in a child to its end; calls get their arguments back. */
async function run(child: Child, text: string): Promise<void> {
  const attempt = new Attempt(child, checkJob(create(JobSchema, jobOf(text, setting))), backstop);
  for await (const event of attempt.events()) {
    if (event.tag === 'End') {
      if (event.verdict.reason !== 'Returned')
        throw new Error(`${event.verdict.reason}: ${event.verdict.message}`);
    } else {
      for (const { index, argumentsJson } of event.steps.flatMap(({ calls }) => calls)) {
        await attempt.deliver([{ index, kind: 1, a: argumentsJson, b: Buffer.alloc(0) }]);
      }
    }
  }
  child.socket.destroy();
}

async function times(count: number, measured: (index: number) => Promise<number>): Promise<number[]> {
  const list: number[] = [];
  for (let index = 0; index < count; index++) list.push(await measured(index));
  return list.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], part: number) =>
  sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;

async function since(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

async function readyTimes(source: ChildSource, count: number): Promise<number[]> {
  return times(count, async () => {
    let child: Child | undefined;
    const ms = await since(async () => {
      child = await make(source);
    });
    child?.kill();
    await child?.exited;
    child?.socket.destroy();
    return ms;
  });
}

async function jobTimes(count: number): Promise<number[]> {
  return times(count, async () => {
    const child = await make(forked);
    const ms = await since(() => run(child, oneLine));
    await child.exited;
    return ms;
  });
}

/** Isolate, context and program in this process, with nothing around them. */
function bareJob(): number {
  const start = performance.now();
  const isolate = new ivm.Isolate({ memoryLimit: setting.memoryMb });
  isolate.createContextSync().evalSync('(() => { return 1 + 1; })()');
  const ms = performance.now() - start;
  isolate.dispose();
  return ms;
}

async function bareCalls(): Promise<number> {
  const isolate = new ivm.Isolate({ memoryLimit: setting.memoryMb });
  const context = isolate.createContextSync();
  const queue: [number, string][] = [];
  let done = false;
  const text = `const waiting = new Map(); let next = 0;
    const read = (args) => new Promise((go) => { const i = next++; waiting.set(i, go); $0(i, JSON.stringify(args)); });
    const apps = { notes: { read } };
    return { start() { (async () => { ${manyCalls} })().then(() => $1()); },
      settle(i, json) { waiting.get(i)(JSON.parse(json)); waiting.delete(i); } };`;
  const api = context.evalClosureSync(
    text,
    [
      new ivm.Callback((index: number, json: string) => void queue.push([index, json])),
      new ivm.Callback(() => {
        done = true;
      }),
    ],
    { result: { reference: true } },
  );
  const settle = api.getSync('settle', { reference: true });
  const ms = await since(async () => {
    api.getSync('start', { reference: true }).applySync(undefined, []);
    for (let call = queue.shift(); call !== undefined; call = queue.shift())
      settle.applySync(undefined, call);
  });
  if (!done) throw new Error('the bare program did not end');
  isolate.dispose();
  return ms;
}

async function attemptsPerSecond(
  count: number,
  atOnce: number,
  one: () => Promise<unknown>,
): Promise<number> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await one();
  };
  const ms = await since(() => Promise.all(Array.from({ length: atOnce }, worker)));
  return (count / ms) * 1000;
}

/** Of child, zygote and this process together: what is left of a busy machine does not change it much. */
async function processorMs(count: number): Promise<number> {
  const zygote = firstOf(descendants(process.pid));
  const zygoteMs = () => Number(readFileSync(`/proc/${zygote}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  const [zygoteBefore, ownBefore] = [zygoteMs(), process.cpuUsage()];
  let children = 0;
  for (let index = 0; index < count; index++) {
    const child = await make(forked);
    await run(child, oneLine);
    children += (await child.exited).cpuMs ?? 0;
  }
  const own = process.cpuUsage(ownBefore);
  return (children + zygoteMs() - zygoteBefore + (own.user + own.system) / 1000) / count;
}

async function privateKb(count: number): Promise<number> {
  const held: Child[] = [];
  for (let index = 0; index < count; index++) {
    const child = await make(forked);
    const attempt = new Attempt(
      child,
      checkJob(create(JobSchema, jobOf('await apps.notes.read({});', setting))),
      backstop,
    );
    await attempt.events().next(); // Its first step: it waits for its call.
    held.push(child);
  }
  const kb = held.map(({ pid }) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  });
  for (const child of held) child.kill();
  await Promise.all(held.map((child) => child.exited));
  return kb.reduce((sum, one) => sum + one, 0) / count;
}

const show = (what: string, value: string, beside = '') =>
  process.stdout.write(`${what.padEnd(44)}${value.padStart(12)}   ${beside}\n`);
const ms = (value: number) => `${value.toFixed(2)} ms`;

await readyTimes(forked, 20); // Warm.
bareJob();
const ready = await readyTimes(forked, 200);
const readyStarted = await readyTimes(started, 8);
show('forked and locked, ready, p50', ms(at(ready, 0.5)), `aim 5 ms; p99 ${ms(at(ready, 0.99))}`);
const faster = at(readyStarted, 0.5) / at(ready, 0.5);
show('started and locked, ready, p50', ms(at(readyStarted, 0.5)), `${faster.toFixed(1)} × as long`);

const bare = (await times(50, async () => bareJob())).sort((a, b) => a - b);
const job = await jobTimes(200);
show('job to result in a ready child, p50', ms(at(job, 0.5)), `p99 ${ms(at(job, 0.99))}`);
show(
  'bare isolated-vm in process, p50',
  ms(at(bare, 0.5)),
  `ready child: ${(at(job, 0.5) / at(bare, 0.5)).toFixed(2)} × of it`,
);

const inChild = await times(3, async () => {
  const child = await make(forked);
  return since(() => run(child, manyCalls));
});
const inProcess = await times(3, () => bareCalls());
const perCall = (at(inChild, 0) / calls) * 1000;
const perBareCall = (at(inProcess, 0) / calls) * 1000;
show(
  'a call, sequential',
  `${perCall.toFixed(0)} µs`,
  `bare in process, with the JIT: ${perBareCall.toFixed(0)} µs`,
);

const oneAttempt = async () => run(await make(forked), oneLine);
show(
  'attempts a second, 8 at once',
  (await attemptsPerSecond(800, 8, oneAttempt)).toFixed(0),
  'aim 300 on two cores',
);
const cost = await processorMs(400);
show(
  'processor time of an attempt, all processes',
  ms(cost),
  `${(2000 / cost).toFixed(0)} a second on two idle cores`,
);
const sandbox = await startTestSandbox({ SANDBOX_READY_TARGET: '8' });
const throughService = await attemptsPerSecond(800, 8, () => sandbox.run(oneLine, setting));
show('  the same through SandboxService', throughService.toFixed(0), 'with the client in this process');
await sandbox.stop();
show('private memory of a waiting child', `${(await privateKb(50)).toFixed(0)} kB`, 'aim 1500 kB');
await forked.close();
await started.close();
