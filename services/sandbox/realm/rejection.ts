/**
 * A rejection that nobody handled, as a line of the log. All that the host has of it is text, without the error's own
 * name and fields. But to write that text isolated-vm reads the error's stack, inside the isolate: where the program
 * had not read it before, the error is the one whose stack was formatted last, and can be described as any that a
 * program throws.
 */
import { describe } from './describe.ts';
import { indexOf, match, slice } from './primordials.ts';
import { lastFormattedAt } from './stack.ts';
import { cut } from './text.ts';

/** `text` is the stack of what was thrown, or the thing itself if it is no error. */
export function describeRejection(text: string, messageBytesMax: number): string {
  const position = match(/\n {4}at (?:[^\n]*\()?program:(\d+:\d+)/, text)?.[1] ?? '';
  const traceAt = indexOf(text, '\n    at ');
  const header = traceAt === -1 ? text : slice(text, 0, traceAt);
  const what = describeError(header, position, messageBytesMax) ?? cut(header, messageBytesMax);
  const where = position === '' ? '' : ` (program:${position})`;
  const advice = 'Await it, or catch its error.';
  return indexOf(what, '\n') === -1
    ? `A promise was rejected while nothing handled it: ${what}${where}. ${advice}`
    : `A promise was rejected while nothing handled it${where}: ${what}\n${advice}`;
}

/** Undefined if the error that is meant is not known. */
function describeError(header: string, position: string, messageBytesMax: number): string | undefined {
  const error = lastFormattedAt(position);
  if (error === undefined || !isAbout(header, error)) {
    return undefined;
  }
  const { name, message } = describe(error, messageBytesMax, false);
  return message === '' ? name : `${name}: ${message}`;
}

/** Whether a header, "name: message", may be that of an error, by its message: of its name the host may not know. */
function isAbout(header: string, error: object): boolean {
  let message: unknown;
  try {
    message = (error as { readonly message?: unknown }).message;
  } catch {
    return false;
  }
  const end = typeof message === 'string' ? `: ${message}` : undefined;
  return (
    end !== undefined && header.length >= end.length && slice(header, header.length - end.length) === end
  );
}
