/**
 * An error as a log line may show it: what it is, where it came from, and its cause.
 *
 * E1  A message that the engine made from a value is withheld: JSON.parse quotes the text that it could not
 *     read, and that text may be a program, an argument or a result. Where it happened says enough.
 */

export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  /** Frames alone: the first line of a stack is the message again. */
  readonly stack: readonly string[];
  readonly cause?: LoggedError;
}

const framesMax = 20;
const causesMax = 4;

export function loggedError(error: unknown, depth = 0): LoggedError | undefined {
  if (error === undefined || depth > causesMax) return undefined;
  if (!(error instanceof Error)) return { type: typeof error, message: withheld, stack: [] };
  const code = 'code' in error ? error.code : undefined;
  const cause = loggedError(error.cause, depth + 1);
  return {
    type: error.name,
    message: quotesValues(error, code) ? withheld : error.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: framesOf(error),
    ...(cause === undefined ? {} : { cause }),
  };
}

const withheld = '(withheld)';

function quotesValues(error: Error, code: unknown): boolean {
  return error instanceof SyntaxError || (typeof code === 'string' && code.startsWith('ERR_INVALID_'));
}

function framesOf(error: Error): string[] {
  const { stack = '', message } = error;
  const at = stack.indexOf(message);
  // A message may look like frames, so that it is cut away as a whole.
  const after = at < 0 ? stack : stack.slice(at + message.length);
  return after
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim())
    .slice(0, framesMax);
}
