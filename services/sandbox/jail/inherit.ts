/**
 * Lets every fork of this process inherit all of its memory. V8 marks each page that it makes as one that no fork
 * inherits, and may make one at any moment: also behind the last moment in which JavaScript could undo the marks,
 * and before the fork. A child without such a page crashes.
 *
 * I1  From `inheritMemory` on, marking does nothing: a filter answers in the kernel's place. So the marks are
 *     undone once, behind that, and for good.
 * I2  Children keep this filter beside their own. It lets everything else through.
 */
import { readFileSync } from 'node:fs';
import { architecture, madvise, must, prctl } from './linux.ts';
import { prepareFilter } from './seccomp/install.ts';
import { unmarkedFilter } from './seccomp/unmarked.ts';

const PR_SET_NO_NEW_PRIVS = 38;
const MADV_DOFORK = 11;
const firstAddress = 0x1_0000n;

/** Throws LibcError where the kernel takes no filter. */
export function inheritMemory(): void {
  must('no_new_privs', prctl(PR_SET_NO_NEW_PRIVS, 1)); // Without it a filter needs privileges.
  prepareFilter(unmarkedFilter(architecture))();
  for (const { start, end } of inheritableRanges(readFileSync('/proc/self/maps', 'latin1'))) {
    // An error when it meets a hole, and it has done its work.
    madvise(start, end - start, MADV_DOFORK);
  }
}

interface AddressRange {
  readonly start: bigint;
  readonly end: bigint;
}

/**
 * What lies below and between the kernel's own pages and the stack, which are always inherited, from the text of
 * /proc/self/maps. At the kernel's own pages it would stop; where they lie depends on the layout: without a limit
 * of the stack, amid everything else.
 */
function inheritableRanges(maps: string): readonly AddressRange[] {
  const ranges: AddressRange[] = [];
  let start = firstAddress;
  for (const [, from = '', to = ''] of maps.matchAll(
    /^([0-9a-f]+)-([0-9a-f]+) .*\[(?:vvar|vvar_vclock|vdso|stack)\]$/gm,
  )) {
    const end = BigInt(`0x${from}`);
    if (end > start) ranges.push({ start, end });
    start = BigInt(`0x${to}`);
  }
  return ranges;
}
