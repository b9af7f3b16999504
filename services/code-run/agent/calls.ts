/**
 * The calls of a run as an agent reads them: what was done stays done, so the list says what came of each. Calls
 * in a row that went the same way share a line.
 */
import type { JournalEntry, Outcome } from '../core/model.ts';
import { clip } from './clip.ts';

type Called = Extract<JournalEntry, { kind: 'Called' }>;

interface Row {
  readonly first: Called;
  readonly count: number;
  readonly outcome: string;
}

const messageBytesMax = 300;
/** A larger result is not looked into for isError. */
const readCharactersMax = 16 * 1024;

export function countCalls(journal: readonly JournalEntry[]): number {
  return journal.filter((entry) => entry.kind === 'Called').length;
}

export function countDenied(journal: readonly JournalEntry[]): number {
  return journal.filter((entry) => entry.kind === 'Settled' && entry.outcome.tag === 'Denied').length;
}

/** One line for each call or group of calls. `waiting` are the indexes of calls that wait for a decision. */
export function callLines(journal: readonly JournalEntry[], waiting: ReadonlySet<number>): string[] {
  const outcomes = new Map<number, Outcome>();
  for (const entry of journal) if (entry.kind === 'Settled') outcomes.set(entry.index, entry.outcome);
  const rows: Row[] = [];
  for (const entry of journal) {
    if (entry.kind !== 'Called') continue;
    const outcome = outcomeText(outcomes.get(entry.index), waiting.has(entry.index));
    const last = rows.at(-1);
    if (last?.first.binding === entry.binding && last.outcome === outcome) {
      rows[rows.length - 1] = { ...last, count: last.count + 1 };
    } else {
      rows.push({ first: entry, count: 1, outcome });
    }
  }
  return rows.map(rowText);
}

function rowText({ first, count, outcome }: Row): string {
  const indexes = count === 1 ? `${first.index}` : `${first.index}-${first.index + count - 1}`;
  const line = first.line === 0 ? '' : ` (line ${first.line})`;
  return `${indexes} ${first.binding}${line}: ${count === 1 ? '' : `${count} times `}${outcome}`;
}

function outcomeText(outcome: Outcome | undefined, isWaiting: boolean): string {
  if (outcome === undefined) return isWaiting ? 'waits for a decision' : 'sent, no outcome';
  switch (outcome.tag) {
    case 'Completed':
      return completedText(outcome.valueJson);
    case 'Failed':
      return `failed, ${outcome.reason}: ${clip(outcome.message, messageBytesMax)}`;
    case 'Denied':
      return `denied: ${clip(outcome.message, messageBytesMax)}`;
    case 'InputRequired':
      return 'needs more input, to be given to the app operation';
  }
}

/** A tool that failed in its own terms says why in its content. */
function completedText(valueJson: string): string {
  if (valueJson.length > readCharactersMax || !valueJson.includes('"isError"')) return 'done';
  const value: unknown = JSON.parse(valueJson);
  if (typeof value !== 'object' || value === null || !('isError' in value) || value.isError !== true)
    return 'done';
  const [first] = 'content' in value && Array.isArray(value.content) ? value.content : [];
  const why = typeof first?.text === 'string' ? `: ${clip(first.text, messageBytesMax)}` : '';
  return `done, but the app says isError${why}`;
}
