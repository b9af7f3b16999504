/**
 * The realm: what runs inside the isolate around a program. Evaluating it prepares the global object; `start`
 * compiles and runs one program in it, once.
 *
 * R1  The run ends when the program has ended and every call it issued has settled. Only `rest` emits the end,
 *     when nothing is left to run.
 * R2  The returned value is written as JSON in the moment in which the program returns.
 * R3  A program that has not ended and waits for no call can never go on: it ends at once, as an error.
 */
import { installAbsent } from './absent.ts';
import { installApps } from './apps.ts';
import { openCalls, refusedCalls, settleCall, settleRefused, unsettledCalls } from './calls.ts';
import { installClock, setNow } from './clock.ts';
import { installConsole, openConsole } from './console.ts';
import { type Emit, emitKind, type RealmApi, type RealmJob, restKind } from './contract.ts';
import { describe } from './describe.ts';
import { installFunctionText, setProgramText } from './function-text.ts';
import { installHelpers } from './helpers.ts';
import { lossInResult, resultToJson } from './json.ts';
import { closeLog, level, openLog, writeLog } from './log.ts';
import { indexOf, jsonParse, whenSettled } from './primordials.ts';
import { compile, countLines, describeSyntaxError, type Program, returnPosition } from './program.ts';
import { installRandom, seedRandom } from './random.ts';
import { describeRejection } from './rejection.ts';
import { removeBuiltIns } from './removed.ts';
import { lockStacks, setProgram } from './stack.ts';
import { utf8Bytes } from './text.ts';

/** What `rest` emits, once every call has settled. */
type End = readonly [kind: number, a: number, b: string, c: string, d: string];

export function create(emit: Emit): RealmApi {
  let end: End | undefined;
  let ended = false;
  let job: RealmJob;
  let text = '';

  removeBuiltIns();
  installClock();
  installRandom();
  installConsole();
  installHelpers();
  installFunctionText();
  lockStacks();

  function start(jobJson: string, program: string): void {
    job = jsonParse(jobJson) as RealmJob;
    setNow(job.createdAtMs);
    seedRandom(job.seed);
    openLog(emit, job.logLineBytesMax, job.outputBytes);
    openConsole(job.logLineBytesMax);
    openCalls(emit, job);
    text = program;
    setProgramText(program);
    setProgram(countLines(program), job.columnShifts);
    installApps(job.bindings);
    let run: Program;
    try {
      run = compile(program);
    } catch (error) {
      const { name, message, position } = describeSyntaxError(error, program, emit, job.messageBytesMax);
      end = [emitKind.threw, 0, name, message, position];
      return;
    }
    installAbsent(program);
    whenSettled(run(), returned, threw);
  }

  function returned(value: unknown): void {
    let json: string | undefined;
    try {
      json = resultToJson(value, job.jsonDepthMax);
    } catch (error) {
      const { name, message, position } = describe(error, job.messageBytesMax, false);
      end = [emitKind.threw, 0, name, message, position || returnPosition(text)];
      return;
    }
    if (json === undefined) {
      if (typeof value === 'function') {
        writeLog(level.warn, 'The program returned a function, which is no value: call it.');
      }
      end = [emitKind.returnedUndefined, 0, '', '', ''];
      return;
    }
    const bytes = utf8Bytes(json);
    if (bytes > job.outputBytes) {
      end = [emitKind.outputTooLarge, bytes, '', '', ''];
      return;
    }
    end = [emitKind.returned, 0, json, '', ''];
    if (indexOf(json, '{}') !== -1) {
      const loss = lossInResult(value);
      if (loss !== undefined) {
        const position = returnPosition(text);
        writeLog(level.warn, position === '' ? `${loss}.` : `${loss} (program:${position}).`);
      }
    }
  }

  function threw(thrown: unknown): void {
    const { name, message, position } = describe(thrown, job.messageBytesMax, unsettledCalls() > 0);
    end = [emitKind.threw, 0, name, message, position];
  }

  function rest(): number {
    if (ended) {
      return restKind.ended;
    }
    if (refusedCalls() > 0) {
      return restKind.refused;
    }
    if (unsettledCalls() > 0) {
      return restKind.waiting;
    }
    end ??= [
      emitKind.threw,
      0,
      'Error',
      'The program waits for a promise that nothing can settle: no call is outstanding, and there are no timers.',
      '',
    ];
    ended = true;
    closeLog();
    emit(end[0], end[1], end[2], end[3], end[4]);
    return restKind.ended;
  }

  function unhandled(text: string): void {
    writeLog(level.warn, describeRejection(text, job.messageBytesMax));
  }

  return { __proto__: null, start, settle: settleCall, settleRefused, unhandled, rest } as RealmApi;
}
