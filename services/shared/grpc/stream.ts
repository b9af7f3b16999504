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
interface Source<Raw> extends EventEmitter {
  readonly readableEnded: boolean;
  read(): Raw | null;
}

interface Sink extends EventEmitter {
  write(message: WireMessage): boolean;
}

/**
 * The messages of a stream, decoded one by one, until the peer half-closes. An error of the stream is thrown after the messages
 * that came before it, the reason of `signal` at once.
 */
export async function* readMessages<Raw, T>(
  stream: Source<Raw>,
  signal: AbortSignal,
  decode: (raw: Raw) => T,
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
      if (message !== null) yield decode(message);
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

/** Writes messages in the order in which they come. However many wait for room, they share one listener. */
export class MessageWriter {
  readonly #stream: Sink;
  readonly #signal: AbortSignal;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(stream: Sink, signal: AbortSignal) {
    this.#stream = stream;
    this.#signal = signal;
    const wake = () => {
      const room = this.#room;
      this.#room = undefined;
      if (signal.aborted) room?.reject(signal.reason);
      else room?.resolve();
    };
    stream.on('drain', wake).on('close', wake);
    signal.addEventListener('abort', wake, { once: true });
  }

  /** Resolves when another message may be written. Throws the reason of the signal when it aborts. */
  async write(message: WireMessage): Promise<void> {
    if (this.#signal.aborted) throw this.#signal.reason;
    if (this.#stream.write(message)) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }
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
