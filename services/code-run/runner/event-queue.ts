/**
 * A queue between one that pushes and one that reads with `for await`. What bounds it is the pusher: a run
 * has a bounded number of calls in flight and a budget for its log.
 */
export class EventQueue<T> implements AsyncIterableIterator<T, undefined> {
  #items: T[] = [];
  #head = 0;
  #end: { readonly error?: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  readonly #onAbandon: () => void;
  readonly #onRead: () => void;

  /** `onAbandon` is called when the reader leaves before the end; `onRead` then too, and when it comes to the end. */
  constructor(onAbandon: () => void = () => {}, onRead: () => void = () => {}) {
    this.#onAbandon = onAbandon;
    this.#onRead = onRead;
  }

  push(item: T): void {
    if (this.#end !== undefined) return;
    const reader = this.#takeReader();
    if (reader === undefined) this.#items.push(item);
    else reader.resolve({ done: false, value: item });
  }

  /** No more comes; with an error, reading throws it after what is queued. */
  close(end: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const reader = this.#takeReader();
    if (reader === undefined) return;
    this.#onRead();
    if ('error' in end) reader.reject(end.error);
    else reader.resolve({ done: true, value: undefined });
  }

  /** Takes back what is queued and not read yet. */
  retract(isVoid: (item: T) => boolean): void {
    this.#items = this.#items.slice(this.#head).filter((item) => !isVoid(item));
    this.#head = 0;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#items.length) {
      const value = this.#items[this.#head] as T;
      this.#head += 1;
      if (this.#head === this.#items.length) this.retract(() => false);
      return Promise.resolve({ done: false, value });
    }
    if (this.#end === undefined) {
      this.#reader = Promise.withResolvers();
      return this.#reader.promise;
    }
    this.#onRead();
    if (!('error' in this.#end)) return Promise.resolve({ done: true, value: undefined });
    const { error } = this.#end;
    this.#end = {};
    return Promise.reject(error);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    const open = this.#end === undefined;
    this.#items = [];
    this.#head = 0;
    this.close();
    if (open) this.#onAbandon();
    this.#onRead();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader(): PromiseWithResolvers<IteratorResult<T, undefined>> | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
