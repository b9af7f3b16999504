/**
 * Both directions of a grpc-js stream with back-pressure, by events.
 *
 * T1  The stream is never destroyed by reading it: `for await` over the stream itself would destroy a duplex
 *     when reading ends, and a reply would be lost.
 * T2  At most the stream's own high-water mark is buffered: what is not read is not fetched, and a write
 *     waits for `drain`.
 */
import type { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { WireMessage } from './codec.ts';

/** What is used of a stream to read from; grpc-js types its streams in a way of its own. */
interface Source<T> extends EventEmitter {
  readonly readableEnded: boolean;
  read(): T | null;
}

interface Sink extends EventEmitter {
  write(message: WireMessage): boolean;
}

/**
 * The messages of a stream until the peer half-closes. An error of the stream is thrown after the messages
 * that came before it, the reason of `signal` at once.
 */
export async function* readMessages<T>(
  stream: Source<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, void> {
  const waiter = new Waiter();
  let ended = stream.readableEnded;
  let failure: unknown;
  const onReadable = () => waiter.wake();
  const onEnd = () => {
    ended = true;
    waiter.wake();
  };
  const onError = (error: unknown) => {
    failure ??= error;
    waiter.wake();
  };
  const onAbort = () => waiter.wake();
  stream.on('readable', onReadable).on('end', onEnd).on('error', onError);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const message = stream.read();
      if (message !== null) yield message;
      else if (failure !== undefined) throw failure;
      else if (ended) {
        // A reset of the stream shows as an end first and as a cancel only in the next turn.
        await setImmediate();
        if (signal.aborted) throw signal.reason;
        return;
      } else await waiter.wait();
    }
  } finally {
    stream.off('readable', onReadable).off('end', onEnd).off('error', onError);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Writes one message; resolves when another may be written. Throws the reason of `signal` when it aborts. */
export function writeMessage(stream: Sink, message: WireMessage, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    if (stream.write(message)) return resolve();
    const settle = () => {
      stream.off('drain', settle).off('close', settle);
      signal.removeEventListener('abort', settle);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    stream.on('drain', settle).on('close', settle);
    signal.addEventListener('abort', settle, { once: true });
  });
}

/** Wakes one waiting loop; a wake-up without a waiter is kept. */
class Waiter {
  #pending = false;
  #wake: (() => void) | undefined;

  wake(): void {
    if (this.#wake === undefined) {
      this.#pending = true;
      return;
    }
    this.#wake();
    this.#wake = undefined;
  }

  wait(): Promise<void> {
    if (this.#pending) {
      this.#pending = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
