/**
 * Whether a new call is one that the sandbox may ask for. A program cannot make others, so what fails here is
 * a broken sandbox.
 */
import type { CallLimits } from '../../shared/limits.ts';
import { exceedsUtf8 } from '../../shared/text.ts';
import type { Binding, IssuedCall } from './model.ts';
import { isJson } from './outcome.ts';

/** What is wrong with it; undefined if nothing is. */
export function issuedBreach(
  call: IssuedCall,
  bindings: ReadonlyMap<string, Binding>,
  { callsMax, argumentsBytesMax }: CallLimits,
): string | undefined {
  if (call.index >= callsMax) return `more than ${callsMax} calls`;
  if (!bindings.has(call.binding)) return 'a call of a name that the run does not have';
  if (exceedsUtf8(call.argumentsJson, argumentsBytesMax)) return 'arguments over their limit';
  return isJson(call.argumentsJson) ? undefined : 'arguments that are not JSON';
}
