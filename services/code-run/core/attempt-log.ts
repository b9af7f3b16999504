/**
 * The log lines of one attempt, and which of them are new to the core.
 *
 * G1  Lines are numbered from 0; the same program logs the same lines in every attempt.
 * G2  A line is streamed once over all attempts, as far as attempts know of each other.
 * G3  The sandbox keeps the budget of the text; here is only what a broken sandbox cannot pass.
 */
import { limits } from '../../shared/limits.ts';
import { utf8Bytes } from '../../shared/text.ts';
import type { LogLine } from './model.ts';

export type TakenLine =
  | { readonly tag: 'New' }
  | { readonly tag: 'Streamed' }
  | { readonly tag: 'Breach'; readonly detail: string };

/** Room beside the budget for the notes on what was cut and for the service's own warnings. */
const spareBytes = 2 * limits.logLineBytesMax;
/** What a line costs at least, so that empty lines cannot go on for ever. */
const lineBytesMin = 1;

export class AttemptLog {
  readonly #bytesMax: number;
  #lines: LogLine[] = [];
  #bytes = 0;
  #streamed: number;

  constructor(outputBytes: number, streamed: number) {
    this.#bytesMax = outputBytes + spareBytes;
    this.#streamed = streamed;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** Lines that the core was sent, by this attempt or an earlier one. */
  get streamed(): number {
    return this.#streamed;
  }

  /** The program runs again from the top. */
  restart(): void {
    this.#lines = [];
    this.#bytes = 0;
  }

  take(line: LogLine): TakenLine {
    if (line.index !== this.#lines.length) {
      return { tag: 'Breach', detail: `log line ${line.index} where ${this.#lines.length} was due` };
    }
    this.#bytes += Math.max(lineBytesMin, utf8Bytes(line.text));
    if (this.#bytes > this.#bytesMax) return { tag: 'Breach', detail: 'more log text than its budget' };
    this.#lines.push(line);
    if (line.index < this.#streamed) return { tag: 'Streamed' };
    this.#streamed = line.index + 1;
    return { tag: 'New' };
  }
}
