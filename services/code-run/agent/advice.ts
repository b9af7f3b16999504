/**
 * What an agent should do about a failure, where its message alone does not say so: each way in which a program can
 * go wrong leads to a next step. Pure.
 */
import { unreachable } from '../../shared/unreachable.ts';
import type { CallFailureReason, FailureReason, JournalEntry, Outcome, StoredRun } from '../core/model.ts';
import type { RunRecord } from '../runner/contract.ts';
import { codeApiName, runCodeName } from './tools.ts';

export function adviceFor({ run, journal }: RunRecord, reason: FailureReason, message: string): string[] {
  switch (reason) {
    case 'Error':
      // No attempt: it could not be understood, or did not pass the check.
      if (run.attempts.length === 0) return ['Nothing ran.'];
      return [...callAdvice(journal, message), ...nameAdvice(run, message), ...valueAdvice(journal, message)];
    case 'ReplayMismatch':
      return [
        'After a wait the program runs again from the top and must make the same calls, with the same arguments.',
        'Start a new program for what is left to do.',
      ];
    case 'Unavailable':
      return ['This is not the fault of the program.'];
    case 'Timeout':
    case 'Memory':
    case 'OutputTooLarge':
    case 'Cancelled':
      return [];
    default:
      return unreachable(reason);
  }
}

/** What helps with the error of a call that the program did not catch. */
function callAdvice(journal: readonly JournalEntry[], message: string): string[] {
  const settled = journal.findLast((entry) => entry.kind === 'Settled' && isErrorOf(entry.outcome, message));
  const called = journal.find((entry) => entry.kind === 'Called' && entry.index === settled?.index);
  if (settled?.kind !== 'Settled' || called?.kind !== 'Called') return [];
  const { outcome } = settled;
  switch (outcome.tag) {
    case 'Denied':
      return ['A decider did not allow this call. Do not try it in another way; ask first.'];
    case 'InputRequired':
      return ['The app needs more input. It is given to the app operation, outside the code.'];
    case 'Failed':
      return [failedCallAdvice(called.binding, outcome.reason)];
    default:
      return [];
  }
}

/** Whether the outcome is what the program ended with. */
function isErrorOf(outcome: Outcome, message: string): boolean {
  switch (outcome.tag) {
    case 'Denied':
      return message.startsWith('AppCallDenied') && message.includes(outcome.message);
    case 'Failed':
      return message.startsWith('AppCallFailed') && message.includes(outcome.message);
    case 'InputRequired':
      return message.startsWith('AppInputRequired');
    case 'Completed':
      return false;
    default:
      return unreachable(outcome);
  }
}

function failedCallAdvice(binding: string, reason: CallFailureReason): string {
  switch (reason) {
    case 'InvalidArguments':
      return `Compare the arguments with the declaration: openbot_code_api {"binding": "${binding}"}.`;
    case 'OutcomeUnknown':
      return 'Nobody knows whether this call was performed: read the state from the app before you call again.';
    case 'NotFound':
      return `${binding} is gone: openbot_code_api shows what there is now.`;
    case 'Timeout':
    case 'Unavailable':
    case 'Cancelled':
    case 'Internal':
    case 'ToolError':
      return `${binding} failed (${reason}). Where the program can go on without it, catch the error.`;
    case 'ResultTooLarge':
      return `The result of ${binding} is too large: ask for less, or page by page.`;
    default:
      return unreachable(reason);
  }
}

/** Connections that are named as what there is. */
const connectionsShownMax = 10;

/** A name that is nowhere, and none of apps either, since the message would say so: what was meant. */
function nameAdvice({ code, bindings }: StoredRun, message: string): string[] {
  const [, called] = /^TypeError: (apps(?:\.[\w$]+)?) is not a function$/.exec(message) ?? [];
  if (called !== undefined) {
    return [
      'Call a function of a connection: apps.<connection>.<function>({ … }), or apps.call("connection.function", { … }).',
    ];
  }
  const [, name] = /^ReferenceError: ([\p{ID_Continue}$]+) is not defined$/u.exec(message) ?? [];
  if (name === undefined) return [];
  if (name === codeApiName || name === runCodeName) {
    return [`${name} is a tool of its own, beside this one. A program calls apps alone.`];
  }
  if (new RegExp(`(?<![.\\w$])${RegExp.escape(name)}\\s*=(?![=>])`).test(code)) {
    return [`A variable must be declared: const ${name} = …`];
  }
  const connections = [...new Set(bindings.map(({ connection }) => `apps.${connection}`))];
  const shown = connections.slice(0, connectionsShownMax).join(', ');
  const more = connections.length > connectionsShownMax ? ', …' : '';
  return [`A program has the language, console and apps: ${shown}${more}.`];
}

/** What a value leads to that is not what the program takes it for. */
const otherValue =
  /^TypeError: (?:Cannot (?:read|set) properties of (?:undefined|null)|.* is not iterable|[^ ]+\.[^ ]+ is not a function|Cannot destructure)/;
/** The errors of JSON.parse. */
const otherText = /^SyntaxError: .*JSON/;

/** Most often the result of a call is not what the program takes it for. */
function valueAdvice(journal: readonly JournalEntry[], message: string): string[] {
  const isOther = otherValue.test(message) && !message.startsWith('TypeError: apps');
  // A message that goes on says what to do.
  if ((!isOther && !otherText.test(message)) || /\. [A-Z]/.test(message)) return [];
  const last = journal.findLast((entry) => entry.kind === 'Called');
  if (last?.kind !== 'Called') return [];
  return [
    `Look at what ${last.binding} gives before you use it: console.log it, or ${codeApiName} {"binding": "${last.binding}"}.`,
  ];
}
