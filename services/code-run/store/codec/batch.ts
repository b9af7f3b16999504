/** The entries of one append. */
import type { JournalEntry } from '../../core/model.ts';
import type { Context } from '../../crypto/envelope.ts';
import type { BatchHead } from '../rows.ts';
import { packTexts, unpackTexts } from './text.ts';

/** Each entry without its JSON text in one JSON array; then the texts, in the order of the entries. */
export function packEntries(entries: readonly JournalEntry[]): Buffer {
  const texts: string[] = [];
  const heads = entries.map((entry) => {
    if (entry.kind === 'Called') {
      const { argumentsJson, ...head } = entry;
      texts.push(argumentsJson);
      return head;
    }
    if (entry.outcome.tag === 'Completed') {
      texts.push(entry.outcome.valueJson);
      return { ...entry, outcome: { tag: 'Completed' } };
    }
    return entry;
  });
  return packTexts([JSON.stringify(heads), ...texts]);
}

export function unpackEntries(packed: Buffer): JournalEntry[] {
  const [heads = '', ...texts] = unpackTexts(packed);
  let at = 0;
  const nextText = () => {
    const text = texts[at++];
    if (text === undefined) {
      throw new RangeError('a text of a batch is missing');
    }
    return text;
  };
  return (JSON.parse(heads) as JournalEntry[]).map((head): JournalEntry => {
    if (head.kind === 'Called') {
      return { ...head, argumentsJson: nextText() };
    }
    return head.outcome.tag === 'Completed'
      ? { ...head, outcome: { tag: 'Completed', valueJson: nextText() } }
      : head;
  });
}

export function batchContext(head: BatchHead): Context {
  const { runId, slot, kind, epoch, first, count, logLines, atMs } = head;
  return ['journal', runId, slot, kind, epoch, first, count, logLines, atMs];
}
