/**
 * Structured logs, one JSON object a line on standard error, so that standard output stays free for what a
 * command prints. A line names its component and never holds a program, arguments, results or a token.
 */
import { destination, pino } from 'pino';
import { loggedError } from './log-error.ts';

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** A log whose lines carry these fields too; by habit `{ component: 'pool' }`. */
  child(fields: Readonly<Record<string, unknown>>): Log;
}

export function createLog(options: { readonly service: string; readonly level: LogLevelName }): Log {
  return pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => loggedError(error) },
    },
    destination({ fd: 2, sync: true }),
  );
}

/** For tests and for libraries in process. */
export const silentLog: Log = pino({ level: 'silent' });
