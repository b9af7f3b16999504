import { describe, expect, test } from 'vitest';
import {
  endKind,
  FrameError,
  FrameReader,
  FrameWriter,
  fromChild,
} from '../../services/sandbox/isolate/frames.ts';
import { type ChildMessage, Session } from '../../services/sandbox/pool/session.ts';
import { logEndBytesMax } from '../../services/sandbox/realm/contract.ts';

const callLimits = { callsMax: 3, argumentsBytesMax: 16, resultBytesMax: 100 };
const outputBytes = 1024;

/** A session and a hostile child that writes what it likes. */
function start() {
  const session = new Session(callLimits, outputBytes);
  const reader = new FrameReader(session.bytesMax);
  return {
    session,
    say(write: (frame: FrameWriter) => void): ChildMessage | undefined {
      const writer = new FrameWriter();
      write(writer);
      writer.end();
      reader.push(Buffer.from(writer.take()));
      const frame = reader.next();
      return frame === undefined ? undefined : session.read(frame);
    },
    sayBytes(bytes: Buffer) {
      reader.push(bytes);
      return reader.next();
    },
  };
}

const call =
  (index: number, args = '{}') =>
  (frame: FrameWriter) =>
    frame.begin(fromChild.call).u32(index).u32(1).u32(2).text('notes.read').rest(args);
const rest = (delivered: number) => (frame: FrameWriter) =>
  frame.begin(fromChild.rest).u32(delivered).u32(5).u64(1000);
const end =
  (kind: number, message = '', value = '') =>
  (frame: FrameWriter) =>
    frame
      .begin(fromChild.end)
      .u8(kind)
      .u32(0)
      .u32(0)
      .u32(5)
      .u64(1000)
      .text('Error')
      .text(message)
      .rest(value);
const log = (level: number, text: string) => (frame: FrameWriter) =>
  frame.begin(fromChild.log).u8(level).rest(text);

describe('a session with a child', () => {
  test('reads calls, rests, logs and an end', () => {
    const { session, say } = start();
    expect(say(log(1, 'hello'))).toEqual({ tag: 'Log', level: 'info', text: 'hello' });
    expect(say(call(0, '{"a":1}'))).toMatchObject({
      call: { index: 0, binding: 'notes.read', line: 1, column: 2 },
    });
    expect(say(rest(0))).toEqual({ tag: 'Rest', delivered: 0, usage: { cpuMs: 5, memoryBytes: 1000 } });
    expect(session.idle).toBe(true);
    expect(session.settle(0)).toBeUndefined();
    expect(session.idle).toBe(false);
    expect(say(end(endKind.returned, '', '42'))).toMatchObject({
      tag: 'End',
      end: { kind: endKind.returned },
    });
  });

  test('takes one outcome of each call, and it may come first', () => {
    const { session, say } = start();
    say(call(0));
    expect(session.settle(0)).toBeUndefined();
    expect(session.settle(0)).toBe('AlreadySettled');
    expect(session.settle(1)).toBeUndefined();
    expect(session.settle(1)).toBe('AlreadySettled');
    say(call(1));
    expect(session.settle(1)).toBe('AlreadySettled');
    expect(session.settle(callLimits.callsMax)).toBe('NoSuchCall');
  });

  test('takes log lines up to the limit of all together, and no byte more', () => {
    const { say } = start();
    const bytesMax = outputBytes + logEndBytesMax;
    say(log(1, 'é'.repeat((bytesMax - 2) / 2)));
    say(log(1, 'x'));
    say(log(1, '')); // Counts as a byte.
    expect(() => say(log(1, ''))).toThrow('the log is too long');
  });

  test.each<[string, (child: ReturnType<typeof start>) => unknown]>([
    ['skips an index', ({ say }) => say(call(1))],
    ['repeats an index', ({ say }) => [say(call(0)), say(call(0))]],
    ['makes one call too many', ({ say }) => [0, 1, 2, 3].map((index) => say(call(index)))],
    ['sends arguments one byte too large', ({ say }) => say(call(0, `"${'x'.repeat(15)}"`))],
    [
      'sends arguments that are not UTF-8',
      ({ say }) => say((f) => call(0, '')(f).bytes(Buffer.from([0xff]))),
    ],
    ['logs at no level', ({ say }) => say(log(9, 'x'))],
    ['logs what is not UTF-8', ({ say }) => say((f) => log(1, '')(f).bytes(Buffer.from([0xc3, 0x28])))],
    ['delivers what was not sent', ({ say }) => [say(call(0)), say(rest(0)), say(rest(1))]],
    ['rests without having anything to wait for', ({ say }) => say(rest(0))],
    ['goes on at rest', ({ say }) => [say(call(0)), say(rest(0)), say(log(1, 'still here'))]],
    ['ends at rest', ({ say }) => [say(call(0)), say(rest(0)), say(end(endKind.returned))]],
    ['goes on after the end', ({ say }) => [say(end(endKind.returned)), say(log(1, 'still here'))]],
    ['ends in an unknown way', ({ say }) => say(end(99))],
    ['returns more than it may', ({ say }) => say(end(endKind.returned, '', 'x'.repeat(outputBytes + 1)))],
    ['throws a message that is too long', ({ say }) => say(end(endKind.threw, 'x'.repeat(16 * 1024 + 1)))],
    [
      'claims more memory than a number holds',
      ({ say }) => say((f) => f.begin(fromChild.rest).u32(0).u32(0).bytes(Buffer.alloc(8, 0xff))),
    ],
    ['sends a frame that is too short', ({ say }) => say((f) => f.begin(fromChild.rest).u32(0))],
    ['sends a frame that is too long', ({ say }) => say((f) => rest(0)(call(0)(f) && f) && f.u32(1))],
    [
      'sends a text longer than its frame',
      ({ say }) => say((f) => f.begin(fromChild.call).u32(0).u32(0).u32(0).u32(1000).rest('short')),
    ],
    ['sends a frame of a kind that there is not', ({ say }) => say((f) => f.begin(77).u32(0))],
    ['says that it is ready once more', ({ say }) => say((f) => f.begin(fromChild.ready).u32(0))],
    ['answers a probe that was not made', ({ say }) => say((f) => f.begin(fromChild.probed).u32(0))],
  ])('is over when the child %s', (_, misbehave) => {
    expect(() => misbehave(start())).toThrow(FrameError);
  });

  test('refuses a length before the body comes', () => {
    const head = Buffer.from([0xff, 0xff, 0xff, 0x7f, fromChild.log]);
    expect(() => start().sayBytes(head)).toThrow(/2147483647 bytes, more than/);
  });
});

test('frames are found wherever the stream is cut', () => {
  const writer = new FrameWriter();
  for (const text of ['', 'a', 'é'.repeat(3000), 'x'.repeat(9000)])
    writer.begin(fromChild.log).u8(1).rest(text).end();
  const bytes = Buffer.from(writer.take());
  for (const size of [1, 2, 5, 7, 4096, bytes.length]) {
    const reader = new FrameReader(() => 100_000);
    const lengths: number[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(bytes.subarray(at, at + size));
      for (let frame = reader.next(); frame !== undefined; frame = reader.next())
        lengths.push(frame.body.length);
    }
    expect(lengths).toEqual([1, 2, 6001, 9001]);
  }
});
