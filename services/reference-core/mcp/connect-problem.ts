/**
 * Why a connection to an MCP server did not come to be, in words that name the field of the configuration to
 * look at.
 *
 * P1  Of an address only its origin is told: a path or a query may hold a token, as a user name does.
 * P2  What a server printed to its standard output is counted, not shown: it may be an answer with data. What
 *     it wrote to standard error is meant for the person who started it.
 */
import { existsSync } from 'node:fs';
import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import type { HttpServer, ServerConfig, StdioServer } from './config.ts';

/** What was seen of the server meanwhile. */
export interface ConnectAttempt {
  readonly timeoutMs: number;
  /** The end of what it wrote to standard error. */
  readonly stderr: string;
  /** Lines of its standard output that are no MCP messages. */
  readonly strayLines: number;
}

export function connectProblem(server: ServerConfig, error: unknown, attempt: ConnectAttempt): string {
  const problem = handshakeProblem(error, attempt) ?? transportProblem(server, error);
  const notes = [problem];
  if (attempt.strayLines > 0) {
    notes.push(`lines on its standard output that are no MCP messages: ${attempt.strayLines}`);
  }
  if (attempt.stderr !== '') notes.push(`it wrote: ${attempt.stderr}`);
  return notes.join('; ');
}

function handshakeProblem(error: unknown, { timeoutMs }: ConnectAttempt): string | undefined {
  if (error instanceof ProtocolError) {
    return error.code === ProtocolErrorCode.MethodNotFound
      ? 'it does not speak MCP: it does not know the initialize handshake'
      : `it refused the initialize handshake: ${error.message}`;
  }
  if (!(error instanceof SdkError)) return undefined;
  if (error.code === SdkErrorCode.RequestTimeout) {
    return `it did not answer the initialize handshake within ${timeoutMs / 1000} s`;
  }
  return error.code === SdkErrorCode.ConnectionClosed
    ? 'it ended before it answered the initialize handshake'
    : undefined;
}

function transportProblem(server: ServerConfig, error: unknown): string {
  return server.transport === 'stdio' ? startProblem(server, error) : reachProblem(server, error);
}

function startProblem({ name, command, cwd }: StdioServer, error: unknown): string {
  const code = codeOf(error);
  // The system says the same of a program and of the folder to start it in.
  if (cwd !== undefined && ['ENOENT', 'ENOTDIR'].includes(code) && !existsSync(cwd)) {
    return `there is no such folder: mcpServers.${name}.cwd`;
  }
  if (code === 'ENOENT') return `there is no such program: mcpServers.${name}.command "${command}"`;
  if (code === 'EACCES') {
    return `this user may not start the program: mcpServers.${name}.command "${command}"`;
  }
  return reasonOf(error);
}

function reachProblem({ name, url }: HttpServer, error: unknown): string {
  const { origin, href } = new URL(url);
  const at = `mcpServers.${name}.url (${origin})`;
  const answer = [error, error instanceof Error ? error.cause : undefined].find(
    (one) => one instanceof SdkHttpError,
  );
  if (answer instanceof SdkHttpError) {
    const fix = [401, 403].includes(answer.status) ? `; see mcpServers.${name}.headers` : '';
    return `${at} answered with HTTP status ${answer.status}${fix}`;
  }
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return `${at} could not be reached: nobody listens there (${code})`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${at} could not be reached: there is no such host (${code})`;
    default:
      return `${at} could not be reached: ${reasonOf(error).replaceAll(url, origin).replaceAll(href, origin)}`;
  }
}

/** The code of the innermost error that has one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return codeOf(error.cause) || own;
}

/** What went wrong; the cause says more where a client only says "fetch failed". */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? reasonOf(error.cause) : '';
  if (cause === '' || error.message.endsWith(cause)) return error.message;
  return error.message.endsWith('fetch failed') ? `${error.message}: ${cause}` : error.message;
}
