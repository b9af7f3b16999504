/**
 * The host of a realm for tests, as a process of its own with the flags that the sandbox uses: isolated-vm then
 * runs on a main thread with a fixed stack and without a JIT. The first line in is the realm's text. Each other
 * asks, in JSON, for one program in a fresh isolate; one line out says what came of it. A request lists how its calls settle, in that order.
 */
import { createInterface } from 'node:readline';
import ivm from 'isolated-vm';
import { locateSyntaxError } from '../../../services/sandbox/isolate/locate-syntax-error.ts';
import { rejectionText } from '../../../services/sandbox/isolate/rejection-text.ts';
import { emitKind, logLevels, type RealmApi, restKind } from '../../../services/sandbox/realm/contract.ts';
import { type Outcome, type Request, type Transcript, toLine } from './protocol.ts';

function run(realmText: string, request: Request): Transcript {
  const isolate = new ivm.Isolate({ memoryLimit: request.memoryMb });
  try {
    return runIn(isolate, realmText, request);
  } finally {
    isolate.dispose();
  }
}

function runIn(isolate: ivm.Isolate, realmText: string, request: Request): Transcript {
  const transcript: Transcript = { calls: [], logs: [], ends: [], rests: 0, unhandled: 0 };
  const emit = new ivm.Callback((kind: number, a: number, b: string, c: string, d: string) => {
    switch (kind) {
      case emitKind.call:
        transcript.calls.push({ index: a, binding: b, argumentsJson: c, position: d });
        return;
      case emitKind.log:
        transcript.logs.push({ level: logLevels[a] ?? `level ${a}`, text: b });
        return;
      case emitKind.locate:
        return locateSyntaxError(isolate, b);
      default:
        transcript.ends.push({ kind, a, b, c, d });
        return;
    }
  });
  const context = isolate.createContextSync();
  const api = context.evalClosureSync(realmText, [emit], { result: { reference: true }, filename: 'realm' });
  const method = (name: keyof RealmApi) => api.getSync(name, { reference: true });
  const [start, settle, settleRefused, rest, unhandled] = [
    method('start'),
    method('settle'),
    method('settleRefused'),
    method('rest'),
    method('unhandled'),
  ];
  const enter = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      transcript.unhandled += 1;
      unhandled.applySync(undefined, [rejectionText(error)]);
    }
  };
  const step = (act: () => void): boolean => {
    enter(act);
    transcript.rests += 1;
    for (;;) {
      const kind: unknown = rest.applySync(undefined, []);
      if (kind !== restKind.refused) return kind === restKind.ended;
      enter(() => settleRefused.applySync(undefined, []));
    }
  };

  const outcomes = [...request.outcomes];
  let ended = step(() => start.applySync(undefined, [JSON.stringify(request.job), request.program]));
  let next = 0;
  while (!ended) {
    const index = request.order?.[next] ?? next;
    const outcome: Outcome = outcomes[index] ?? {
      kind: 1,
      a: transcript.calls[index]?.argumentsJson ?? 'null',
      b: '',
    };
    next += 1;
    ended = step(() => {
      if (settle.applySync(undefined, [index, outcome.kind, outcome.a, outcome.b]) !== true) {
        throw new Error(`call ${index} is not outstanding`);
      }
    });
  }
  return transcript;
}

let realmText: string | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  if (realmText === undefined) {
    realmText = JSON.parse(line) as string;
  } else {
    process.stdout.write(toLine(run(realmText, JSON.parse(line) as Request)));
  }
}
