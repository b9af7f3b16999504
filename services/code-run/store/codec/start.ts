/** What is fixed when a run starts and is not for everyone's eyes: program, reason, bindings, limits. */
import { initialCallLimits } from '../../../shared/limits.ts';
import type { NewRun } from '../../core/model.ts';
import type { Context } from '../../crypto/envelope.ts';
import type { RunRow } from '../rows.ts';
import { packTexts, unpackTexts } from './text.ts';

type StartFields = Pick<NewRun, 'code' | 'reason' | 'program' | 'bindings' | 'limits'>;

export function packStart({ code, reason, program, bindings, limits }: StartFields): Buffer {
  const rest = { columnShifts: program.columnShifts, bindings, limits };
  return packTexts([JSON.stringify(rest), code, reason, program.text]);
}

export function unpackStart(packed: Buffer): StartFields {
  const [rest = '', code = '', reason = '', text = ''] = unpackTexts(packed);
  const { columnShifts, bindings, limits } = JSON.parse(rest) as Pick<NewRun, 'bindings' | 'limits'> &
    Pick<NewRun['program'], 'columnShifts'>;
  // A run that was stored before its calls had limits of their own has those that all had then.
  return {
    code,
    reason,
    program: { text, columnShifts },
    bindings,
    limits: { ...initialCallLimits, ...limits },
  };
}

/** Moving a run to another session, owner or call makes it unreadable. */
export function startContext(
  run: Pick<RunRow, 'id' | 'session' | 'turn' | 'callId' | 'owner' | 'createdAtMs'>,
): Context {
  return ['start', run.id, run.session, run.turn, run.callId, run.owner, run.createdAtMs];
}
