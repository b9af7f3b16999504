/** The first words of a child: it proves that it is one that was made, and says how it is locked. */
import { timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { childLimits } from '../../shared/limits.ts';
import { BodyReader, FrameError, FrameReader, fromChild, secretBytes } from '../isolate/frames.ts';
import { type LayerReport, layerNames } from '../jail/layers.ts';

const readyBytesMax = 16 * 1024;

/** Rings after so many milliseconds, unless what it gives is called before. */
export type Alarm = (ms: number, ring: () => void) => () => void;

export const systemAlarm: Alarm = (ms, ring) => {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
};

/** A child that is not ready by then is none. */
export class NotInTime extends Error {
  override readonly name = 'NotInTime';
}

/** What `making` gives; throws NotInTime where it takes too long. */
export async function inTime<T>(making: Promise<T>, alarm: Alarm): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const { readyMs } = childLimits;
  const silence = alarm(readyMs, () => reject(new NotInTime(`a child was not ready within ${readyMs} ms`)));
  try {
    return await Promise.race([making, promise]);
  } finally {
    silence();
  }
}

export interface ReadyFrame {
  readonly secret: Buffer;
  readonly layers: readonly LayerReport[];
}

/** Reads the ready frame; with `expected`, of that child alone. */
export function readReady(socket: Duplex, expected?: Buffer): Promise<ReadyFrame> {
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

function parse(bytes: Buffer): ReadyFrame {
  const body = new BodyReader(bytes);
  const secret = Buffer.from(body.bytes(secretBytes));
  const layers: unknown = JSON.parse(body.text(readyBytesMax));
  body.done();
  if (!Array.isArray(layers) || !layers.every(isLayerReport)) throw new FrameError('a lock without layers');
  return { secret, layers };
}

function isLayerReport(value: unknown): value is LayerReport {
  if (typeof value !== 'object' || value === null) return false;
  const { name, state, detail } = value as Readonly<Record<string, unknown>>;
  return (
    layerNames.some((known) => known === name) &&
    (state === 'held' || state === 'absent' || state === 'off') &&
    typeof detail === 'string'
  );
}
