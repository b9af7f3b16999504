/**
 * Whether children can be made here, and how well they are locked: seen at start, from outside, and by
 * attempts to do what the lock forbids. What a child says of itself is believed only where this agrees.
 */
import { readFileSync } from 'node:fs';
import { settingRanges } from '../../shared/limits.ts';
import { FrameReader, FrameWriter, fromChild, toChild } from '../isolate/frames.ts';
import type { LayerName, LayerReport } from '../jail/layers.ts';
import { architectureOf, syscallNumber } from '../jail/seccomp/syscalls.ts';
import type { Child, ChildSetting, ChildSource, ExitFacts } from './child.ts';

const setting: ChildSetting = {
  memoryMb: settingRanges.memoryMb.initial,
  timeoutMs: settingRanges.timeoutMs.initial,
};

const EACCES = 13;
const AT_FDCWD = -100;
const AF_UNIX = 1;
const SOCK_STREAM = 1;

/** Makes children, tries their lock, and gives the layers as they were seen. Throws if none can be made. */
export async function selfTest(source: ChildSource): Promise<readonly LayerReport[]> {
  const { child, layers } = await source.make(setting);
  const status = statusOf(child.pid);
  const above = statusOf(Number(status.get('PPid')));
  child.kill();
  await child.exited;
  const doubts = new Map<LayerName, string>();
  const doubt = (name: LayerName, reason: string) => void doubts.set(name, reason);
  const holds = (name: LayerName) => layers.some((layer) => layer.name === name && layer.state === 'held');
  if (holds('seccomp')) {
    if (!showsFilter(status, above)) doubt('seccomp', 'the kernel does not show its filter');
    const open = await probe(source, 'openat', [AT_FDCWD, 'text', 0], '/etc/passwd');
    if (open.errno !== EACCES) doubt('seccomp', 'a file could be asked for');
    const socket = await probe(source, 'socket', [AF_UNIX, SOCK_STREAM, 0]);
    if (socket.exit.signal !== 'SIGSYS') doubt('seccomp', 'a socket could be asked for');
  }
  if (holds('no-new-privileges') && status.get('NoNewPrivs') !== '1') {
    doubt('no-new-privileges', 'the kernel does not show it');
  }
  if (holds('identity') && !/^0+$/.test(status.get('CapEff') ?? '')) {
    doubt('identity', 'the kernel shows capabilities');
  }
  return layers.map((layer) => {
    const reason = doubts.get(layer.name);
    return reason === undefined ? layer : { ...layer, state: 'absent', detail: reason };
  });
}

export interface Probed {
  /** 0: the call succeeded. Undefined: it never came back. */
  readonly errno: number | undefined;
  readonly exit: ExitFacts;
}

/** One system call in a locked child. The argument 'text' stands for the address of `text`. */
export async function probe(
  source: ChildSource,
  call: string | number,
  args: readonly (number | bigint | 'text')[],
  text = '',
): Promise<Probed> {
  const { child } = await source.make(setting);
  const frame = new FrameWriter().begin(toChild.probe).u32(typeof call === 'number' ? call : numberOf(call));
  for (let index = 0; index < 6; index++) frame.argument(args[index] ?? 0);
  frame.rest(`${text}\0`).end();
  child.socket.write(frame.take());
  const errno = await answerOf(child);
  return { errno, exit: await child.exited };
}

async function answerOf(child: Child): Promise<number | undefined> {
  const reader = new FrameReader((kind) => (kind === fromChild.probed ? 4 : undefined));
  for await (const chunk of child.socket) reader.push(chunk);
  return reader.next()?.body.readUInt32LE(0);
}

function numberOf(call: string): number {
  const architecture = architectureOf(process.arch);
  if (architecture === undefined) throw new Error(`no system calls are known for ${process.arch}`);
  return syscallNumber(architecture, call);
}

/**
 * Whether a child has a filter that the process above it has not: a zygote has one of its own (jail/inherit.ts), and
 * so may have the whole sandbox. Where the kernel does not count them, whether there is any.
 */
function showsFilter(child: ReadonlyMap<string, string>, above: ReadonlyMap<string, string>): boolean {
  const [own, before] = [child.get('Seccomp_filters'), above.get('Seccomp_filters')];
  if (own === undefined || before === undefined) return child.get('Seccomp') === '2';
  return Number(own) > Number(before);
}

function statusOf(pid: number): ReadonlyMap<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'latin1').split('\n');
  return new Map(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(':');
      return [name, value.trim()] as const;
    }),
  );
}
