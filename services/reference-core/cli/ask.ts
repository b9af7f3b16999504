/** Puts decisions to the person in front of the terminal. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { CallToDecide, Decider, Verdict } from '../operations/decider.ts';
import { oneLine, printable, type Terminal } from './terminal.ts';

export interface Input extends Readable {
  readonly isTTY?: boolean;
}

const choices = '[y]es, [n]o (n <why>), [a]ll of them, [s]how everything';

/** Asks where a person sits at the input; elsewhere there is nobody. */
export function terminalAsk(input: Input, terminal: Terminal): Decider['ask'] {
  return async ({ code, calls }, signal) => {
    if (input.isTTY !== true) return undefined;
    // Without an output of its own the terminal echoes what is typed, and nothing else is written.
    const lines = createInterface({ input, terminal: false });
    // Lines that were typed ahead wait in the iterator.
    const typed = lines[Symbol.asyncIterator]();
    const stopped = rejectionOf(signal);
    const read = async () => (await Promise.race([typed.next(), stopped])).value;
    try {
      const verdicts: Verdict[] = [];
      terminal.note(terminal.style('bold', `The program waits for ${countOf(calls.length)}:`));
      let all = false;
      for (const [index, call] of calls.entries()) {
        terminal.note(
          `${index + 1}. ${terminal.style('cyan', call.binding)} ${oneLine(call.argumentsJson, 200)}`,
        );
        if (all) {
          verdicts.push({ tag: 'Allow' });
          continue;
        }
        const answer = await answerOf(read, terminal, call, code);
        if (answer === undefined) return undefined;
        all = answer === 'all';
        verdicts.push(answer === 'all' ? { tag: 'Allow' } : answer);
      }
      return verdicts;
    } finally {
      lines.close();
    }
  };
}

/** Undefined: the input ended. */
async function answerOf(
  read: () => Promise<string | undefined>,
  terminal: Terminal,
  call: CallToDecide,
  code: string,
): Promise<Verdict | 'all' | undefined> {
  for (;;) {
    terminal.note(`   ${choices}`);
    const line = await read();
    if (line === undefined) return undefined;
    const [choice = '', ...why] = line.trim().split(/\s+/);
    switch (choice.toLowerCase()) {
      case 'y':
      case 'yes':
        return { tag: 'Allow' };
      case 'a':
      case 'all':
        return 'all';
      case 'n':
      case 'no':
        return { tag: 'Deny', message: why.join(' ') || 'the person in front of the terminal said no' };
      case 's':
      case 'show':
        terminal.note(`${printable(code)}\n\n${call.source.connectionName} / ${call.source.name}`);
        terminal.note(printable(JSON.stringify(JSON.parse(call.argumentsJson), null, 2)));
        break;
      default:
    }
  }
}

/** Rejects with the reason of `signal` once it aborts. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  const rejection = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // Nobody may be reading when it comes.
  rejection.catch(() => {});
  return rejection;
}

function countOf(calls: number): string {
  return calls === 1 ? 'a decision' : `${calls} decisions`;
}
