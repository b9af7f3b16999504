/** Lets at most `max` tasks run at once; more queue in order. */
export class Gate {
  readonly #max: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running += 1;
    // A place is handed over as it is: the one that ends does not count down.
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
