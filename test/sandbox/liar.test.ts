/** Real processes in a child's place that say what no child says. */
import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { JobSchema } from '../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { checkJob } from '../../services/sandbox/grpc/job.ts';
import { FrameWriter, fromChild } from '../../services/sandbox/isolate/frames.ts';
import { buildRealmText } from '../../services/sandbox/isolate/realm-text.ts';
import { unlocked } from '../../services/sandbox/jail/layers.ts';
import { Attempt, type AttemptEvent } from '../../services/sandbox/pool/attempt.ts';
import type { Child, ExitFacts } from '../../services/sandbox/pool/child.ts';
import { ChildProgram } from '../../services/sandbox/pool/child-program.ts';
import { readReady } from '../../services/sandbox/pool/handshake.ts';
import { StartedChildren } from '../../services/sandbox/pool/started-children.ts';
import { jobOf } from './kit.ts';
import { lives } from './processes.ts';

const job = checkJob(create(JobSchema, jobOf('return 1;')));
const backstop = { factor: 1, graceMs: 200 };

/** Writes bytes to its socket as soon as it hears anything, then does nothing for ever. */
function liar(bytes: Buffer, then = ''): Child {
  const text = `const fs = require('node:fs'); fs.readSync(3, Buffer.alloc(1)); fs.writeSync(3, Buffer.from('${bytes.toString('hex')}', 'hex')); ${then}; setInterval(() => {}, 1e9);`;
  const started = spawn(process.execPath, ['-e', text], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  const socket = started.stdio[3];
  if (!(socket instanceof Duplex) || started.pid === undefined) throw new Error('it did not start');
  socket.on('error', () => {});
  const exited = new Promise<ExitFacts>((resolve) => {
    started.on('exit', (code, signal) =>
      resolve({
        code: code ?? undefined,
        signal: signal ?? undefined,
        cpuMs: undefined,
        residentKb: undefined,
      }),
    );
  });
  return { pid: started.pid, socket, exited, kill: () => void started.kill('SIGKILL') };
}

function frame(write: (frame: FrameWriter) => FrameWriter): Buffer {
  const writer = new FrameWriter();
  write(writer).end();
  return Buffer.from(writer.take());
}

async function eventsOf(child: Child, of = job): Promise<AttemptEvent[]> {
  const events: AttemptEvent[] = [];
  for await (const event of new Attempt(child, of, backstop).events()) events.push(event);
  return events;
}

const log = frame((f) => f.begin(fromChild.log).u8(1).rest('so far'));

describe('an attempt whose child lies', () => {
  test.for<[string, Buffer]>([
    ['about an index', frame((f) => f.begin(fromChild.call).u32(7).u32(0).u32(0).text('a.b').rest('{}'))],
    ['about a length', Buffer.from([0xff, 0xff, 0xff, 0x7f, fromChild.log])],
    ['about a rest', frame((f) => f.begin(fromChild.rest).u32(0).u32(0).u64(0))],
    ['in a frame of no kind', frame((f) => f.begin(99))],
    ['in bytes of no sense', Buffer.alloc(4096, 0xa5)],
  ])('%s is a violation, after what came before', async ([, lie]) => {
    const child = liar(Buffer.concat([log, lie]));
    const events = await eventsOf(child);
    expect(
      events.map((event) => (event.tag === 'Steps' ? event.steps[0]?.logs[0]?.text : event.verdict.reason)),
    ).toEqual(['so far', 'Violation']);
    expect(lives(child.pid)).toBe(false);
  });

  test('by logging more than the realm lets out is a violation, after what fits', async () => {
    const line = frame((f) => f.begin(fromChild.log).u8(1).rest('x'.repeat(512)));
    const small = checkJob(create(JobSchema, jobOf('return 1;', { outputBytes: 1024 })));
    const events = await eventsOf(liar(Buffer.concat([line, line, line])), small);
    const logs = events.flatMap((event) =>
      event.tag === 'Steps' ? event.steps.flatMap((step) => step.logs) : [],
    );
    expect(logs.map(({ text }) => text.length)).toEqual([512, 512]);
    expect(events.at(-1)).toMatchObject({ tag: 'End', verdict: { reason: 'Violation' } });
  });

  test('by closing its socket and living on is lost, and it is ended', async () => {
    const child = liar(log, "require('node:fs').closeSync(3)");
    const [, end] = await eventsOf(child);
    expect(end).toMatchObject({ tag: 'End', verdict: { reason: 'Lost' } });
    expect(lives(child.pid)).toBe(false);
  });

  test('by saying nothing at all is ended by the backstop', async () => {
    const child = liar(Buffer.alloc(0));
    const quick = checkJob(create(JobSchema, jobOf('return 1;', { timeoutMs: 100 })));
    const events: AttemptEvent[] = [];
    for await (const event of new Attempt(child, quick, backstop).events()) events.push(event);
    expect(events).toMatchObject([{ tag: 'End', verdict: { reason: 'Timeout' } }]);
  });
});

test('a stranger that knows no secret is no child', async () => {
  const ready = frame((f) => f.begin(fromChild.ready).bytes(Buffer.alloc(16, 1)).text('[]'));
  const child = liar(ready);
  child.socket.write('x');
  await expect(readReady(child.socket, Buffer.alloc(16, 2))).rejects.toThrow(
    'a stranger said that it is a child',
  );
  child.kill();
  await child.exited;
});

test('a host without a lock runs programs, within their processor time, and says that nothing is locked', {
  timeout: 60_000,
}, async () => {
  const program = await ChildProgram.bundle({ jit: false });
  const realm = (await buildRealmText()).text;
  const source = new StartedChildren(program, { realm, jit: false, logOnly: false, lock: 'none' });
  const { child, layers } = await source.make({ memoryMb: 64, timeoutMs: 300 });
  expect(layers).toEqual(unlocked('this host has no lock'));
  const loop = checkJob(create(JobSchema, jobOf('console.log("begun"); for (;;);', { timeoutMs: 300 })));
  const events: AttemptEvent[] = [];
  for await (const event of new Attempt(child, loop, { factor: 100, graceMs: 1000 }).events())
    events.push(event);
  expect(events.at(-1)).toMatchObject({ tag: 'End', verdict: { reason: 'Timeout' } });
  await source.close();
});
