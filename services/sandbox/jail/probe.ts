/**
 * A locked child that makes one system call, whatever it is, for the self-test and the tests: what an escape
 * could do, without the escape. A child that was given a job never reads a probe.
 */
import type { Channel } from '../isolate/channel.ts';
import { type BodyReader, FrameWriter, fromChild, probeTextArgument } from '../isolate/frames.ts';
import { addressOf, errno, exitNow } from './libc.ts';
import { rawSyscall } from './linux.ts';

const argumentsCount = 6;

export function answerProbe(body: BodyReader, channel: Channel): never {
  const number = body.u32();
  const given = Array.from({ length: argumentsCount }, () => body.bytes(8).readBigUInt64LE());
  const text = addressOf(Buffer.from(body.restBytes()));
  const result = rawSyscall(
    number,
    given.map((value) => BigInt.asIntN(64, value === probeTextArgument ? text : value)),
  );
  const failed = result < 0n ? errno() : 0;
  const answer = new FrameWriter().begin(fromChild.probed);
  answer.u32(failed).end();
  channel.write(answer.take());
  exitNow(0);
}
