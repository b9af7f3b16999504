/** The first words of a child: it proves that it is the one that was made, and says how it is locked. */
import { timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { BodyReader, FrameError, FrameReader, fromChild, secretBytes } from '../isolate/frames.ts';

const readyBytesMax = 16 * 1024;

/** Reads the ready frame. Gives what the child says of its lock as JSON. */
export function readReady(socket: Duplex, expected: Buffer | undefined): Promise<ReadyFrame> {
  const reader = new FrameReader((kind) => (kind === fromChild.ready ? readyBytesMax : undefined));
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      socket.off('readable', onReadable).off('end', onClose).off('close', onClose);
      settle();
    };
    const onClose = () => finish(() => reject(new FrameError('the child ended before it was ready')));
    const onReadable = () => {
      try {
        for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) reader.push(chunk);
        const frame = reader.next();
        if (frame === undefined) return;
        const ready = parse(frame.body);
        if (expected !== undefined && !timingSafeEqual(ready.secret, expected)) {
          throw new FrameError('a stranger said that it is a child');
        }
        finish(() => resolve(ready));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    socket.on('readable', onReadable).on('end', onClose).on('close', onClose);
    onReadable();
  });
}

export interface ReadyFrame {
  readonly secret: Buffer;
  readonly lockJson: string;
}

function parse(bytes: Buffer): ReadyFrame {
  const body = new BodyReader(bytes);
  const secret = Buffer.from(body.bytes(secretBytes));
  const lockJson = body.text(readyBytesMax);
  body.done();
  return { secret, lockJson };
}
