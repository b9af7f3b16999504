/** Where the command line writes. The result goes to `out` alone, so that it can be piped; all else to `err`. */
import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export class Terminal {
  readonly #out: Sink;
  readonly #err: Sink;

  constructor(out: Sink, err: Sink) {
    this.#out = out;
    this.#err = err;
  }

  /** A line of the result. */
  result(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** A line about what happens. */
  note(text: string): void {
    this.#err.write(`${text}\n`);
  }

  /** Colours only where a person looks on. NO_COLOR is honoured. */
  style(style: Style, text: string): string {
    return this.#err.isTTY === true && !process.env['NO_COLOR']
      ? styleText(style, text, { validateStream: false })
      : text;
  }
}

/** Text of an app or a program on one line, without anything that could steer the terminal. */
export function oneLine(text: string, most: number): string {
  const plain = printable(text).replace(/\s+/g, ' ');
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}…`;
}

/** Text without control characters but for line breaks and tabs. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
