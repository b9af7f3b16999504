/**
 * The program of zygotes and children, in which every job is taken over by somebody who has escaped already: in
 * the locked child it blocks every signal, and then does what the job's text says.
 */
import { ChildAttempt } from '../../services/sandbox/isolate/attempt.ts';
import { FrameWriter, fromChild } from '../../services/sandbox/isolate/frames.ts';
import { addressOf } from '../../services/sandbox/jail/libc.ts';
import { must, syscall } from '../../services/sandbox/jail/linux.ts';
import { limits } from '../../services/shared/limits.ts';

const SIG_BLOCK = 0;
const everySignal = addressOf(Buffer.alloc(8, 0xff));
const sleep = new Int32Array(new SharedArrayBuffer(4));
const pauseMs = 2;

ChildAttempt.prototype.run = (_realm, channel, job): never => {
  job.text(limits.jobBytesMax);
  const sleeps = job.restText().includes('sleep');
  must('rt_sigprocmask', syscall('rt_sigprocmask', SIG_BLOCK, everySignal, 0, 8));
  const log = new FrameWriter();
  log.begin(fromChild.log).u8(1).rest('escaped').end();
  channel.write(log.take());
  for (;;) {
    if (!sleeps) continue;
    Atomics.wait(sleep, 0, 0, pauseMs);
    log.begin(fromChild.log).u8(1).rest('still here').end();
    channel.write(log.take());
  }
};

export { main } from '../../services/sandbox/isolate/main.ts';
