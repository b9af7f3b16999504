/**
 * The program of a child process: `node main.ts child <setting as JSON>`. Its socket is descriptor 3.
 */
import { exitNow, processorMs, setProcessorBudget } from '../jail/libc.ts';
import { ChildAttempt } from './attempt.ts';
import { Channel } from './channel.ts';
import { FrameWriter, fromChild } from './frames.ts';
import { createRealmHost } from './realm-host.ts';
import { temporaryRealm } from './temporary-realm.ts';

const socketFd = 3;

interface Setting {
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Hexadecimal. */
  readonly secret: string;
}

function main(setting: Setting): void {
  const attempt = new ChildAttempt(processorMs);
  const realm = createRealmHost(temporaryRealm, setting.memoryMb, attempt.emit);
  const channel = new Channel(socketFd, exitNow);
  setProcessorBudget(setting.timeoutMs);
  const ready = new FrameWriter().begin(fromChild.ready).bytes(Buffer.from(setting.secret, 'hex')).text('{}');
  ready.end();
  channel.write(ready.take());
  attempt.run(realm, channel);
  exitNow(0);
}

main(JSON.parse(process.argv[3] ?? '{}'));
