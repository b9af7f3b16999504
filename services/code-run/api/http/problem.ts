/** Errors as problem details (RFC 9457): the same codes and texts as on gRPC, with the wrong fields. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { AppError, type AppErrorCode } from '../../../shared/errors.ts';
import { publicError } from '../../../shared/grpc/status.ts';
import { httpLimits } from '../../../shared/limits.ts';
import { bodyType } from './body.ts';

const httpStatuses = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  FAILED_PRECONDITION: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const satisfies Record<AppErrorCode, number>;

export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The gRPC code of the same error. */
  readonly code: string;
  /** The fields that are wrong, and what they should be. */
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
}

export function problemOf(error: AppError): Problem {
  const errors = error.violations.map(({ field, description }) => ({ field, detail: description }));
  const shown = problem(httpStatuses[error.code], error.code, error.message);
  return errors.length === 0 ? shown : { ...shown, errors };
}

/** A problem of HTTP itself: a path that is not there, a body that cannot be read. */
export function httpProblem(status: number, detail: string): Problem {
  return problem(status, codeOfStatus(status), detail);
}

/** A problem, whatever was thrown: by us, or by fastify while it read the request. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof AppError) return problemOf(error);
  const { code = '', statusCode = 500 } = fastifyError(error);
  if (statusCode >= 500) return problemOf(publicError(error));
  return httpProblem(statusCode, details[code] ?? unreadable);
}

export function sendProblem(reply: FastifyReply, shown: Problem): FastifyReply {
  // Bytes: to a text a charset would be added, and the media type of problems has none.
  return reply
    .code(shown.status)
    .header('cache-control', 'no-store')
    .type(problemType)
    .send(Buffer.from(JSON.stringify(shown)));
}

export const problemType = 'application/problem+json';

export const unreadable = 'the request cannot be read';

const details: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'the path is not UTF-8 in percent-encoding',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: `the body must be ${bodyType}`,
  BODY_ENCODED: 'the body must not be compressed',
  BODY_CHARSET: 'the body must be UTF-8',
  FST_ERR_CTP_BODY_TOO_LARGE: `the body must be at most ${httpLimits.bodyBytesMax} bytes`,
};

/** What fastify says of its own errors. */
function fastifyError(error: unknown): { readonly code?: string; readonly statusCode?: number } {
  if (!(error instanceof Error) || !('statusCode' in error)) return {};
  const statusCode = typeof error.statusCode === 'number' ? { statusCode: error.statusCode } : {};
  return 'code' in error && typeof error.code === 'string' ? { ...statusCode, code: error.code } : statusCode;
}

function problem(status: number, code: string, detail: string): Problem {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail, code };
}

function codeOfStatus(status: number): string {
  if (status === 412) return 'FAILED_PRECONDITION';
  const found = Object.entries(httpStatuses).find(([, candidate]) => candidate === status);
  return found?.[0] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}
