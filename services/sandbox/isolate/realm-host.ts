/**
 * An isolate with the realm in it, and the only crossing between the two: text and numbers, by synchronous
 * calls on the main thread. No handle of this side is ever in reach of a program.
 *
 * H1  isolated-vm's `timeout` is never used: it starts a thread, which a fork does not take along.
 * H2  `onCatastrophicError` stays unset: an isolate that cannot go on ends the process, and that is a fact.
 */
import ivm from 'isolated-vm';
import { type Emit, emitKind, type RealmApi } from '../realm/contract.ts';
import { locateSyntaxError } from './locate-syntax-error.ts';

export interface RealmHost extends RealmApi {
  /** The isolate went over its memory limit and is gone. */
  readonly disposed: boolean;
  /** Bytes that the isolate holds now; 0 once it is gone. */
  memoryBytes(): number;
}

export function createRealmHost(realmText: string, memoryMb: number, emit: Emit): RealmHost {
  const isolate = new ivm.Isolate({ memoryLimit: memoryMb });
  const context = isolate.createContextSync();
  const answer: Emit = (kind, a, b, c, d) =>
    kind === emitKind.locate ? locateSyntaxError(isolate, b) : emit(kind, a, b, c, d);
  const api = context.evalClosureSync(realmText, [new ivm.Callback(answer)], {
    result: { reference: true },
    filename: 'realm',
  });
  const reference = (name: keyof RealmApi) => api.getSync(name, { reference: true });
  const start = reference('start');
  const settle = reference('settle');
  const unhandled = reference('unhandled');
  const settleRefused = reference('settleRefused');
  const rest = reference('rest');
  return {
    start: (jobJson, program) => start.applySync(undefined, [jobJson, program]),
    settle: (index, kind, a, b) => settle.applySync(undefined, [index, kind, a, b]) === true,
    unhandled: (text) => unhandled.applySync(undefined, [text]),
    settleRefused: () => settleRefused.applySync(undefined, []),
    rest: () => Number(rest.applySync(undefined, [])),
    get disposed() {
      return isolate.isDisposed;
    },
    memoryBytes() {
      if (isolate.isDisposed) return 0;
      const heap = isolate.getHeapStatisticsSync();
      return heap.used_heap_size + heap.externally_allocated_size;
    },
  };
}
