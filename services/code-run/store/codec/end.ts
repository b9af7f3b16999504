/** How a run ended: value, message, position, logs. */
import type { RunResult } from '../../core/model.ts';
import type { Context } from '../../crypto/envelope.ts';
import type { RunRow } from '../rows.ts';
import { packTexts, unpackTexts } from './text.ts';

export function packEnd(result: RunResult): Buffer {
  if (result.tag === 'Completed' && result.valueJson !== undefined) {
    const { valueJson, ...rest } = result;
    return packTexts([JSON.stringify(rest), valueJson]);
  }
  return packTexts([JSON.stringify(result)]);
}

export function unpackEnd(packed: Buffer): RunResult {
  const [rest = '', valueJson] = unpackTexts(packed);
  const result = JSON.parse(rest) as RunResult;
  return result.tag === 'Completed' && valueJson !== undefined ? { ...result, valueJson } : result;
}

/** What is in clear beside a sealed end. */
export type FinalHead = Pick<
  RunRow,
  'id' | 'status' | 'epoch' | 'journalLength' | 'logLines' | 'updatedAtMs'
>;

/** A final run whose status, length of journal or time was changed is unreadable. */
export function endContext(run: FinalHead): Context {
  return ['end', run.id, run.status, run.epoch, run.journalLength, run.logLines, run.updatedAtMs];
}
