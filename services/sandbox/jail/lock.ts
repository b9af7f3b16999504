/**
 * The lock that a child puts on itself, layer by layer, before it hears of any program.
 *
 * K1  Everything that can be made beforehand is made in `prepareLock`; `apply` only calls the kernel.
 * K2  A layer that fails is reported with its reason and the rest goes on: the supervisor decides, before it
 *     gives a job.
 * K3  seccomp comes last, since the other layers need calls that it forbids.
 */
import { readFileSync } from 'node:fs';
import { listDescriptors, sealForked, sealStarted } from './descriptors.ts';
import { prepareLandlock } from './landlock.ts';
import type { LayerName, LayerReport, LayerState } from './layers.ts';
import { processorMs, setProcessorBudget } from './libc.ts';
import {
  clearHandlers,
  dropCapabilities,
  dropGroups,
  endWithParent,
  geteuid,
  getpid,
  must,
  prctl,
  setIds,
  setLimit,
} from './linux.ts';
import { prepareSeccomp } from './seccomp/install.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/** User and group "nobody". */
const nobody = 65_534;
const stackBytes = 8 * MiB;
/**
 * RLIMIT_DATA = what the process holds before the job + fixed + factor × memoryMb. The isolate's own limit
 * is soft: collecting, growing and copying take more for a while, and so do texts on their way in and out.
 */
const dataFixedBytes = 160 * MiB;
const dataFactor = 2;
/** With the JIT every isolate reserves code space that counts as data. */
const dataJitBytes = 1024 * MiB;

/**
 * RLIMIT_CPU = what the process has used + timeoutMs + this, in whole seconds. SIGPROF, which comes first, can be
 * blocked by who has escaped, in an argument that no filter sees; the SIGKILL of this limit cannot.
 */
const processorMarginMs = 1000;

const PR_SET_DUMPABLE = 4;
const PR_SET_NO_NEW_PRIVS = 38;

export interface LockOptions {
  readonly memoryMb: number;
  readonly jit: boolean;
  /** Forbidden calls are logged and let through. */
  readonly logOnly: boolean;
  readonly forked: boolean;
  /** Where the child's socket ends up. */
  readonly socketFd: number;
}

export interface Lock {
  /** `socket` is the child's socket now, `parent` the process whose end is its end. */
  apply(child: { socket: number; timeoutMs: number; parent: number }): readonly LayerReport[];
}

type Found = { readonly state: LayerState; readonly detail: string };

export function prepareLock(options: LockOptions): Lock {
  const descriptors = listDescriptors();
  const landlock = prepareLandlock();
  const seccomp = prepareSeccomp({ ...options, threads: !options.forked });
  const dataBytes =
    dataHeld() + dataFixedBytes + dataFactor * options.memoryMb * MiB + (options.jit ? dataJitBytes : 0);
  return {
    apply({ socket, timeoutMs, parent }) {
      const reports: LayerReport[] = [];
      const layer = (name: LayerName, put: () => Found) => void reports.push({ name, ...attempt(put) });
      layer('fresh-process', () => held(options.forked ? 'forked' : 'started'));
      layer('environment', () => {
        if (options.forked) sealForked(socket, options.socketFd, descriptors);
        else sealStarted(socket, descriptors);
        const left = Object.keys(process.env).filter((name) => name !== 'TZ' && name !== 'LANG');
        clearHandlers();
        return left.length === 0
          ? held('TZ and LANG, one socket, no signal handlers')
          : absent(`${left.length} variables more`);
      });
      layer('jitless', () =>
        options.jit
          ? { state: 'off', detail: 'the JIT is on: executable memory is allowed' }
          : held('--jitless'),
      );
      layer('identity', takeIdentity);
      layer('limits', () => {
        setLimit('CORE', 0);
        setLimit('FSIZE', 0);
        setLimit('DATA', dataBytes);
        setLimit('STACK', stackBytes);
        return held(
          `data ${Math.round(dataBytes / MiB)} MiB, stack ${stackBytes / MiB} MiB, no files, no core`,
        );
      });
      layer('processor-budget', () => {
        const seconds = Math.ceil((processorMs() + timeoutMs + processorMarginMs) / 1000);
        setLimit('CPU', seconds);
        setProcessorBudget(timeoutMs);
        return held(`ITIMER_PROF, and RLIMIT_CPU ${seconds} s`);
      });
      layer('no-new-privileges', () => {
        must('no_new_privs', prctl(PR_SET_NO_NEW_PRIVS, 1));
        must('dumpable', prctl(PR_SET_DUMPABLE, 0));
        endWithParent(parent);
        return held('no_new_privs, not dumpable, ends with its parent');
      });
      layer('landlock', () => {
        if (landlock.abi === 0) return absent(`not in this kernel: ${landlock.reason}`);
        landlock.apply();
        return held(`ABI ${landlock.abi}`);
      });
      layer('no-descriptors', () => {
        setLimit('NOFILE', 0);
        return held('RLIMIT_NOFILE 0');
      });
      layer('seccomp', () => {
        seccomp.apply(getpid());
        const detail = `${seccomp.instructions} instructions`;
        return options.logOnly ? { state: 'off', detail: `${detail}, but only logging` } : held(detail);
      });
      return reports;
    },
  };
}

/** Nobody, without groups and capabilities; or whoever it is already, if that is not root. */
function takeIdentity(): Found {
  const was = geteuid();
  if (was === 0) {
    dropGroups();
    setIds(nobody, nobody);
  }
  dropCapabilities();
  const now = geteuid();
  if (now === 0) return absent('still root: this host has no other user to become');
  return held(was === 0 ? `user ${now}` : `already user ${now}, the same as the supervisor`);
}

function attempt(put: () => Found): Found {
  try {
    return put();
  } catch (error) {
    return absent(error instanceof Error ? error.message : String(error));
  }
}

/** Bytes of private writable memory that the process has now. */
function dataHeld(): number {
  const match = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'));
  if (match === null) throw new Error('/proc/self/status does not say VmData');
  return Number(match[1]) * KiB;
}

function held(detail: string): Found {
  return { state: 'held', detail };
}

function absent(detail: string): Found {
  return { state: 'absent', detail };
}
