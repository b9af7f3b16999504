/**
 * The realm and the host's callback run on the same stack as the program. A program at the edge of its stack
 * must fail before the realm changes anything or the host writes half a message, so whatever must happen whole
 * proves room first: the engine checks that all arguments of a call fit before it pushes them.
 */
import { apply } from './primordials.ts';

/** Words of eight bytes; more than the realm and the host need below it. */
const words = 8192;
const load: readonly number[] = new Array(words).fill(0);
function nothing(): void {}

/** Throws the engine's RangeError unless 64 KiB of stack are left. */
export function needStackRoom(): void {
  apply(nothing, undefined, load as []);
}
